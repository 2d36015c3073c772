// What somebody exchanges between the judgement of a path and its opening, and just behind the opening.

import assert from "node:assert/strict";
import { join } from "node:path";
import { FileError, PermissionRefused } from "../mod.ts";
import { type JudgedFiles, judgedFiles, OPERATIONS, SECRET } from "./_judged_files.ts";
import { posixTest } from "./_posix_test.ts";

/** Folders can be held there only. */
function linuxTest(name: string, work: () => Promise<void>): void {
  if (Deno.build.os !== "linux") console.log(`not run here: ${name}; only Linux lets a folder be held`);
  Deno.test({ name, ignore: Deno.build.os !== "linux", fn: work });
}

/** What this process has open below a folder; other tests may have something open elsewhere. */
function openBelow(folder: string): readonly string[] {
  return [...Deno.readDirSync("/proc/self/fd")].flatMap(({ name }) => {
    try {
      const path = Deno.readLinkSync(`/proc/self/fd/${name}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      return []; // the one that this folder was read with
    }
  });
}

/** What is exchanged, and the path in question. */
const SWAPS: readonly { readonly name: string; readonly path: string; swap(judged: JudgedFiles): void }[] = [
  {
    name: "a file for a link",
    path: "data/file.txt",
    swap({ root, outside }) {
      Deno.renameSync(join(root, "data/file.txt"), join(root, "data/aside.txt"));
      Deno.symlinkSync(join(outside, "file.txt"), join(root, "data/file.txt"));
    },
  },
  {
    name: "a folder on the way for a link",
    path: "data/folder/file.txt",
    swap({ root, outside }) {
      Deno.renameSync(join(root, "data/folder"), join(root, "data/aside"));
      Deno.symlinkSync(join(outside, "folder"), join(root, "data/folder"));
    },
  },
  {
    name: "the folder that was granted for a link",
    path: "data/folder/file.txt",
    swap({ root, outside }) {
      Deno.renameSync(join(root, "data"), join(root, "aside"));
      Deno.symlinkSync(outside, join(root, "data"));
    },
  },
];

/** Does `swap` once, at the first call. */
function once(swap: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    swap();
  };
}

async function outcomeOf(work: Promise<string>): Promise<string> {
  try {
    return await work;
  } catch (error) {
    assert.ok(error instanceof FileError || error instanceof PermissionRefused, `${error}`);
    return "";
  }
}

/** A link itself may have been moved there; what it leads to is nobody's who may not read it. */
function holdsSecret(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile && Deno.readTextFileSync(path).includes(SECRET);
  } catch {
    return false;
  }
}

function assertHarmless(given: string, { root, outside, outsideNow }: JudgedFiles, before: unknown): void {
  assert.ok(!given.includes(SECRET) && !given.startsWith(outside), given);
  assert.ok(!given.includes(`"size":${SECRET.length}`), given);
  assert.deepEqual(outsideNow(), before);
  for (const folder of ["data", "aside"]) assert.ok(!holdsSecret(join(root, folder, "taken.txt")));
}

for (const { name: what, path, swap } of SWAPS) {
  for (const [name, work] of Object.entries(OPERATIONS)) {
    posixTest(`${name}: ${what} behind the judgement`, async () => {
      await using judged = judgedFiles();
      Deno.writeTextFileSync(join(judged.root, "data/own.txt"), "own");
      const before = judged.outsideNow();
      judged.afterJudgement = once(() => swap(judged));
      assertHarmless(await outcomeOf(work(judged, path)), judged, before);
    });
  }
}

/** Calls `then` behind each call of a function of Deno's as long as the work goes on. */
async function behind<T>(
  name: "readLinkSync" | "lstatSync",
  then: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const { readLinkSync, lstatSync } = Deno;
  Object.assign(Deno, {
    [name](path: string) {
      const value = name === "readLinkSync" ? readLinkSync(path) : lstatSync(path);
      then();
      return value;
    },
  });
  try {
    return await work();
  } finally {
    Object.assign(Deno, { readLinkSync, lstatSync });
  }
}

for (const { name: what, path, swap } of SWAPS) {
  for (const [name, work] of Object.entries(OPERATIONS)) {
    for (const moment of ["readLinkSync", "lstatSync"] as const) {
      linuxTest(`${name}: ${what} behind the first ${moment}`, async () => {
        await using judged = judgedFiles();
        Deno.writeTextFileSync(join(judged.root, "data/own.txt"), "own");
        await judged.files.stat("data/own.txt"); // tries once whether folders can be held
        const before = judged.outsideNow();
        const doSwap = once(() => swap(judged));
        const given = await behind(moment, doSwap, () => outcomeOf(work(judged, path)));
        assertHarmless(given, judged, before);
      });
    }
  }
}

linuxTest("what was opened is what is used, wherever its path leads by then", async () => {
  await using judged = judgedFiles();
  const { root, files, changes } = judged;
  await files.stat("data/file.txt");
  const swap = () => {
    Deno.renameSync(join(root, "data/folder"), join(root, "data/aside"));
    Deno.symlinkSync(join(judged.outside, "folder"), join(root, "data/folder"));
  };
  const text = await behind("readLinkSync", once(swap), () => files.readText("data/folder/file.txt"));
  assert.equal(text, "fine");
  await assert.rejects(files.readText("data/folder/file.txt"), PermissionRefused);
  Deno.removeSync(join(root, "data/folder"));
  Deno.renameSync(join(root, "data/aside"), join(root, "data/folder"));
  await behind(
    "readLinkSync",
    once(swap),
    () => changes.append("data/folder/file.txt", new Uint8Array([33])),
  );
  assert.equal(Deno.readTextFileSync(join(root, "data/aside/file.txt")), "fine!");
});

/** What would never come back, were it opened as a file. */
async function makePipe(path: string): Promise<void> {
  const { success } = await new Deno.Command("mkfifo", { args: [path] }).output();
  assert.ok(success);
}

for (const moment of ["judgement", "look"] as const) {
  for (const [name, work] of Object.entries(OPERATIONS)) {
    posixTest(`${name}: a pipe in place of a file behind the ${moment} holds nobody up`, async () => {
      await using judged = judgedFiles();
      const { root } = judged;
      Deno.writeTextFileSync(join(root, "data/own.txt"), "own");
      await makePipe(join(root, "data/pipe"));
      await judged.files.stat("data/own.txt");
      const swap = once(() => Deno.renameSync(join(root, "data/pipe"), join(root, "data/file.txt")));
      if (moment === "judgement") judged.afterJudgement = swap;
      const run = () => outcomeOf(work(judged, "data/file.txt"));
      await (moment === "judgement" ? run() : behind("lstatSync", swap, run));
    });
  }
}

posixTest("a file with a name outside too is written here only", async () => {
  await using judged = judgedFiles();
  const { root, outside, changes, files } = judged;
  Deno.removeSync(join(root, "data/file.txt"));
  Deno.linkSync(join(outside, "file.txt"), join(root, "data/file.txt"));
  await changes.append("data/file.txt", new TextEncoder().encode(" and more"));
  assert.equal(Deno.readTextFileSync(join(root, "data/file.txt")), `${SECRET} and more`);
  for (
    const write of [
      () => files.writeText("data/file.txt", "x"),
      () => changes.writeBytes("data/file.txt", new Uint8Array(1)),
    ]
  ) {
    Deno.removeSync(join(root, "data/file.txt"));
    Deno.linkSync(join(outside, "file.txt"), join(root, "data/file.txt"));
    await write();
  }
  assert.equal(Deno.readTextFileSync(join(outside, "file.txt")), SECRET);
});

linuxTest("ways round the path are judged by where they lead", async () => {
  await using judged = judgedFiles();
  const { root, outside, files, changes } = judged;
  const before = judged.outsideNow();
  using folder = Deno.openSync(outside);
  using _file = Deno.openSync(join(outside, "file.txt"));
  assert.ok(folder.statSync().isDirectory);
  const open = [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => name);
  const paths = [
    `/proc/self/root${outside}/file.txt`,
    `/proc/self/cwd/..${outside}/file.txt`,
    `/proc/${Deno.pid}/root${outside}/file.txt`,
    `/proc/thread-self/root${outside}/file.txt`,
    "/proc/self/environ",
    "data/../../outside/file.txt",
    "data/folder/../../../outside/file.txt",
    ...open.flatMap((name) => [
      `/dev/fd/${name}`,
      `/dev/fd/${name}/file.txt`,
      `/proc/self/fd/${name}`,
      `/proc/self/fd/${name}/file.txt`,
      `/proc/self/task/${Deno.pid}/fd/${name}/file.txt`,
    ]),
  ];
  for (const path of paths) {
    await assert.rejects(files.readText(path), PermissionRefused, path);
    await assert.rejects(changes.readBytes(path, { maxBytes: 99 }), PermissionRefused, path);
    await assert.rejects(files.writeText(path, "x"), PermissionRefused, path);
  }
  // The `..` of a path is that of its text; that of the kernel would lead out of the folder that a link leads to.
  Deno.symlinkSync(join(outside, "folder"), join(root, "data/link"));
  assert.equal(await files.readText("data/link/../file.txt"), "fine");
  assert.deepEqual(judged.outsideNow(), before);
});

linuxTest("nothing stays open, also when many are at work at once and half of it fails", async () => {
  await using judged = judgedFiles();
  const { files, changes, root } = judged;
  await files.readText("data/file.txt");
  await Promise.all(Array.from({ length: 300 }, async (_, index) => {
    await files.writeText(`data/many/${index % 7}/${index}.txt`, `${index}`);
    await assert.rejects(files.readText(`data/many/none/${index}`), FileError);
    await assert.rejects(files.writeText(`data/file.txt/${index}`, ""), FileError);
    await changes.append(`data/many/${index % 7}/${index}.txt`, new TextEncoder().encode("!"));
    await changes.rename(`data/many/${index % 7}/${index}.txt`, `data/${index}.txt`);
    assert.equal(await files.readText(`data/${index}.txt`), `${index}!`);
  }));
  assert.deepEqual(openBelow(root), []);
  assert.deepEqual([...Deno.readDirSync(join(root, "data"))].filter(({ name }) => name.startsWith(".")), []);
});

posixTest("with a part of Deno's permissions links are looked for before and behind", async () => {
  await using judged = judgedFiles();
  const { root, outside } = judged;
  Deno.symlinkSync(join(outside, "file.txt"), join(root, "data/link"));
  Deno.symlinkSync(join(outside, "folder"), join(root, "data/way"));
  const here = new URL("../", import.meta.url);
  const script = `
    import { exactFiles } from ${JSON.stringify(new URL("lib/host/files/exact_files.ts", here).href)};
    import { hostFileChanges } from ${JSON.stringify(new URL("lib/host/files/changes.ts", here).href)};
    const files = exactFiles({ root: ${JSON.stringify(root)} });
    const changes = hostFileChanges({ root: ${JSON.stringify(root)} });
    const said = (work) => work.then((value) => value ?? "done", (error) => error.message);
    console.log(JSON.stringify([
      await said(files.readText("data/file.txt")),
      await said(files.writeText("data/new/file.txt", "new")),
      await said(files.readText("data/link")),
      await said(files.readText("data/way/file.txt")),
      await said(files.writeText("data/way/file.txt", "x")),
      await said(changes.remove("data/way/file.txt", { isRecursive: false })),
    ]));`;
  Deno.writeTextFileSync(join(root, "script.ts"), script);
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-lock",
      "--no-check",
      "--no-prompt",
      `--allow-read=${root},${outside}`,
      `--allow-write=${root},${outside}`,
      join(root, "script.ts"),
    ],
  }).output();
  const link = (action: string, path: string): string =>
    `Cannot ${action} "${path}": a link is on this path, which was not there when the path was checked`;
  assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout) || new TextDecoder().decode(stderr)), [
    "fine",
    "done",
    link("read", "data/link"),
    link("read", "data/way/file.txt"),
    link("write", "data/way/file.txt"),
    link("remove", "data/way/file.txt"),
  ]);
  assert.equal(Deno.readTextFileSync(join(outside, "folder/file.txt")), SECRET);
});
