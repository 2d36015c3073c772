import type { Catalog, CatalogEntry } from "../core/catalog.ts";
import { ProblemsError } from "../core/problems_error.ts";
import type { SourceError } from "../core/source_error.ts";
import { builtInEntries, catalogOf } from "./catalog_of.ts";
import {
  type CatalogSite,
  catalogSite,
  type GadgetSandbox,
  type LoadCatalogOptions,
} from "./catalog_site.ts";
import { gadgetCandidates } from "./gadget_candidates.ts";
import { unreadyEntry } from "./gadget_file.ts";
import { nameClashes, serverClashes } from "./name_clashes.ts";
import {
  maybeLate,
  maybeServerOf,
  type OpenServers,
  type ServerGadgets,
  serverNamed,
} from "./server_gadgets.ts";
import { filesNamed, type TrustCandidate } from "./trust.ts";
import { grantsOf, trustedFiles, wrongWords } from "./trusted_files.ts";

/** What a catalogue is made from, servers too. */
export interface CatalogOptions extends LoadCatalogOptions {
  /** Default: none. */
  readonly servers?: ServerGadgets;
}

/** As `loadCatalog`, also where there is more than the built-in gadgets. @throws {ProblemsError} */
export async function projectCatalog(options: CatalogOptions): Promise<Catalog> {
  try {
    return await openedCatalog(options);
  } catch (error) {
    await options.sandbox?.close(); // nobody else could
    throw error;
  }
}

async function openedCatalog({ servers, ...options }: CatalogOptions): Promise<Catalog> {
  const site = await catalogSite(options);
  const found = await gadgetCandidates(site);
  const { candidates } = found;
  const trusted = trustedFiles(candidates, site);
  const builtIns = builtInEntries(options);
  throwProblems([...found.problems, ...serverClashes(options.serverNames ?? [], builtIns)]);
  const modules = await Promise.all(candidates.map((file) => entryOf(file, { site, trusted, candidates })));
  const known = candidates.map((file, index) => {
    const entry = modules[index];
    return entry?.state === "ready" ? { ...file, declared: entry.name } : file;
  });
  throwProblems([...wrongWords(known, site), ...nameClashes([...builtIns, ...modules])]);
  const opened = await openServers(site, { servers, entries: [...builtIns, ...modules] });
  const named = modules.map((entry, index) => {
    const declared = candidates[index]?.declared;
    return { entry, alsoCalled: declared === undefined ? [] : [declared] };
  });
  const isOwnFile = ({ entry }: { readonly entry: CatalogEntry }) => entry.source.kind === "file";
  const catalog = catalogOf([
    ...builtIns.map((entry) => ({ entry })),
    ...named.filter((each) => !isOwnFile(each)),
    ...(opened?.entries ?? []).map((entry) => ({ entry })),
    ...named.filter(isOwnFile),
  ]);
  return closing(opened === undefined ? catalog : withServers(catalog, opened), site.options.sandbox);
}

/** The processes of gadgets end with the catalogue. */
function closing(catalog: Catalog, sandbox: GadgetSandbox | undefined): Catalog {
  if (sandbox === undefined) return catalog;
  return {
    ...catalog,
    close: async () => void await Promise.all([catalog.close?.(), sandbox.close()]),
  };
}

/** Starts the servers, now that every other name is known. */
async function openServers(
  site: CatalogSite,
  { servers, entries }: {
    readonly servers: ServerGadgets | undefined;
    readonly entries: readonly CatalogEntry[];
  },
): Promise<OpenServers | undefined> {
  if (servers === undefined) return undefined;
  const granted = Object.entries(grantsOf(site)).filter(([, grant]) => grant === "trusted").map(([name]) =>
    name
  );
  const trusted = [...site.options.trust ?? [], ...granted];
  return await servers.open({
    taken: new Set(entries.map(({ name }) => name)),
    late: site.options.late ?? false,
    isTrusted: (server) => trusted.some((word) => serverNamed(word, servers.names) === server),
  });
}

function withServers(catalog: Catalog, { entries, late, close }: OpenServers): Catalog {
  return {
    entries: catalog.entries,
    maybeFind: (name) => catalog.maybeFind(name) ?? maybeServerOf(name, entries) ?? maybeLate(name, late),
    whole: async () => [
      ...catalog.entries,
      ...(await Promise.all(late.map((server) => server.open()))).flat(),
    ],
    close,
  };
}

async function entryOf(
  file: TrustCandidate,
  { site, trusted, candidates }: {
    readonly site: CatalogSite;
    readonly trusted: ReadonlySet<TrustCandidate>;
    readonly candidates: readonly TrustCandidate[];
  },
): Promise<CatalogEntry> {
  const { sandbox } = site.options;
  if (sandbox !== undefined && !(trusted.has(file) && isInProcess(file, candidates, site))) {
    return await sandbox.open(file, candidates);
  }
  if (!trusted.has(file)) {
    const { declared } = file;
    const isEnough = declared !== undefined && filesNamed(declared, candidates, site).length === 1;
    const flag = `--trust ${isEnough ? declared : file.file}`;
    const problem = `Gadget "${file.stem}" is not trusted: ${file.file} was not loaded; run with ${flag}`;
    return { ...unreadyEntry(file, { state: "not-trusted", problem }), flag };
  }
  const { loadGadgetFile }: typeof import("./load_module.ts") = await import("./load_module.ts" as string);
  const { cwd, notice, options: { importModule } } = site;
  return await loadGadgetFile(file, { importModule, cwd, notice });
}

/** Whether the user, or a project that was accepted, wants the gadget in the process (`isolation: none`). */
function isInProcess(
  file: TrustCandidate,
  candidates: readonly TrustCandidate[],
  site: CatalogSite,
): boolean {
  const { config, options } = site;
  const isolation = {
    ...(options.projectAccepted ? config.project.isolation : {}),
    ...config.gadgets.isolation,
  };
  return Object.keys(isolation).some((word) => {
    const found = filesNamed(word, candidates, site);
    return found.length === 1 && found[0] === file;
  });
}

function throwProblems(problems: readonly SourceError[]): void {
  if (problems.length > 0) throw new ProblemsError(problems);
}
