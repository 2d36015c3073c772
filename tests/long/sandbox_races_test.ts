// What changes between the look and the use: links, files and folders that somebody swaps all the time, or just between the judgement of
// a path and its opening, and just behind the opening.

import assert from "node:assert/strict";
import { join } from "node:path";
import { FileError, type Files, PermissionRefused, type Policy } from "../../mod.ts";
import type { FileChanges } from "../../lib/core/world.ts";
import { exactFiles, hostFileChanges } from "../../lib/host/files/changes.ts";
import { realPath } from "../../lib/host/paths.ts";
import { guardFileChanges, guardFiles } from "../../lib/policy/guard_files.ts";
import { createPolicy } from "../../lib/policy/policy.ts";
import { parsePolicyFlags } from "../../lib/policy/policy_settings.ts";
import { PROJECT_ROOT, testEnvironment } from "../_run.ts";
import { type AttackPlace, attackPlace, callOf, SECRET } from "../sandbox/_place.ts";
import { isThorough } from "../_thorough.ts";
import { posixTest } from "../_posix_test.ts";

/** A project that its policy lets read and write `data/`, and nothing else. */
interface JudgedFiles extends AsyncDisposable {
  /** Real and absolute. */
  readonly root: string;
  /** A folder beside the project, with `file.txt` and `folder/file.txt` in it, each with the secret, and a name that is one. */
  readonly outside: string;
  readonly files: Files;
  readonly changes: FileChanges;
  /** Is called when something was allowed, before anything is opened. */
  afterJudgement: () => void;
  /** What lies outside, and what it says. */
  outsideNow(): Readonly<Record<string, string>>;
}

/** Makes one with `data/file.txt` and `data/folder/file.txt`. */
function judgedFiles(): JudgedFiles {
  const home = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "orrery-judged-" }));
  const [root, outside] = [join(home, "project"), join(home, "outside")];
  for (const [folder, text] of [[join(root, "data"), "fine"], [outside, SECRET]] as const) {
    Deno.mkdirSync(join(folder, "folder"), { recursive: true });
    for (const path of ["file.txt", "folder/file.txt"]) Deno.writeTextFileSync(join(folder, path), text);
    if (folder === outside) Deno.writeTextFileSync(join(folder, "folder", `${SECRET}.txt`), text);
  }
  const settings = parsePolicyFlags([{ name: "allow-write", value: "data" }]);
  // What is its root to this policy may be read.
  const plain = createPolicy(settings, { root: join(root, "data"), cwd: root, realPath });
  const policy: Policy = {
    check: (request) => plain.check(request),
    async permit(request) {
      await plain.permit(request);
      judged.afterJudgement();
    },
    describe: () => plain.describe(),
  };
  const files = guardFiles(exactFiles({ root }), { policy, root });
  const judged: JudgedFiles = {
    root,
    outside,
    files,
    changes: guardFileChanges(hostFileChanges({ root }), { policy, root, files: exactFiles({ root }) }),
    afterJudgement: () => undefined,
    outsideNow: () => Object.fromEntries(contents(outside, "")),
    [Symbol.asyncDispose]: () => Deno.remove(home, { recursive: true }),
  };
  return judged;
}

function* contents(folder: string, base: string): Generator<[string, string]> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) {
      yield [`${base}${name}/`, "a folder"];
      yield* contents(join(folder, name), `${base}${name}/`);
    } else yield [base + name, Deno.readTextFileSync(join(folder, name))];
  }
}

