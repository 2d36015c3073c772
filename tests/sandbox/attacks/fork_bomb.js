// Processes, as many as there can be.
import { ways } from "./_ways.js";

const COMMANDS = [["sh", "-c", "sleep 30"], ["/bin/sh", "-c", "sleep 30"], ["sleep", "30"], [
  "deno",
  "eval",
  "1",
]];

async function childProcess() {
  const { default: module } = await import(["node", "child_process"].join(":"));
  return module;
}

export default {
  name: "Attack",
  description: "Test.",
  run: () =>
    ways(Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => n).flatMap((n) => {
        const [program, ...args] = COMMANDS[n % COMMANDS.length];
        const options = { args, stdin: "null", stdout: "null", stderr: "null" };
        return [
          [`spawn ${n}`, () => new Deno.Command(program, options).spawn().pid],
          [`output ${n}`, () => new Deno.Command(program, options).output()],
          [`outputSync ${n}`, () => new Deno.Command(program, { args }).outputSync().code],
          [`run ${n}`, () => Deno.run?.({ cmd: [program, ...args] }).pid],
          [`spawn function ${n}`, () => Deno.spawn?.(program, args)],
          [`node ${n}`, async () => (await childProcess()).spawn(program, args).pid],
          [`exec ${n}`, async () => (await childProcess()).execFileSync(program, args)],
          [`fork ${n}`, async () => (await childProcess()).fork("x.js")],
          [`own ${n}`, () => new Deno.Command(Deno.execPath(), { args: ["gadget-process"] }).spawn()],
        ];
      }),
    )),
};
