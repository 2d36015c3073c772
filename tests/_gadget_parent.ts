// A process that has started a gadget's, and is killed: what it started goes too.
import { startChild, watchedByShell } from "../lib/host/commands/child.ts";
import { gadgetProcesses } from "../lib/host/commands/gadget_process.ts";

if (Deno.args[0] === "watched") {
  const child = startChild("sleep", {
    args: ["60"],
    stdin: "piped",
    through: watchedByShell(),
    isGrouped: true,
  });
  console.log(child.pid);
} else {
  const start = gadgetProcesses({ module: new URL("./_gadget_script.ts", import.meta.url).href });
  const modules = { "behaviour.txt": Deno.args[0] ?? "" };
  const process = await start({ modules, memoryBytes: 2 ** 26, signal: new AbortController().signal });
  process.hold(false);
  console.log(`${process.pid} ${process.folderUrl}`);
}
const fail = (): never => {
  throw new Error("nobody catches this");
};
const END: Readonly<Record<string, () => unknown>> = {
  stay: () => setInterval(() => {}, 1000),
  throws: fail,
  "throws later": () => setTimeout(fail, 20),
  rejects: () => void Promise.reject(new Error("nobody catches this")),
  "goes on": () => {
    globalThis.addEventListener("error", (event) => event.preventDefault());
    setTimeout(fail, 20);
    setTimeout(() => console.log("on"), 300);
    setInterval(() => {}, 1000);
  },
};
const end = END[Deno.args[1] ?? ""];
if (end !== undefined) await end();
else await new Promise((resolve) => setTimeout(resolve, 50)); // and then there is nothing to wait for
