// Where the process of a gadget connects: a socket, or a port where there can be none.

import assert from "node:assert/strict";
import { join } from "node:path";
import { gadgetCommand } from "../lib/host/commands/gadget_process.ts";
import { connectFlags, listenForGadget } from "../lib/host/commands/gadget_listener.ts";
import { PROJECT_ROOT } from "./_run.ts";

const CONNECT = `
const at = JSON.parse(Deno.args[0]);
const connection = "path" in at
  ? await Deno.connect({ transport: "unix", path: at.path })
  : await Deno.connect({ hostname: "127.0.0.1", port: at.port });
await connection.write(new Uint8Array([7]));
`;

async function withFolder(name: string, work: (folder: string) => Promise<void>): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-" }));
  try {
    const folder = join(base, name);
    await Deno.mkdir(folder, { recursive: true });
    await work(folder);
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

const hasSockets = Deno.build.os !== "windows";
const folders = { "a b": hasSockets ? "path" : "port", ["long".repeat(30)]: "port" } as const;

for (const [name, kind] of Object.entries(folders)) {
  Deno.test(`a process connects with its flags, and not without one of them: ${name.slice(0, 8)}, ${kind}`, () =>
    withFolder(name, async (folder) => {
      using waiting = listenForGadget(folder);
      assert.ok(kind in waiting.at, JSON.stringify(waiting.at));
      const script = join(folder, "connect.js");
      await Deno.writeTextFile(script, CONNECT);
      const start = (flags: readonly string[]) =>
        new Deno.Command(Deno.execPath(), {
          args: [
            "run",
            "--no-prompt",
            "--no-config",
            "--no-lock",
            ...flags,
            script,
            JSON.stringify(waiting.at),
          ],
          stdin: "null",
          stderr: "piped",
        }).output();
      const allowed = [`--allow-read=${folder}`, ...connectFlags(waiting.at)];
      const accepted = waiting.listener.accept();
      accepted.catch(() => {});
      const { code, stderr } = await start(allowed);
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      const connection = await accepted;
      const byte = new Uint8Array(2);
      assert.equal(await connection.read(byte), 1);
      connection.close();
      for (const flag of connectFlags(waiting.at)) {
        const { code, stderr } = await start(allowed.filter((other) => other !== flag));
        assert.equal(code, 1, `it connects without ${flag}`);
        assert.match(new TextDecoder().decode(stderr), /NotCapable/);
      }
      waiting[Symbol.dispose]();
      assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["connect.js"]);
      waiting[Symbol.dispose]();
    }));
}

Deno.test("a folder that Deno's flags cannot name is told, with what to do", () => {
  const at = { port: 1 };
  assert.throws(
    () => gadgetCommand({ at, folder: "/tmp/a,b", memoryBytes: 1 }),
    /a comma in its name.*\/tmp\/a,b; set TMPDIR/,
  );
});

/** The settings of a compiler that change what it makes. */
const EMITTED = /^(jsx|experimentalDecorators|emitDecoratorMetadata)/;

Deno.test("a gadget's process compiles the modules that it shares with Orrery as Orrery does, into the same file", async () => {
  const { args } = gadgetCommand({ at: { port: 1 }, folder: "/tmp/a", memoryBytes: 1 });
  const config = args.find((arg) => arg.startsWith("--config="))?.slice("--config=".length) ?? "";
  const [own, gadgets] = await Promise.all(
    [join(PROJECT_ROOT, "deno.json"), config].map(async (file) => JSON.parse(await Deno.readTextFile(file))),
  );
  const emitted = Object.entries(own.compilerOptions).filter(([name]) => EMITTED.test(name));
  assert.deepEqual(gadgets, { compilerOptions: Object.fromEntries(emitted) });
});
