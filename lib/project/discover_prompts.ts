import { join } from "node:path";
import {
  type DiscoverOptions,
  discoverPrompts as discover,
  type Discovery,
  type KeepFile,
  type LocatedDiscovery,
  type PromptFolder,
} from "../catalog/prompts/discover.ts";
import { isRecord } from "../core/json.ts";
import { fileStamps } from "../host/files/stamp.ts";
import { hostFiles } from "../host/files/files.ts";
import { journalPath } from "../host/files/journal_files.ts";
import { realPath } from "../host/paths.ts";
import type { PromptRegistry } from "../prompt/registry.ts";
import { promptModuleLoader } from "./prompt_module_loader.ts";
import { rootFolder } from "./root_folder.ts";

/** Where to look for prompts, and what to do with problems. */
export interface DiscoverPromptsOptions {
  /** The folder with `orrery.yaml`, relative to the working folder. Default: that. */
  readonly root?: string | URL;
  /** In place of the folders of `orrery.yaml`, relative to the root; none scans nothing. */
  readonly folders?: readonly PromptFolder[];
  /** Default true: all problems are thrown together. */
  readonly strict?: boolean;
  /** Where the prompts go. Default: a new registry. */
  readonly registry?: PromptRegistry;
  /**
   * Modules by their paths from the root, as `prompts.gen.ts` exports them (`orrery list prompts --write-types`). Each is loaded by its
   * function instead of from the disk, and counts as if its file were there. So a compiled program holds its prompts: `deno bundle
   * --code-splitting --outdir dist main.ts`, then `deno compile dist/main.js`.
   */
  readonly modules?: Readonly<Record<string, () => Promise<unknown>>>;
}

/**
 * Finds the prompts of a project, in TypeScript modules, `*.prompt.md` and `*.prompt` files, and registers each under the path that its
 * place says (prompts.md 12). The modules are loaded: they are code, and run as such. A compiled program of yours loads those of `modules` only.
 *
 * ```ts
 * import { discoverPrompts } from "orrery";
 *
 * const root = await Deno.makeTempDir();
 * await Deno.mkdir(`${root}/prompts`);
 * await Deno.writeTextFile(`${root}/prompts/greet.prompt.md`, "---\nname: greet/warmly\n---\nHello {name}!");
 * await Deno.writeTextFile(`${root}/prompts/broken.prompt.md`, "Hello {name");
 * const { registry, problems } = await discoverPrompts({ root, strict: false });
 * console.log(registry.get("greet/warmly")({ name: "Ada" })); // => Hello Ada!
 * console.log(problems[0]?.file, problems[0]?.line); // => prompts/broken.prompt.md 1
 * await Deno.remove(root, { recursive: true });
 * ```
 *
 * @throws {PromptError} `discover`, with a line for each problem, unless `strict` is false
 */
export async function discoverPrompts(options: DiscoverPromptsOptions = {}): Promise<Discovery> {
  const { root: given = ".", modules, ...how } = options;
  const root = realPath(rootFolder(given));
  const loader = promptModuleLoader(root, { trustsCode: true, modules });
  const { registry, problems } = await promptsIn(root, { ...how, ...loader });
  return { registry, problems };
}

/** The prompts of a project, with what is kept of its files. @param root real and absolute */
export async function promptsIn(
  root: string,
  options: Omit<DiscoverOptions, "root" | "files" | "keep">,
): Promise<LocatedDiscovery> {
  const { keep, save } = promptCache(root);
  try {
    return await discover({ root, files: hostFiles({ root }), ...options, keep });
  } finally {
    await save();
  }
}

// What was read of prompt files is kept: in memory, and for the next process in a file beside the journal, whose name begins as that of
// the journal's database does, so that no run may write it. It counts only for files that are as they were, and the stamp that says so
// is no other project's. Without it everything is read again, so nothing that goes wrong with it matters.

/** What is kept of the prompt files of a project. */
interface PromptCache {
  readonly keep: KeepFile;
  /** Keeps what was asked for since, and nothing else. */
  save(): Promise<void>;
}

interface Kept {
  readonly stamp: string;
  readonly value: object;
}

/** To be changed with what `readPromptFile` and `readDotpromptFile` give. */
const VERSION = 3;

/** Reading fewer files anew takes no time that would be worth a file. */
const FEW = 100;

const byRoot = new Map<string, ReadonlyMap<string, Kept>>();

/** Opens what was kept of a project's prompt files. @param root real and absolute */
export function promptCache(root: string): PromptCache {
  const reading = byRoot.get(root) ?? readIndex(root); // meanwhile the folders are listed
  let before: ReadonlyMap<string, Kept> | undefined;
  const stampOf = fileStamps();
  const now = new Map<string, Kept>();
  let anew = 0;
  return {
    async keep<T extends object>(path: string, read: () => Promise<T>): Promise<T> {
      before ??= await reading;
      const stamp = stampOf(path);
      const known = before.get(path);
      if (known !== undefined && known.stamp === stamp) {
        now.set(path, known);
        return known.value as T; // what the same reading of the same file gave
      }
      anew++;
      const value = await read();
      if (stamp !== undefined) now.set(path, { stamp, value });
      return value;
    },
    async save() {
      byRoot.set(root, now);
      if (anew >= FEW) await writeIndex(root, now);
    },
  };
}

/** It begins like the name of the journal, so that no run may write it. */
const INDEX = join(".orrery", "orrery.db-prompts");

async function readIndex(root: string): Promise<ReadonlyMap<string, Kept>> {
  try {
    const index: unknown = JSON.parse(await hostFiles({ root }).readText(INDEX));
    if (!isRecord(index) || index.version !== VERSION || !isRecord(index.files)) return new Map();
    return new Map(
      Object.entries(index.files).flatMap(([path, kept]) =>
        isRecord(kept) && typeof kept.stamp === "string" && isRecord(kept.value)
          ? [[path, { stamp: kept.stamp, value: kept.value }]]
          : []
      ),
    );
  } catch {
    return new Map();
  }
}

async function writeIndex(root: string, kept: ReadonlyMap<string, Kept>): Promise<void> {
  try {
    journalPath(root); // makes the folder, unless something else is in its place
    const files = Object.fromEntries([...kept].filter(([, { value }]) => isPlain(value)));
    await hostFiles({ root, mode: 0o600 }).writeText(INDEX, JSON.stringify({ version: VERSION, files }));
  } catch { /* it is read again */ }
}

/** YAML has numbers that JSON has not; a file with one is read again. */
function isPlain(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value !== "object" || value === null || Object.values(value).every(isPlain);
}
