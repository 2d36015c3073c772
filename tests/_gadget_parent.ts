// A process that has started a gadget's, and is killed: what it started goes too.

import { watchedByShell } from "../lib/host/bound_child.ts";
import { startChild } from "../lib/host/child_start.ts";
import { gadgetProcesses } from "../lib/host/start_gadget_process.ts";

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
if (Deno.args[1] === "stay") setInterval(() => {}, 1000);
else await new Promise((resolve) => setTimeout(resolve, 50)); // and then there is nothing to wait for
