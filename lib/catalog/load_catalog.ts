import { isAbsolute, join } from "../core/path.ts";
import type { Catalog, CatalogEntry } from "../core/catalog.ts";
import { ProblemsError } from "../core/problems_error.ts";
import type { SourceError } from "../core/source_error.ts";
import { builtInEntry } from "./built_in_entry.ts";
import { catalogOf, foldName } from "./catalog_of.ts";
import { type CatalogSite, catalogSite, type LoadCatalogOptions } from "./catalog_site.ts";
import { declaredName } from "./declared_name.ts";
import { folderGadgets, type FoundGadgetFiles, namedGadget, unreadyEntry } from "./gadget_file.ts";
import { nameClashes } from "./name_clashes.ts";
import type { TrustCandidate } from "./trust.ts";
import { trustedFiles } from "./trusted_files.ts";

export type { LoadCatalogOptions };

/**
 * The catalogue of a project: built-in gadgets, then the project's folders, then `files` (gadgets.md 2). A module that is not
 * trusted is listed and never loaded; one that cannot be used is listed as broken.
 *
 * @throws {ProblemsError} for two gadgets of one name, a missing file or folder, and a trusted name that fits no file or several
 */
export async function loadCatalog(options: LoadCatalogOptions): Promise<Catalog> {
  const site = await catalogSite(options);
  const found = await findFiles(site);
  const candidates = await Promise.all(
    found.files.map(async (file) => ({ ...file, declared: await declaredName(file.path, site.disk) })),
  );
  const trusted = trustedFiles(candidates, site);
  throwProblems([...found.problems, ...trusted.problems]);
  const builtIns = Object.entries(options.builtIns).map(([name, load]) =>
    builtInEntry(name, { load, world: options.world })
  );
  const modules = await Promise.all(
    candidates.map((file) => entryOf(file, { site, trusted: trusted.files, candidates })),
  );
  throwProblems(nameClashes([...builtIns, ...modules]));
  const alsoCalled = candidates.map(({ declared }) => declared === undefined ? [] : [declared]);
  return catalogOf([
    ...builtIns.map((entry) => ({ entry })),
    ...modules.map((entry, index) => ({ entry, alsoCalled: alsoCalled[index] ?? [] })),
  ]);
}

/** The files of the project's folders and of `files`, each once. */
async function findFiles({ options, cwd, disk, config }: CatalogSite): Promise<FoundGadgetFiles> {
  const paths = (options.files ?? []).map((file) => isAbsolute(file) ? join(file) : join(cwd, file));
  const found = await Promise.all([
    ...config.gadgets.folders.map((folder) => folderGadgets(folder, { disk, cwd })),
    ...paths.map((path) => namedGadget(path, { disk, cwd })),
  ]);
  const byRealPath = new Map<string, FoundGadgetFiles["files"][number]>();
  for (const file of found.flatMap(({ files }) => files)) {
    const real = await disk.resolve(file.path);
    if (!byRealPath.has(real)) byRealPath.set(real, file);
  }
  return { files: [...byRealPath.values()], problems: found.flatMap(({ problems }) => problems) };
}

async function entryOf(
  file: TrustCandidate,
  { site, trusted, candidates }: {
    readonly site: CatalogSite;
    readonly trusted: ReadonlySet<TrustCandidate>;
    readonly candidates: readonly TrustCandidate[];
  },
): Promise<CatalogEntry> {
  if (!trusted.has(file)) {
    const alike = candidates.filter(({ stem }) => foldName(stem) === foldName(file.stem));
    const flag = `--trust ${alike.length > 1 ? file.file : file.stem}`;
    const problem = `Gadget "${file.stem}" is not trusted: ${file.file} was not loaded; run with ${flag}`;
    return unreadyEntry(file, { state: "not-trusted", problem });
  }
  const { loadGadgetFile }: typeof import("./load_module.ts") = await import("./load_module.ts" as string);
  const { disk, cwd, notice, options: { importModule, compiled = false } } = site;
  return await loadGadgetFile(file, { importModule, compiled, disk, cwd, notice });
}

function throwProblems(problems: readonly SourceError[]): void {
  if (problems.length > 0) throw new ProblemsError(problems);
}
