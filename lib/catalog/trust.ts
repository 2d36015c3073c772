import { isAbsolute, join } from "node:path";
import { didYouMean, type Files, mcpNamePart, SourceError } from "../core/core.ts";
import { foldName } from "./catalog.ts";
import { COMMAND_NAMES, type Config } from "./config/config.ts";
import { folderGadgets, type FoundGadgetFiles, type GadgetFile, namedGadget } from "./gadget_file.ts";

/** Where gadget files are looked for. */
interface GadgetCandidatesOptions {
  readonly cwd: string;
  readonly disk: Files;
  readonly config: Pick<Config, "gadgets">;
  /** Gadget modules of their own, relative to `cwd` or absolute. Default: none. */
  readonly files?: readonly string[];
}

/** The gadget files of a project with the names that their texts seem to give, without loading any; and what could not be found. */
export async function gadgetCandidates(
  site: GadgetCandidatesOptions,
): Promise<{ readonly candidates: readonly TrustCandidate[]; readonly problems: readonly SourceError[] }> {
  const { files, problems } = await findFiles(site);
  const candidates = await Promise.all(
    files.map(async (file) => ({ ...file, declared: await declaredName(file.path, site.disk) })),
  );
  return { candidates, problems };
}

/** The files of the project's folders and of `files`, each once. */
async function findFiles(
  { files = [], cwd, disk, config }: GadgetCandidatesOptions,
): Promise<FoundGadgetFiles> {
  const paths = files.map((file) => isAbsolute(file) ? join(file) : join(cwd, file));
  const found = await Promise.all([
    ...config.gadgets.folders.map((folder) => folderGadgets(folder, { disk, cwd })),
    ...paths.map((path) => namedGadget(path, { disk, cwd })),
  ]);
  const byRealPath = new Map<string, GadgetFile>();
  for (const file of found.flatMap(({ files }) => files)) {
    const real = await disk.resolve(file.path);
    if (!byRealPath.has(real)) byRealPath.set(real, file);
  }
  return { files: [...byRealPath.values()], problems: found.flatMap(({ problems }) => problems) };
}

const MAX_BYTES = 256 * 1024;

/**
 * The name that the text of a gadget module seems to give its gadget, read without running anything; undefined when none is seen.
 * It is only good for finding the file that a user means, and for messages: the text may lie.
 */
async function declaredName(path: string, disk: Files): Promise<string | undefined> {
  try {
    if ((await disk.stat(path)).size > MAX_BYTES) return undefined;
    const text = await disk.readText(path);
    return /(?:^|[\s{,])name\s*:\s*(["'`])([A-Za-z_][A-Za-z0-9_-]{0,63})\1/.exec(text)?.[2];
  } catch {
    // A file that cannot be read has no name to tell; loading it will say why.
    return undefined;
  }
}

/** A gadget file, and the name that its text seems to give its gadget. */
export interface TrustCandidate extends GadgetFile {
  readonly declared: string | undefined;
}

/** What names are relative to. */
export interface TrustOptions {
  readonly root: string;
  readonly cwd: string;
  /** Whether a word means something else than a gadget of a module, whatever a module calls itself. Default: none does. */
  readonly isTaken?: (word: string) => boolean;
}

/** The words that mean a built-in gadget, in any spelling, or an MCP server: a gadget of a module that is called so is named by its file. */
export function takenWords(
  builtIns: readonly string[],
  servers: readonly string[],
): (word: string) => boolean {
  const folded = new Set([...builtIns, ...COMMAND_NAMES].map(foldName));
  const parts = new Set(servers.map(mcpNamePart));
  return (word) => folded.has(foldName(word)) || servers.includes(word) || parts.has(word);
}

/**
 * The files that a trusted word stands for: the path of a file, else the name that a text gives its gadget, each exactly. More than one means
 * that the name does not tell which.
 */
export function filesNamed(
  word: string,
  candidates: readonly TrustCandidate[],
  { root, cwd, isTaken }: TrustOptions,
): readonly TrustCandidate[] {
  const paths = [word, join(cwd, word), join(root, word)];
  const found = candidates.filter(({ path }) => paths.includes(path));
  if (found.length > 0 || isTaken?.(word)) return found;
  return candidates.filter(({ declared }) => declared === word);
}

/** `--trust NAME` does not tell which file is meant, or that none is. */
export function trustProblem(
  name: string,
  found: readonly TrustCandidate[],
  candidates: readonly TrustCandidate[],
): SourceError {
  return wordProblem(name, found, candidates, { flag: "--trust " });
}

/** What a word stood behind, and what it could have meant besides gadgets. */
export interface WordOptions {
  /** With the space behind it. Default: none. */
  readonly flag?: string;
  /** What stands behind the word, such as `=KIND`. Default: nothing. */
  readonly ending?: string;
  /** Names of servers. Default: none. */
  readonly servers?: readonly string[];
}

/** A word does not tell which gadget file is meant, or that none is. */
export function wordProblem(
  name: string,
  found: readonly TrustCandidate[],
  candidates: readonly TrustCandidate[],
  { flag = "", ending = "", servers = [] }: WordOptions = {},
): SourceError {
  if (found.length > 1) {
    const files = found.map(({ file }) => file).join(" and ");
    return new SourceError(`Cannot tell what ${flag}${name} means: it fits ${files}`, {
      code: "E-trust",
      hint: `Name the file: ${flag}${found[0]?.file}${ending}`,
    });
  }
  const list = candidates.length === 0
    ? "there is no gadget file here"
    : `the gadget files here are ${listed(candidates)}`;
  const what = servers.length === 0 ? "gadget" : "gadget or MCP server";
  const others = servers.length === 0 ? "" : `, and the servers ${servers.join(", ")}`;
  return new SourceError(
    `No ${what} for ${flag}${name}: ${list}${others}.${wordMeant(name, candidates, servers)}`,
    {
      code: "E-trust",
    },
  );
}

/** The word that a wrong one was likely meant to be, as the end of a message: a stem, or a name in another spelling, is one. */
export function wordMeant(
  word: string,
  candidates: readonly TrustCandidate[],
  servers: readonly string[] = [],
): string {
  const folded = foldName(word);
  const alike = candidates.find(({ stem, declared = stem }) =>
    [stem, declared].map(foldName).includes(folded)
  );
  if (alike !== undefined) return ` Did you mean ${JSON.stringify(alike.declared ?? alike.file)}?`;
  return didYouMean(word, [...candidates.map(({ file, declared }) => declared ?? file), ...servers]);
}

function listed(candidates: readonly TrustCandidate[]): string {
  const files = candidates.slice(0, 8).map(({ file }) => file).join(", ");
  return candidates.length > 8 ? `${files} and ${candidates.length - 8} more` : files;
}
