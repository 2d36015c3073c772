import assert from "node:assert/strict";
import { join } from "node:path";
import { FileError, type FileErrorCode, PermissionRefused } from "../mod.ts";
import type { FileChanges } from "../lib/core/file_changes.ts";
import { memoryDisk } from "./_memory_disk.ts";
import { hostFileChanges } from "../lib/host/files/changes.ts";
import { hostFiles } from "../lib/host/files/files.ts";
import { realPath } from "../lib/host/paths.ts";
import { guardFileChanges } from "../lib/policy/guard_files.ts";
import { createPolicy } from "../lib/policy/policy.ts";
import { parsePolicyFlags } from "../lib/policy/policy_flags.ts";

const isWindows = Deno.build.os === "windows";

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-changes-" }));
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const CONTENT = { "a.txt": "one", "b/c.txt": "c", "b/d/e.txt": "e" };

function fill(folder: string): void {
  for (const [path, text] of Object.entries(CONTENT)) {
    Deno.mkdirSync(join(folder, path, ".."), { recursive: true });
    Deno.writeTextFileSync(join(folder, path), text);
  }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = async (changes: FileChanges, path: string): Promise<string> =>
  new TextDecoder().decode(await changes.readBytes(path, { maxBytes: 1000 }));

async function fails(work: Promise<unknown>, code: FileErrorCode, message?: RegExp): Promise<void> {
  const error = await work.then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof FileError, `expected a FileError, found ${error}`);
  assert.equal(error.code, code, error.message);
  if (message !== undefined) assert.match(error.message, message);
}

async function refused(work: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await work.then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof PermissionRefused, `expected a refusal, found ${error}`);
  assert.match(error.message, message);
}

/** What every implementation does. */
const CONTRACT: Readonly<Record<string, (changes: FileChanges, root: string) => Promise<void>>> = {
  "writes bytes whole, over what is there and new": async (changes, root) => {
    await changes.writeBytes("a.txt", new Uint8Array([0, 255, 10]));
    assert.deepEqual([...await changes.readBytes(join(root, "a.txt"), { maxBytes: 3 })], [0, 255, 10]);
    await changes.writeBytes("b/new.txt", bytes("new"));
    assert.equal(await read(changes, "b/new.txt"), "new");
    assert.deepEqual((await changes.list("b")).map(({ name }) => name), ["c.txt", "d", "new.txt"]);
    await fails(
      changes.writeBytes("no/x.txt", bytes("")),
      "not-found",
      /"no\/x.txt": the folder that it would be in does not exist/,
    );
    await fails(changes.writeBytes("b", bytes("")), "is-folder");
    await fails(changes.writeBytes("a.txt/x", bytes("")), "not-folder");
  },
  "appends, and makes the file": async (changes) => {
    await changes.append("a.txt", bytes(" two"));
    await changes.append("new.txt", bytes("1"));
    await changes.append("new.txt", bytes("2"));
    assert.equal(await read(changes, "a.txt") + await read(changes, "new.txt"), "one two12");
    await fails(changes.append("b", bytes("")), "is-folder");
  },
  "creates what is new only": async (changes) => {
    await changes.create("new.txt", bytes("1"));
    await fails(
      changes.create("new.txt", bytes("2")),
      "exists",
      /Cannot create "new.txt": there is something of this name already/,
    );
    await fails(changes.create("b", bytes("2")), "exists");
    assert.equal(await read(changes, "new.txt"), "1");
  },
  "looks and lists": async (changes) => {
    const { kind, size } = await changes.look("a.txt");
    assert.deepEqual([kind, size], ["file", 3]);
    assert.equal((await changes.look("b")).kind, "folder");
    assert.deepEqual(await changes.list("b"), [{ name: "c.txt", kind: "file" }, {
      name: "d",
      kind: "folder",
    }]);
    await fails(changes.look("none"), "not-found");
    await fails(changes.list("a.txt"), "not-folder");
    await fails(changes.list("none"), "not-found");
  },
  "reads no more than it may": async (changes) => {
    await fails(
      changes.readBytes("a.txt", { maxBytes: 2 }),
      "too-large",
      /it has 3 bytes, at most 2 can be read at once/,
    );
    assert.equal(await read(changes, "a.txt"), "one");
    await fails(changes.readBytes("b", { maxBytes: 2 }), "is-folder");
    const reason = new Error("stop");
    await assert.rejects(
      changes.readBytes("a.txt", { maxBytes: 9, signal: AbortSignal.abort(reason) }),
      reason,
    );
  },
  "makes folders": async (changes) => {
    await changes.makeFolder("x/y/z", { isRecursive: true });
    await changes.makeFolder("x/y/z", { isRecursive: true });
    await changes.makeFolder("x/q", { isRecursive: false });
    assert.deepEqual((await changes.list("x")).map(({ name }) => name), ["q", "y"]);
    await fails(changes.makeFolder("x", { isRecursive: false }), "exists");
    await fails(changes.makeFolder("a.txt", { isRecursive: true }), "exists");
    await fails(changes.makeFolder("no/where", { isRecursive: false }), "not-found");
  },
  "removes": async (changes) => {
    await fails(changes.remove("b", { isRecursive: false }), "not-empty");
    await changes.remove("b/c.txt", { isRecursive: false });
    await changes.remove("b", { isRecursive: true });
    await fails(changes.look("b"), "not-found");
    await fails(
      changes.remove("b", { isRecursive: true }),
      "not-found",
      /Cannot remove "b": no such file or folder/,
    );
  },
  "renames": async (changes) => {
    await changes.rename("a.txt", "b/c.txt");
    assert.equal(await read(changes, "b/c.txt"), "one");
    await changes.rename("b", "q");
    assert.equal(await read(changes, "q/d/e.txt"), "e");
    await fails(changes.rename("none", "x"), "not-found", /Cannot rename "none"/);
    await fails(changes.rename("q", "no/where"), "not-found", /"no\/where"/);
  },
  "copies": async (changes) => {
    await changes.copy("a.txt", "b/c.txt");
    await changes.copy("a.txt", "new.txt");
    assert.equal(await read(changes, "b/c.txt") + await read(changes, "new.txt"), "oneone");
    await fails(changes.copy("b", "x"), "is-folder");
    await fails(changes.copy("none", "x"), "not-found", /"none"/);
    await fails(changes.copy("a.txt", "no/x"), "not-found", /"no\/x"/);
  },
  "refuses a NUL character": async (changes) => {
    await fails(changes.writeBytes("a\0b", bytes("")), "other", /NUL/);
    await fails(changes.remove("a\0b", { isRecursive: true }), "other", /NUL/);
  },
};

