import { isAbsolute, join } from "node:path";
import type { SourceError } from "../core/source_error.ts";
import type { Files } from "../core/world.ts";
import type { Config } from "./config.ts";
import { folderGadgets, type FoundGadgetFiles, type GadgetFile, namedGadget } from "./gadget_file.ts";
import type { TrustCandidate } from "./trust.ts";

/** Where gadget files are looked for. */
export interface GadgetCandidatesOptions {
  readonly cwd: string;
  readonly disk: Files;
  readonly config: Pick<Config, "gadgets">;
  readonly options: {
    /** Gadget modules of their own, relative to `cwd` or absolute. */
    readonly files?: readonly string[];
  };
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
async function findFiles({ options, cwd, disk, config }: GadgetCandidatesOptions): Promise<FoundGadgetFiles> {
  const paths = (options.files ?? []).map((file) => isAbsolute(file) ? join(file) : join(cwd, file));
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
export async function declaredName(path: string, disk: Files): Promise<string | undefined> {
  try {
    if ((await disk.stat(path)).size > MAX_BYTES) return undefined;
    const text = await disk.readText(path);
    return /(?:^|[\s{,])name\s*:\s*(["'`])([A-Za-z_][A-Za-z0-9_-]{0,63})\1/.exec(text)?.[2];
  } catch {
    // A file that cannot be read has no name to tell; loading it will say why.
    return undefined;
  }
}