/** What can be done to `data/file.txt`, `data/folder` and what is in it; each gives a text that must not hold a secret. */
const OPERATIONS: Readonly<Record<string, (judged: JudgedFiles, path: string) => Promise<string>>> = {
  "files.readText": ({ files }, path) => files.readText(path),
  "files.readBytes": async ({ files }, path) => latin1(await files.readBytes(path)),
  "files.stat": async ({ files }, path) => JSON.stringify(await files.stat(path)),
  "files.list": async ({ files }) => JSON.stringify(await files.list("data/folder")),
  "files.resolve": ({ files }, path) => files.resolve(path),
  "files.writeText": ({ files }, path) => files.writeText(path, "fine").then(nothing),
  "files.writeText in new folders": ({ files }) =>
    files.writeText("data/folder/new/x/y.txt", "fine").then(nothing),
  "changes.readBytes": async ({ changes }, path) => latin1(await changes.readBytes(path, { maxBytes: 999 })),
  "changes.look": async ({ changes }, path) => JSON.stringify(await changes.look(path)),
  "changes.look at a link": async ({ changes }, path) =>
    JSON.stringify(await changes.look(path, { isLink: true })),
  "changes.list": async ({ changes }) => JSON.stringify(await changes.list("data/folder")),
  "changes.writeBytes": ({ changes }, path) => changes.writeBytes(path, FINE).then(nothing),
  "changes.append": ({ changes }, path) => changes.append(path, FINE).then(nothing),
  "changes.create": ({ changes }) => changes.create("data/folder/made.txt", FINE).then(nothing),
  "changes.makeFolder": ({ changes }) =>
    changes.makeFolder("data/folder/made", { isRecursive: false }).then(nothing),
  "changes.makeFolder with those on the way": ({ changes }) =>
    changes.makeFolder("data/folder/made/x/y", { isRecursive: true }).then(nothing),
  "changes.remove": ({ changes }, path) => changes.remove(path, { isRecursive: false }).then(nothing),
  "changes.remove all": ({ changes }) => changes.remove("data/folder", { isRecursive: true }).then(nothing),
  "changes.rename from": ({ changes }, path) => changes.rename(path, "data/taken.txt").then(nothing),
  "changes.rename to": ({ changes }, path) => changes.rename("data/own.txt", path).then(nothing),
  "changes.copy from": async ({ changes, root }, path) => {
    await changes.copy(path, "data/taken.txt");
    return Deno.readTextFileSync(join(root, "data/taken.txt"));
  },
  "changes.copy to": ({ changes }, path) => changes.copy("data/own.txt", path).then(nothing),
};

const FINE = new TextEncoder().encode("fine");
const latin1 = (bytes: Uint8Array): string => new TextDecoder("latin1").decode(bytes);
const nothing = (): string => "";

const HERE = join(PROJECT_ROOT, "tests/sandbox");

/** Swaps what lies in a folder for links that lead to another one, and back, until it is disposed of. */
function swapper(folder: string, outside: string): AsyncDisposable {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-config",
      "--no-lock",
      "--quiet",
      join(HERE, "_swapper.ts"),
      folder,
      outside,
    ],
    cwd: folder,
    env: testEnvironment(),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

/** Only while a run goes on: whoever looks at the folders around it would be held up by the pipes in them. */
function swapAll(swappers: AsyncDisposableStack, { project, outside }: AttackPlace): void {
  for (const folder of ["data", "out"]) swappers.use(swapper(join(project.folder, folder), outside));
}

Deno.test("sandbox races: links and folders swapped after the check lead nowhere", async () => {
  await using place = await attackPlace({
    "gadgets/attack.js": await Deno.readTextFile(join(HERE, "attacks/swapped_places.js")),
    ...Object.fromEntries(["data", "out"].flatMap((folder) => [
      [`${folder}/own.txt`, "fine"],
      [`${folder}/file.txt`, "fine"],
      [`${folder}/folder/secret.txt`, "fine"],
    ])),
  });
  await using swappers = new AsyncDisposableStack();
  const run = await place.run(callOf("Attack:a"), {
    args: ["--allow-gadget", "Attack=read:data", "--allow-gadget", "Attack=write:out"],
    timeoutSeconds: 20,
    during: () => swapAll(swappers, place),
  });
  await swappers.disposeAsync();
  const { result, error } = run.outcome("a");
  assert.ok(typeof result === "object" && result !== null && "secret" in result && "fine" in result, error);
  console.log(`swapped places: ${JSON.stringify(result)}`);
  assert.equal(result.secret, 0, JSON.stringify(result));
  assert.ok(Number(result.fine) > 20, `too little was read to say anything: ${JSON.stringify(result)}`);
  await place.assertHarmless(run, { written: /^project\/(data|out)(\/|$)/ });
});

