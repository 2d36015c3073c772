import { basename, dirname, resolve } from "../core/path.ts";
import { FileError } from "../core/world.ts";
import type { Files } from "../core/world.ts";
import { realPath } from "../host/paths.ts";
import { isAgentName } from "../parse/agent_name.ts";
import { isDocumentName } from "./document_text.ts";
import { UsageError } from "./exit_code.ts";
import { walkFiles } from "./walk_files.ts";

/** What is to be checked. All paths are absolute and real, each is there once. */
export interface CheckTargets {
  /** Files that were named as documents, whatever is in them. */
  readonly documents: readonly string[];
  /** Markdown files of folders: some of them are documents. */
  readonly candidates: readonly string[];
  readonly calls: readonly string[];
  /** Agent files of conversations. */
  readonly agents: readonly string[];
  /** Files of prompts that were named, and `orrery.yaml`. */
  readonly prompts: readonly string[];
  /** Folders whose projects are looked at for what their settings and prompts say. */
  readonly folders: readonly string[];
}

type Kind = keyof CheckTargets;

const SETTINGS = "orrery.yaml";
const CALLS = /\.calls$/i;
const PROMPT = /\.prompt(\.md)?$/;

/**
 * What the words of the command name: a file by its ending, of a folder everything below.
 *
 * @throws {UsageError} with every word that names nothing that can be checked
 */
export async function checkTargets(
  words: readonly string[],
  { cwd, files }: { readonly cwd: string; readonly files: Files },
): Promise<CheckTargets> {
  const found: { readonly [kind in Kind]: Set<string> } = {
    documents: new Set(),
    candidates: new Set(),
    calls: new Set(),
    agents: new Set(),
    prompts: new Set(),
    folders: new Set(),
  };
  const wrong: string[] = [];
  for (const word of words) {
    const path = realPath(resolve(cwd, word));
    const kind = await kindOf(word, { path, files });
    if (typeof kind !== "string") wrong.push(kind.problem);
    else if (kind === "folders") await addFolder(path, { found, files });
    else found[kind].add(path);
  }
  if (wrong.length > 0) throw new UsageError(wrong, { command: "check" });
  const { documents, candidates, calls, agents, prompts, folders } = found;
  return {
    documents: [...documents],
    candidates: [...candidates].filter((path) => !documents.has(path)),
    calls: [...calls],
    agents: [...agents],
    prompts: [...prompts],
    folders: [...folders],
  };
}

async function addFolder(
  folder: string,
  { found, files }: { readonly found: { readonly [kind in Kind]: Set<string> }; readonly files: Files },
): Promise<void> {
  const isWanted = (name: string): boolean =>
    isDocumentName(name) || CALLS.test(name) || isAgentName(name) || name === SETTINGS;
  found.folders.add(folder);
  for (const path of await walkFiles(folder, { files, isWanted })) {
    const name = basename(path);
    if (name === SETTINGS) found.folders.add(dirname(path));
    else found[isAgentName(name) ? "agents" : CALLS.test(name) ? "calls" : "candidates"].add(path);
  }
}

async function kindOf(
  word: string,
  { path, files }: { readonly path: string; readonly files: Files },
): Promise<Kind | { readonly problem: string }> {
  const there = await kindAt(path, files);
  if (there === undefined) return { problem: `Cannot check ${JSON.stringify(word)}: it is not there` };
  if (there === "folder") return "folders";
  if (PROMPT.test(path) || basename(path) === SETTINGS) return "prompts";
  if (/\.(md|ctx)$/i.test(path)) return "documents";
  if (CALLS.test(path)) return "calls";
  if (isAgentName(path)) return "agents";
  return {
    problem:
      `Cannot check ${JSON.stringify(word)}: expected a document (.md), a call file (.calls), an agent ` +
      "(.agent.yml, .agent.yaml), a prompt (.prompt.md, .prompt), orrery.yaml or a folder",
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
