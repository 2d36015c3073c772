// A project in a folder of its own with a secret beside it, and its files behind a policy that may act between judgement and opening.
import { join } from "node:path";
import type { Files, Policy } from "../mod.ts";
import type { FileChanges } from "../lib/core/file_changes.ts";
import { exactFiles } from "../lib/host/files/exact_files.ts";
import { hostFileChanges } from "../lib/host/files/changes.ts";
import { realPath } from "../lib/host/paths.ts";
import { guardFileChanges, guardFiles } from "../lib/policy/guard_files.ts";
import { createPolicy } from "../lib/policy/policy.ts";
import { parsePolicyFlags } from "../lib/policy/policy_flags.ts";

/** A word that stands outside of the project only. */
export const SECRET = "TOPSECRET";

/** A project that its policy lets read and write `data/`, and nothing else. */
export interface JudgedFiles extends AsyncDisposable {
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
export function judgedFiles(): JudgedFiles {
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
export const OPERATIONS: Readonly<Record<string, (judged: JudgedFiles, path: string) => Promise<string>>> = {
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
