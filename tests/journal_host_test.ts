// What the journal of a project has around it: its folder, and the processes that share it.

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openJournal } from "../mod.ts";
import { journalAt, withDatabaseFile } from "./_journal_file.ts";
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
  assert.throws(() => openJournal(root), { name: "JournalError", message });
}

Deno.test("a run is that of its process, and not of one with its number that began at another time", () =>
  withDatabaseFile((path) => {
    if (OS !== "linux") {
      return console.log(`not run here: only Linux says when a process was started, this is ${OS}`);
    }
    using journal = journalAt(path);
    const { id } = journal.create({ kind: "calls", input: null });
    using other = journalAt(path);
    using database = new DatabaseSync(path);
    const owner = database.prepare("SELECT owner_host, owner_pid, owner_started FROM runs").get();
    assert.deepEqual([owner?.owner_host, owner?.owner_pid], [Deno.hostname(), Deno.pid]);
    assert.match(String(owner?.owner_started), /^[0-9a-f-]{36}\/\d+$/);
    const owned = (): boolean => other.read(id).summary.owned;
    assert.equal(owned(), true);
    database.exec("UPDATE runs SET owner_started = 'before'");
    assert.equal(owned(), false);
    database.exec(`UPDATE runs SET owner_started = '${owner?.owner_started}'`);
    assert.equal(owned(), true);
  }));

Deno.test("a process that may not look at others keeps runs as one of no host, and asks for nothing", () =>
  withFolder(async (root) => {
    const file = join(root, "keep.ts");
    const code = `import { openJournal } from ${JSON.stringify(join(PROJECT_ROOT, "mod.ts"))};
      using journal = openJournal(${JSON.stringify(root)});
      const { id } = journal.create({ kind: "calls", input: null });
      console.log(journal.read(id).summary.owned);
      const { DatabaseSync } = await import("node:sqlite");
      using database = new DatabaseSync(${JSON.stringify(join(root, ".orrery", "orrery.db"))});
      console.log(JSON.stringify(database.prepare("SELECT owner_host, owner_started FROM runs WHERE owner_pid NOT NULL").get()));`;
    await Deno.writeTextFile(file, code);
    const command = [
      Deno.execPath(),
      "run",
      "--quiet",
      "--no-check",
      "--config",
      join(PROJECT_ROOT, "deno.json"),
    ];
    const { code: exit, stdout, stderr } = await runProgram([
      ...command,
      "--allow-read",
      "--allow-write",
      file,
    ]);
    assert.deepEqual([exit, stderr, stdout.split("\n")], [0, "", [
      "true",
      '{"owner_host":"localhost","owner_started":null}',
      "",
    ]]);
  }));

Deno.test("the folder is made once, for its user alone, and git does not see it", () =>
  withFolder(async (root) => {
    const folder = join(root, ".orrery");
    openJournal(root)[Symbol.dispose]();
    assert.equal(await Deno.readTextFile(join(folder, ".gitignore")), "*\n");
    if (OS !== "windows") assert.equal(((await Deno.stat(folder)).mode ?? 0) & 0o777, 0o700);
    const names = (): readonly string[] => Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
    assert.deepEqual(names(), [".gitignore", "orrery.db"]);
    await Deno.remove(join(folder, ".gitignore"));
    openJournal(root)[Symbol.dispose]();
    assert.deepEqual(names(), ["orrery.db"], "what is there is left as it is");
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