/** Here enough to see it work; `deno task soak` asks for more. */
const ROUNDS = isThorough ? 3000 : 200;
const PATHS = ["data/link", "data/file.txt", "data/folder/file.txt", "data/pipe"];

for (const [name, work] of Object.entries(OPERATIONS)) {
  Deno.test(`sandbox races: ${name}, ${ROUNDS} times`, async () => {
    await using judged = judgedFiles();
    const { root, outside } = judged;
    const data = join(root, "data");
    const before = judged.outsideNow();
    await using _swapper = swapper(data, outside);
    await until(() => isLink(join(data, "link")));
    let done = 0;
    const isEnough = () => done > ROUNDS / 100;
    // A few hundred tries may all fall between two swaps.
    for (let round = 0; round < ROUNDS || !isEnough() && round < 40 * ROUNDS; round++) {
      if (round % 8 === 0) restore(data);
      const path = PATHS[round % PATHS.length] ?? "";
      try {
        const given = await work(judged, path);
        done++;
        assert.ok(!given.includes(SECRET) && !given.startsWith(outside), `${path} gave ${given}`);
      } catch (error) {
        assert.ok(error instanceof FileError || error instanceof PermissionRefused, `${error}`);
      }
    }
    assert.deepEqual(judged.outsideNow(), before);
    assert.ok(isEnough(), `only ${done} of ${ROUNDS} were done: too few to say anything`);
  });
}

/** What operations take away, and what those that make something find in their way. */
function restore(data: string): void {
  for (
    const work of [
      () => Deno.removeSync(join(data, "taken.txt")),
      () => Deno.removeSync(join(data, "folder/made.txt")),
      () => Deno.removeSync(join(data, "folder/made"), { recursive: true }),
      () => Deno.mkdirSync(join(data, "folder")),
      () => Deno.writeTextFileSync(join(data, "own.txt"), "own", { createNew: true }),
      () => Deno.writeTextFileSync(join(data, "file.txt"), "fine", { createNew: true }),
    ]
  ) {
    try {
      work();
    } catch { /* it is there, or it is gone */ }
  }
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    return false;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("the swapper has not begun");
}

Deno.test("sandbox races: built-in gadgets with a part of the project granted", async () => {
  await using place = await attackPlace(Object.fromEntries(["data", "out"].flatMap((folder) => [
    [`${folder}/own.txt`, "fine"],
    [`${folder}/file.txt`, "fine"],
    [`${folder}/folder/secret.txt`, "fine"],
  ])));
  await using swappers = new AsyncDisposableStack();
  const calls = Array.from({ length: 200 }, (_, round) =>
    [
      ...["link", "file.txt", "folder/secret.txt", "pipe"].flatMap((name) => [
        callOf("ReadFile", { path: `data/${name}` }),
        callOf("WriteFile", { path: `out/${name}`, content: "overwritten" }),
        callOf("EditFile", { path: `out/${name}`, find: "overwritten", replace: `round ${round}` }),
      ]),
      callOf("ListFolder", { path: "data/folder" }),
      callOf("SearchText", { path: "data", pattern: "TOP.*" }),
      callOf("WriteFile", { path: `out/folder/new/${round}.txt`, content: "new" }),
    ].join(""));
  const run = await place.run(calls.join(""), {
    args: ["--allow-read=data,out", "--allow-write=out"],
    timeoutSeconds: 20,
    timeoutMs: 300_000,
    concurrency: 8,
    during: () => swapAll(swappers, place),
  });
  await swappers.disposeAsync();
  const results = run.events.filter(({ type }) => type === "call-result").length;
  console.log(`built-in gadgets: ${results} of ${200 * 15} calls gave a result`);
  assert.ok(results > 400, `${results} results are too few to say anything: ${run.stderr.slice(0, 2000)}`);
  await place.assertHarmless(run, { written: /^project\/(data|out)(\/|$)/ });
});

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
  const here = new URL("../../", import.meta.url);
  const script = `
    import { exactFiles } from ${JSON.stringify(new URL("lib/host/files/changes.ts", here).href)};
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