function guarded(root: string, flags: readonly string[] = ["allow-write=."]): FileChanges {
  const settings = parsePolicyFlags(flags.map((flag) => {
    const [name = "", value = ""] = flag.split("=");
    return { name, value };
  }));
  const policy = createPolicy(settings, { root, cwd: root, realPath });
  return guardFileChanges(hostFileChanges({ root }), { policy, root, files: hostFiles({ root }) });
}

for (const [name, test] of Object.entries(CONTRACT)) {
  Deno.test(`memoryDisk ${name}`, () => test(memoryDisk(CONTENT).changes, "/project"));
  for (
    const [kind, make] of [["hostFileChanges", (root: string) => hostFileChanges({ root })], [
      "guarded changes",
      guarded,
    ]] as const
  ) {
    Deno.test(`${kind}: ${name}`, () =>
      withFolder(async (root) => {
        fill(root);
        await test(make(root), root);
        assert.deepEqual([...leftovers(root)], []);
      }));
  }
}

function* leftovers(folder: string): Generator<string> {
  for (const entry of Deno.readDirSync(folder)) {
    if (entry.isDirectory) yield* leftovers(join(folder, entry.name));
    else if (entry.name.endsWith(".tmp")) yield entry.name;
  }
}

Deno.test("memory files and their changes are the same files", async () => {
  const { files, changes } = memoryDisk(CONTENT);
  await changes.writeBytes("b/n.txt", bytes("n"));
  await changes.makeFolder("empty", { isRecursive: false });
  assert.equal(await files.readText("b/n.txt"), "n");
  assert.deepEqual((await files.list(".")).map(({ name, kind }) => `${kind} ${name}`), [
    "file a.txt",
    "folder b",
    "folder empty",
  ]);
  assert.deepEqual(await files.list("empty"), []);
});

