import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { JournalError } from "../lib/core/journal.ts";
import { journalPath } from "../lib/host/files/journal_files.ts";
import { isProcessAlive, thisProcess } from "../lib/host/process.ts";
import { PROJECT_ROOT, runProgram } from "./_run.ts";

const OS = Deno.build.os;

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-journal-" });
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function refused(root: string, message: string): void {
  assert.throws(() => journalPath(root), (error) => {
    assert.ok(error instanceof JournalError);
    assert.equal(error.message, message);
    return true;
  });
}

Deno.test("this process lives, and one with its number that began at another time does not", () => {
  const owner = thisProcess();
  assert.equal(owner.pid, Deno.pid);
  assert.equal(owner.host, Deno.hostname());
  if (OS !== "linux") {
    return console.log(`not run here: only Linux says when a process was started, this is ${OS}`);
  }
  assert.match(owner.startedAt ?? "", /^[0-9a-f-]{36}\/\d+$/);
  assert.deepEqual(thisProcess(), owner);
  assert.equal(isProcessAlive(owner), true);
  assert.equal(isProcessAlive({ ...owner, startedAt: "before" }), false);
  assert.equal(isProcessAlive({ pid: owner.pid }), undefined);
});

Deno.test("a process that has ended is dead, before its parent has asked for it too", async () => {
  if (OS === "windows") return console.log("not run here: on Windows no process is looked for");
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "await new Promise(() => setTimeout(() => {}, 1e6))"],
  }).spawn();
  const { pid } = child;
  assert.notEqual(isProcessAlive({ pid }), false);
  child.kill("SIGKILL");
  await child.status;
  assert.equal(isProcessAlive({ pid, startedAt: "x" }), false);
});

Deno.test("a process that may not look knows nothing of others, and asks for nothing", async () => {
  const script = fileURLToPath(new URL("../lib/host/process.ts", import.meta.url));
  const code = `import { isProcessAlive, thisProcess } from ${JSON.stringify(script)};
    console.log(JSON.stringify([thisProcess().host, thisProcess().startedAt ?? null, isProcessAlive({ pid: 4194301, startedAt: "x" }) ?? null]));`;
  await withFolder(async (folder) => {
    const file = join(folder, "look.ts");
    await Deno.writeTextFile(file, code);
    const run = (...flags: string[]) =>
      runProgram([
        Deno.execPath(),
        "run",
        "--quiet",
        "--config",
        join(PROJECT_ROOT, "deno.json"),
        ...flags,
        file,
      ]);
    const nothing = await run();
    assert.deepEqual([nothing.code, nothing.stderr, JSON.parse(nothing.stdout)], [0, "", [
      "localhost",
      null,
      null,
    ]]);
    // Deno shows /proc to a process with all permissions only; with these two a number can be looked for.
    const some = await run("--allow-read", "--allow-run", "--allow-sys=hostname");
    const gone = OS === "windows" ? null : false;
    assert.deepEqual([some.code, some.stderr, JSON.parse(some.stdout)], [0, "", [
      Deno.hostname(),
      null,
      gone,
    ]]);
  });
});

Deno.test("the folder is made once, for its user alone, and git does not see it", () =>
  withFolder(async (root) => {
    const folder = join(root, ".orrery");
    assert.equal(journalPath(root), join(folder, "orrery.db"));
    assert.equal(await Deno.readTextFile(join(folder, ".gitignore")), "*\n");
    if (OS !== "windows") assert.equal(((await Deno.stat(folder)).mode ?? 0) & 0o777, 0o700);
    assert.deepEqual(Array.from(Deno.readDirSync(folder), ({ name }) => name), [".gitignore"]);
    await Deno.remove(join(folder, ".gitignore"));
    assert.equal(journalPath(root), join(folder, "orrery.db"));
    assert.deepEqual([...Deno.readDirSync(folder)], [], "what is there is left as it is");
  }));

Deno.test("what is in the place of the folder or the database is refused", () =>
  withFolder(async (root) => {
    const folder = join(root, ".orrery");
    const path = join(folder, "orrery.db");
    const wayOut = "move it away. --ephemeral runs without keeping anything";
    await Deno.writeTextFile(folder, "");
    refused(root, `Cannot keep runs in "${folder}": it is a file, not a folder; ${wayOut}`);
    await Deno.remove(folder);
    if (OS !== "windows") {
      await Deno.mkdir(join(root, "elsewhere"));
      await Deno.symlink(join(root, "elsewhere"), folder);
      refused(root, `Cannot keep runs in "${folder}": it is a link, not a folder; ${wayOut}`);
      await Deno.remove(folder);
      await Deno.mkdir(folder);
      await Deno.symlink(join(root, "nowhere"), path);
      refused(root, `Cannot keep runs in "${path}": it is a link, not a file; ${wayOut}`);
      await Deno.remove(folder, { recursive: true });
    }
    await Deno.mkdir(path, { recursive: true });
    refused(root, `Cannot keep runs in "${path}": it is a folder, not a file; ${wayOut}`);
    const nowhere = join(root, "no", "such");
    refused(
      nowhere,
      `Cannot keep runs in "${
        join(nowhere, ".orrery")
      }": No such file or directory. --ephemeral runs without keeping anything`,
    );
  }));
