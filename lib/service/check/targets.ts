import { basename, dirname, relative, resolve } from "node:path";
import { FileError, type Files } from "../../core/core.ts";
import { realPath } from "../../host/paths.ts";
import { isAgentName } from "../../parse/agent/agent.ts";
import type { CheckPlaces } from "./places.ts";
import { UsageError } from "../exit_code.ts";
import { isDocumentName } from "../kinds/document/found.ts";
import { walkFiles } from "../project_files.ts";

/** What is to be checked. All paths are absolute and real. */
export class CheckTargets {
  /** Files that were named as documents, whatever is in them. */
  readonly documents: Set<string> = new Set();
  /** Markdown files of folders: some of them are documents. */
  readonly candidates: Set<string> = new Set();
  readonly calls: Set<string> = new Set();
  /** Agent files of conversations. */
  readonly agents: Set<string> = new Set();
  /** Files of prompts. */
  readonly prompts: Set<string> = new Set();
  /** `orrery.yaml` and `.mcp.json`. */
  readonly settings: Set<string> = new Set();
  /** Collections and modules. */
  readonly collections: Set<string> = new Set();
  readonly tests: Set<string> = new Set();
  /** Folders whose projects are looked at for what their settings and prompts say. */
  readonly folders: Set<string> = new Set();
}

type Kind = keyof CheckTargets;

/** By its name, which tells what a file is; a document of a folder is only a candidate. */
const KINDS: readonly (readonly [Kind, (name: string) => boolean])[] = [
  ["settings", (name) => name === "orrery.yaml" || name === ".mcp.json"],
  ["prompts", (name) => /\.prompt(\.md)?$/.test(name)],
  ["documents", (name) => /\.(md|ctx)$/i.test(name)],
  ["calls", (name) => /\.calls$/i.test(name)],
  ["agents", isAgentName],
  ["collections", (name) => /\.(collection|module)\.ya?ml$/i.test(name)],
  ["tests", (name) => /\.(conversation|document)-test\.ya?ml$/.test(name)],
];

function kindNamed(name: string): Kind | undefined {
  return KINDS.find(([, fits]) => fits(name))?.[0];
}

/**
 * What the words of the command name: a file by its ending, of a folder everything below.
 *
 * @throws {UsageError} with every word that names nothing that can be checked
 */
export async function checkTargets(
  words: readonly string[],
  { cwd, files, places }: {
    readonly cwd: string;
    readonly files: Files;
    readonly places: Pick<CheckPlaces, "exclusion">;
  },
): Promise<CheckTargets> {
  const found = new CheckTargets();
  const wrong: string[] = [];
  for (const word of words) {
    const path = realPath(resolve(cwd, word));
    const kind = await kindOf(word, { path, files });
    if (typeof kind !== "string") wrong.push(kind.problem);
    else if (kind === "folders") await addFolder(path, { found, files, places });
    else found[kind].add(path);
  }
  if (wrong.length > 0) throw new UsageError(wrong, "check");
  for (const path of found.documents) found.candidates.delete(path);
  return found;
}

async function addFolder(
  folder: string,
  { found, files, places }: {
    readonly found: CheckTargets;
    readonly files: Files;
    readonly places: Pick<CheckPlaces, "exclusion">;
  },
): Promise<void> {
  const kindBelow = (name: string): Kind | undefined => {
    const kind = kindNamed(name);
    if (kind === "documents") return isDocumentName(name) ? "candidates" : undefined;
    return kind;
  };
  const isExcluded = await places.exclusion(folder);
  found.folders.add(folder);
  for (
    const path of await walkFiles(folder, { files, isWanted: (name) => kindBelow(name) !== undefined })
  ) {
    const kind = kindBelow(basename(path)) ?? "candidates";
    const isDraft = kind === "prompts" && /(?:^|[\\/])_/.test(relative(folder, path)); // nobody looks for it
    if (isDraft || isExcluded(path)) continue;
    found[kind].add(path);
    if (kind === "settings") found.folders.add(dirname(path));
  }
}

async function kindOf(
  word: string,
  { path, files }: { readonly path: string; readonly files: Files },
): Promise<Kind | { readonly problem: string }> {
  const there = await kindAt(path, files);
  if (there === undefined) return { problem: `Cannot check ${JSON.stringify(word)}: it is not there` };
  if (there === "folder") return "folders";
  return kindNamed(basename(path)) ?? {
    problem:
      `Cannot check ${JSON.stringify(word)}: expected a document (.md), a call file (.calls), an agent ` +
      "(.agent.yml, .agent.yaml), a prompt (.prompt.md, .prompt), a collection (.collection.yml), tests " +
      "(.conversation-test.yml, .document-test.yml), orrery.yaml or a folder",
  };
}

async function kindAt(path: string, files: Files): Promise<"file" | "folder" | "other" | undefined> {
  try {
    return (await files.stat(path)).kind;
  } catch (thrown) {
    if (thrown instanceof FileError && thrown.code === "not-found") return undefined;
    throw thrown;
  }
}