Deno.test({
  name: "a mode is kept by writing, and goes with a copy",
  ignore: isWindows,
  fn: () =>
    withFolder(async (root) => {
      fill(root);
      const changes = hostFileChanges({ root });
      Deno.chmodSync(join(root, "a.txt"), 0o750);
      await changes.writeBytes("a.txt", bytes("x"));
      await changes.copy("a.txt", "copy.txt");
      assert.deepEqual(
        ["a.txt", "copy.txt"].map((path) => (Deno.statSync(join(root, path)).mode ?? 0) & 0o777),
        [0o750, 0o750],
      );
      Deno.chmodSync(join(root, "a.txt"), 0o440);
      await fails(changes.writeBytes("a.txt", bytes("y")), "denied", /read-only/);
      await fails(changes.append("a.txt", bytes("y")), "denied", /read-only/);
    }),
});

Deno.test({
  name: "what is not judged by its real path is not touched: a link that came after the check",
  ignore: isWindows,
  fn: () =>
    withFolder(async (folder) => {
      const root = join(folder, "project");
      fill(root);
      Deno.writeTextFileSync(join(folder, "secret.txt"), "hush");
      Deno.mkdirSync(join(folder, "outside"));
      Deno.symlinkSync("../secret.txt", join(root, "file-link"));
      Deno.symlinkSync("../outside", join(root, "folder-link"));
      const changes = hostFileChanges({ root }); // as it is called with a path that was judged when no link was there
      const link = /a link is on this path, which was not there when the path was checked/;
      await fails(changes.readBytes("file-link", { maxBytes: 9 }), "other", link);
      await fails(changes.writeBytes("file-link", bytes("x")), "other", link);
      await fails(changes.append("file-link", bytes("x")), "other", link);
      await fails(changes.copy("file-link", "x"), "other", link);
      await fails(changes.copy("a.txt", "file-link"), "other", link);
      await fails(changes.look("file-link"), "other", link);
      for (
        const work of [
          () => changes.create("folder-link/x", bytes("x")),
          () => changes.writeBytes("folder-link/x", bytes("x")),
          () => changes.makeFolder("folder-link/x/y", { isRecursive: true }),
          () => changes.list("folder-link"),
          () => changes.rename("a.txt", "folder-link/x"),
          () => changes.remove("folder-link/x", { isRecursive: true }),
        ]
      ) await fails(work(), "other", link);
      assert.equal(Deno.readTextFileSync(join(folder, "secret.txt")), "hush");
      assert.deepEqual([...Deno.readDirSync(join(folder, "outside"))], []);
      await changes.remove("folder-link", { isRecursive: true });
      assert.ok(
        Deno.statSync(join(folder, "outside")).isDirectory,
        "the link is removed, not what it leads to",
      );
    }),
});

Deno.test({
  name: "the guard follows links, judges the real path of both ends, and says where a path leads",
  ignore: isWindows,
  fn: () =>
    withFolder(async (folder) => {
      const root = join(folder, "project");
      fill(root);
      Deno.mkdirSync(join(folder, "outside"));
      Deno.writeTextFileSync(join(folder, "outside/secret.txt"), "hush");
      Deno.symlinkSync("../outside", join(root, "out"));
      Deno.symlinkSync("../../outside/secret.txt", join(root, "b/secret"));
      Deno.symlinkSync("../a.txt", join(root, "b/inside"));
      const changes = guarded(root);
      const leads = /outside\/.*is not allowed: add --allow-(read|write)=.*leads there\)$/;
      await refused(changes.readBytes("b/secret", { maxBytes: 9 }), leads);
      await refused(changes.writeBytes("out/x", bytes("x")), leads);
      await refused(changes.writeBytes("b/secret", bytes("x")), leads);
      await refused(changes.copy("b/secret", "x"), leads);
      await refused(changes.copy("a.txt", "b/secret"), leads);
      await refused(changes.rename("a.txt", "out/a.txt"), leads);
      await refused(changes.rename("out/secret.txt", "mine"), leads);
      await refused(changes.remove("out/secret.txt", { isRecursive: false }), leads);
      await refused(changes.makeFolder("out/x", { isRecursive: true }), leads);
      await refused(changes.list("out"), /is not allowed/);
      await refused(changes.readBytes("../outside/secret.txt", { maxBytes: 9 }), /is not allowed/);
      await refused(changes.look("/etc/passwd"), /is not allowed/);
      await changes.writeBytes("b/inside", bytes("through the link"));
      assert.equal(Deno.readTextFileSync(join(root, "a.txt")), "through the link");
      assert.ok(Deno.lstatSync(join(root, "b/inside")).isSymlink);
      assert.equal((await changes.look("b/secret", { isLink: true })).kind, "link");
      await changes.rename("b/secret", "moved");
      await changes.remove("moved", { isRecursive: true });
      await changes.remove("b", { isRecursive: true });
      assert.equal(Deno.readTextFileSync(join(folder, "outside/secret.txt")), "hush");
    }),
});

