import type { MergeMode } from "../../parse/document/operation.ts";
import type { Kind } from "../kinds/kind.ts";
import { fileWords, kindOfFile, kindOfTests, testEndings } from "../kinds/kinds.ts";
import type { CheckReport } from "./report.ts";
import { basename, dirname, relative, resolve } from "node:path";
import { FileError, type Files } from "../../core/core.ts";
import { realPath } from "../../host/paths.ts";
import type { CheckPlaces } from "./places.ts";
import { UsageError } from "../exit_code.ts";
import { walkFiles } from "../project_files.ts";

/** What the command line says of the files that are checked. */
export interface CheckFlags {
  /** Of documents: what they are asked, and their values. */
  readonly prompt?: string;
  readonly values: Readonly<Record<string, string>>;
  /** Files as they were typed. */
  readonly blocks: readonly { readonly file: string; readonly reference: string }[];
  readonly model?: string;
  readonly mode?: MergeMode;
  /** Some flag gives values: then those that are missing are errors. */
  readonly isGiving: boolean;
}

/** What files are checked with. */
export interface CheckOptions {
  readonly places: CheckPlaces;
  readonly report: CheckReport;
  readonly flags: CheckFlags;
}

/** Files of a kind that are checked, absolute and real. */
export interface CheckedFiles {
  /** Whatever is in them. */
  readonly named: Set<string>;
  /** Below folders: their names say that they may be some. */
  readonly found: Set<string>;
  /** What else is checked. */
  readonly targets: Pick<CheckTargets, "folders" | "settings">;
}

/** What is to be checked. All paths are absolute and real. */
export class CheckTargets {
  /** `orrery.yaml` and `.mcp.json`. */
  readonly settings: Set<string> = new Set();
  /** Collections and modules. */
  readonly collections: Set<string> = new Set();
  readonly tests: Set<string> = new Set();
  /** Folders whose projects are looked at for what their settings and prompts say. */
  readonly folders: Set<string> = new Set();
  readonly #files = new Map<Kind, CheckedFiles>();

  of(kind: Kind): CheckedFiles {
    const files = this.#files.get(kind) ?? { named: new Set(), found: new Set(), targets: this };
    this.#files.set(kind, files);
    return files;
  }
}

/** What is no kind of its own; the name tells it. */
const OTHERS = [
  ["settings", /^(orrery\.yaml|\.mcp\.json)$/],
  ["collections", /\.(collection|module)\.ya?ml$/i],
] as const;

/** Where names are looked for. */
interface TargetOptions {
  readonly cwd: string;
  readonly files: Files;
  readonly places: Pick<CheckPlaces, "exclusion">;
  readonly kinds: readonly Kind[];
}

/**
 * What the words of the command name: a file by its ending, of a folder everything below.
 *
 * @throws {UsageError} with every word that names nothing that can be checked
 */
export async function checkTargets(words: readonly string[], options: TargetOptions): Promise<CheckTargets> {
  const targets = new CheckTargets();
  const wrong: string[] = [];
  for (const word of words) {
    const path = realPath(resolve(options.cwd, word));
    const there = await kindAt(path, options.files);
    if (there === undefined) wrong.push(`Cannot check ${JSON.stringify(word)}: it is not there`);
    else if (there === "folder") await addFolder(path, targets, options);
    else {
      const set = setOf(path, "named", { targets, ...options });
      if (set === undefined) wrong.push(otherKind(word, options.kinds));
      set?.add(path);
    }
  }
  if (wrong.length > 0) throw new UsageError(wrong, "check");
  return targets;
}

function otherKind(word: string, kinds: readonly Kind[]): string {
  return `Cannot check ${JSON.stringify(word)}: expected ${
    fileWords(kinds).join(", ")
  }, a collection (.collection.yml), ` +
    `tests (${testEndings(kinds).toSorted().join(", ")}), orrery.yaml or a folder`;
}

async function addFolder(
  folder: string,
  targets: CheckTargets,
  { files, places, kinds }: TargetOptions,
): Promise<void> {
  const setBelow = (name: string) => setOf(name, "found", { targets, kinds });
  const isExcluded = await places.exclusion(folder);
  targets.folders.add(folder);
  for (const path of await walkFiles(folder, { files, isWanted: (name) => setBelow(name) !== undefined })) {
    const isDraft = kindOfFile(path, kinds)?.file?.isDraft?.(relative(folder, path)) === true;
    if (isDraft || isExcluded(path)) continue;
    const set = setBelow(path);
    set?.add(path);
    if (set === targets.settings) targets.folders.add(dirname(path));
  }
}

/** Where a file belongs; undefined for one that nobody checks. */
function setOf(
  path: string,
  how: "named" | "found",
  { targets, kinds }: { readonly targets: CheckTargets; readonly kinds: readonly Kind[] },
): Set<string> | undefined {
  const name = basename(path);
  const other = OTHERS.find(([, fits]) => fits.test(name));
  if (other !== undefined) return targets[other[0]];
  if (kindOfTests(name, kinds) !== undefined) return targets.tests;
  const kind = kindOfFile(name, kinds) ??
    (how === "named" ? kinds.find(({ file }) => file?.isResult?.(name)) : undefined);
  return kind && targets.of(kind)[how];
}

async function kindAt(path: string, files: Files): Promise<"file" | "folder" | "other" | undefined> {
  try {
    return (await files.stat(path)).kind;
  } catch (thrown) {
    if (thrown instanceof FileError && thrown.code === "not-found") return undefined;
    throw thrown;
  }
}