Deno.test("the project itself is neither removed nor renamed", () =>
  withFolder(async (folder) => {
    const root = join(folder, "project");
    fill(root);
    const changes = guarded(root, ["allow-write=.."]);
    for (const path of [".", root, "b/..", folder]) {
      await fails(changes.remove(path, { isRecursive: true }), "other", /the project is in it, or is it/);
    }
    await refused(changes.rename(folder, "b/x"), /is not allowed/);
    await fails(changes.rename(".", "../other"), "other", /the project is in it, or is it/);
  }));

Deno.test("a wall inside of a folder stays one when the folder is moved or removed", () =>
  withFolder(async (root) => {
    fill(root);
    const changes = guarded(root, ["allow-write=.", "deny-read=b/d/e.txt", "deny-write=b/c.txt"]);
    await refused(changes.rename("b", "q"), /forbids it/);
    await refused(changes.rename("b/d", "q"), /--deny-read=b\/d\/e\.txt forbids it/);
    await refused(changes.remove("b", { isRecursive: true }), /--deny-write=b\/c\.txt forbids it/);
    assert.equal(
      Deno.readTextFileSync(join(root, "b/d/e.txt")),
      "e",
      "nothing was removed before the wall was found",
    );
    Deno.mkdirSync(join(root, ".orrery"));
    Deno.writeTextFileSync(join(root, ".orrery/orrery.db"), "kept");
    await refused(changes.remove(".orrery", { isRecursive: true }), /journal of Orrery/);
    await refused(changes.rename(".orrery", "x"), /journal of Orrery/);
    Deno.mkdirSync(join(root, "fake"));
    Deno.writeTextFileSync(join(root, "fake/orrery.db"), "forged");
    Deno.renameSync(join(root, ".orrery"), join(root, "aside"));
    await refused(changes.rename("fake", ".orrery"), /journal of Orrery/);
  }));

Deno.test({
  name: "many effects at once do not race a link past the guard",
  ignore: isWindows,
  fn: () =>
    withFolder(async (folder) => {
      const root = join(folder, "project");
      Deno.mkdirSync(root);
      Deno.mkdirSync(join(folder, "outside"));
      const secret = join(folder, "outside/a");
      const changes = guarded(root);
      const attacks: readonly (() => Promise<unknown>)[] = [
        async () => {
          const found = await changes.readBytes("d/a", { maxBytes: 99 });
          assert.notEqual(new TextDecoder().decode(found), "hush");
        },
        () => changes.append("d/a", bytes("more")),
        () => changes.writeBytes("d/a", bytes("other")),
        () => changes.remove("d/a", { isRecursive: false }),
        () => changes.rename("d/a", "stolen"),
      ];
      // The folder becomes a link a little later in each round: between the check and the work of one of them.
      for (let round = 0; round < 60 * attacks.length; round++) {
        Deno.writeTextFileSync(secret, "hush");
        Deno.mkdirSync(join(root, "d"));
        Deno.writeTextFileSync(join(root, "d/a"), "mine");
        Deno.symlinkSync("../outside", join(root, "evil"));
        const swap = changes.rename("d", "aside").then(() => changes.rename("evil", "d"));
        for (let turns = 0; turns < round / attacks.length; turns++) await undefined;
        const outcomes = await Promise.allSettled([swap, attacks[round % attacks.length]?.()]);
        for (const outcome of outcomes) {
          const isWrong = outcome.status === "rejected" && outcome.reason instanceof assert.AssertionError;
          assert.ok(!isWrong, `round ${round}`);
        }
        assert.equal(Deno.readTextFileSync(secret), "hush", `round ${round}`);
        for (const path of ["d", "aside", "evil", "stolen"]) {
          await Deno.remove(join(root, path), { recursive: true }).catch(() => undefined);
        }
      }
    }),
});
