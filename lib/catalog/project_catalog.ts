import { join } from "node:path";
import {
  type Catalog,
  type CatalogEntry,
  type EntryGrant,
  type Files,
  mcpNamePart,
  ProblemsError,
  shownPath,
  SourceError,
  type World,
} from "../core/core.ts";
import { builtInEntries, type BuiltIns, catalogOf, foldName } from "./catalog.ts";
import type { Config } from "./config/config.ts";
import { type GadgetFile, loadGadgetFile } from "./gadget_file.ts";
import {
  maybeLate,
  maybeServerOf,
  type OpenServers,
  type ServerGadgets,
  serverNamed,
} from "./mcp/gadgets.ts";
import type { LoadModule } from "./module_loader.ts";
import {
  filesNamed,
  gadgetCandidates,
  takenWords,
  type TrustCandidate,
  trustProblem,
  wordMeant,
  wordProblem,
} from "./trust.ts";

/** What a catalogue is made from. */
export interface LoadCatalogOptions {
  /** The project root, absolute. */
  readonly root: string;
  /** What the built-in gadgets may touch; guarded by the policy already. */
  readonly world: World;
  /** The built-in gadgets by name. */
  readonly builtIns: BuiltIns;
  /** What settings grant built-in gadgets, by name. Default: nothing. */
  readonly builtInGrants?: Readonly<Record<string, EntryGrant>>;
  /** Loads a module by its `file:` URL. */
  readonly importModule: LoadModule;
  readonly config: Config;
  /** Gadget modules of their own (`--gadget FILE`), relative to `cwd` or absolute. */
  readonly files?: readonly string[];
  /** The gadgets whose modules may be loaded (`--trust NAME`), by name or file; and MCP servers, by name. */
  readonly trust?: readonly string[];
  /** Whether MCP servers are started when they are first needed. Default: at once. */
  readonly late?: boolean;
  /** Every MCP server that is configured, whether it counts or not: its name means no gadget. Default: none. */
  readonly serverNames?: readonly string[];
  /** The gadgets that something is granted by name (`--allow-gadget NAME=KIND`): each has to be a file's. */
  readonly allowed?: readonly string[];
  /** Whether the user accepted what the project says for itself (gadgets.md 3). Default false. */
  readonly projectAccepted?: boolean;
  /** What the gadget folders are listed with. */
  readonly disk: Files;
  /** The folder that `files` are relative to, and files in messages. */
  readonly cwd: string;
  /** Where the gadgets of modules run, apart from this process. */
  readonly sandbox: GadgetSandbox;
  /** Told what was ignored, a line each. */
  readonly notice: (text: string) => void;
  /** Default: none. */
  readonly servers?: ServerGadgets;
}

/** Where gadgets of modules run. */
export interface GadgetSandbox {
  /**
   * The gadget of a file; what is wrong with it becomes a `broken` entry.
   *
   * @param candidates every gadget file of the catalogue: what a name stands for
   */
  open(file: GadgetFile, candidates: readonly TrustCandidate[]): Promise<CatalogEntry>;
  /** Ends what they run in. */
  close(): Promise<void>;
}

/**
 * The catalogue of a project: built-in gadgets, then the project's folders, then MCP servers, then `files` (gadgets.md 2). A
 * module is looked at in a process that may do nothing, once for each of its versions. One that cannot be used is listed as broken.
 *
 * @throws {ProblemsError} for two gadgets of one name, a missing file or folder, and a trusted name that fits no file or several
 */
export async function loadCatalog(options: LoadCatalogOptions): Promise<Catalog> {
  try {
    return await openedCatalog(options);
  } catch (error) {
    await options.sandbox.close(); // nobody else could
    throw error;
  }
}

interface CatalogSite extends LoadCatalogOptions {
  /** Whether a word means something else than a gadget of a module. */
  readonly isTaken: (word: string) => boolean;
}

async function openedCatalog(options: LoadCatalogOptions): Promise<Catalog> {
  const { servers, builtIns, serverNames = [] } = options;
  const site = { ...options, isTaken: takenWords(Object.keys(builtIns), serverNames) };
  const found = await gadgetCandidates(site);
  const { candidates } = found;
  const trusted = trustedFiles(candidates, site);
  const ours = builtInEntries(options);
  throwProblems([...found.problems, ...serverClashes(serverNames, ours)]);
  const modules = await Promise.all(candidates.map((file) => entryOf(file, { site, trusted, candidates })));
  const known = candidates.map((file, index) => {
    const entry = modules[index];
    return entry?.state === "ready" ? { ...file, declared: entry.name } : file;
  });
  throwProblems([...wrongWords(known, site), ...nameClashes([...ours, ...modules])]);
  const opened = await openServers(site, { servers, entries: [...ours, ...modules] });
  const named = modules.map((entry, index) => {
    const declared = candidates[index]?.declared;
    return { entry, alsoCalled: declared === undefined ? [] : [declared] };
  });
  const isOwnFile = ({ entry }: { readonly entry: CatalogEntry }) => entry.source.kind === "file";
  const catalog = catalogOf([
    ...ours.map((entry) => ({ entry })),
    ...named.filter((each) => !isOwnFile(each)),
    ...(opened?.entries ?? []).map((entry) => ({ entry })),
    ...named.filter(isOwnFile),
  ]);
  return closing(opened === undefined ? catalog : withServers(catalog, opened), site.sandbox);
}

/** The processes of gadgets end with the catalogue. */
function closing(catalog: Catalog, sandbox: GadgetSandbox): Catalog {
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
  const trusted = [...site.trust ?? [], ...granted];
  return await servers.open({
    taken: new Set(entries.map(({ name }) => name)),
    late: site.late ?? false,
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
  const { cwd, notice, importModule, sandbox } = site;
  const isInside = trusted.has(file) && isInProcess(file, candidates, site);
  if (!isInside) return await sandbox.open(file, candidates);
  return await loadGadgetFile(file, { importModule, cwd, notice });
}

/** Whether the user, or a project that was accepted, wants the gadget in the process (`isolation: none`). */
function isInProcess(
  file: TrustCandidate,
  candidates: readonly TrustCandidate[],
  site: CatalogSite,
): boolean {
  const { config, projectAccepted } = site;
  const isolation = {
    ...(projectAccepted ? config.project.isolation : {}),
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

/**
 * Two ready entries of one name, or one that is called like a built-in but for case, `_` and `-`. Only real names clash: the stem of a file
 * that was not loaded is not one.
 */
function nameClashes(entries: readonly CatalogEntry[]): readonly SourceError[] {
  const first = new Map<string, CatalogEntry>();
  const problems: SourceError[] = [];
  const builtIns = new Map<string, CatalogEntry>();
  for (const entry of entries.filter(({ state }) => state === "ready")) {
    const other = first.get(entry.name) ?? builtIns.get(foldName(entry.name));
    if (entry.source.kind === "built-in") builtIns.set(foldName(entry.name), entry);
    if (other === undefined) first.set(entry.name, entry);
    else problems.push(clash(entry, other));
  }
  return problems;
}

/** Servers that are called like a built-in gadget: whoever trusts the one would trust the other. */
function serverClashes(
  servers: readonly string[],
  builtIns: readonly CatalogEntry[],
): readonly SourceError[] {
  return servers.flatMap((server) => {
    const other = builtIns.find(({ name }) => foldName(name) === foldName(mcpNamePart(server)));
    return other === undefined ? [] : [calledLike(`The MCP server ${JSON.stringify(server)}`, other)];
  });
}

function clash(entry: CatalogEntry, other: CatalogEntry): SourceError {
  if (entry.name !== other.name) return calledLike(`The gadget "${entry.name}" (${placeOf(entry)})`, other);
  return new SourceError(`Two gadgets are named "${entry.name}": ${placeOf(other)} and ${placeOf(entry)}`, {
    code: "E-gadget",
    hint: "Rename one of them, or trust only one.",
  });
}

function calledLike(what: string, builtIn: CatalogEntry): SourceError {
  return new SourceError(`${what} is called like ${placeOf(builtIn)}`, {
    code: "E-gadget",
    hint: "Rename it: case, _ and - do not tell it from the built-in one.",
  });
}

function placeOf({ source, name }: CatalogEntry): string {
  return "file" in source ? source.file : `the built-in ${name}`;
}

/** Who may be loaded here: by the command line, by the user's own grants, and by the project's when it was accepted. */
function trustedFiles(
  candidates: readonly TrustCandidate[],
  site: CatalogSite,
): ReadonlySet<TrustCandidate> {
  const trusted = Object.entries(grantsOf(site)).filter(([, grant]) => grant === "trusted");
  const words = [...site.trust ?? [], ...trusted.map(([word]) => word)];
  return new Set(
    words.map((word) => filesNamed(word, candidates, site)).flatMap((found) =>
      found.length === 1 ? found : []
    ),
  );
}

/** What is wrong with the words of the command line; of grants that fit nothing the user is told. @param candidates with their real names, as far as they are known */
function wrongWords(
  candidates: readonly TrustCandidate[],
  site: CatalogSite,
): readonly SourceError[] {
  const { trust = [], allowed = [] } = site;
  const problems: SourceError[] = [];
  for (const name of trust) {
    const found = filesNamed(name, candidates, site);
    if (found.length !== 1 && !site.isTaken(name)) problems.push(trustProblem(name, found, candidates));
  }
  for (const name of new Set(allowed)) {
    const found = filesNamed(name, candidates, site);
    if (found.length === 1) continue;
    problems.push(
      site.isTaken(name)
        ? takenProblem(name)
        : wordProblem(name, found, candidates, { flag: "--allow-gadget ", ending: "=KIND" }),
    );
  }
  noticeAbsence(site);
  for (const name of Object.keys(grantsOf(site))) {
    const found = filesNamed(name, candidates, site);
    // What is taken the world of a run and the servers know.
    if (found.length !== 1 && !site.isTaken(name)) noticeGrant(name, { found, candidates, site });
  }
  return problems;
}

function takenProblem(name: string): SourceError {
  return new SourceError(
    `--allow-gadget ${name}: that is built in, or an MCP server, and no gadget of a module`,
    {
      code: "E-trust",
      hint:
        "What is built in may do what the run may: --allow-read, --allow-write, --allow-net, --allow-run and --allow-env. A gadget of a module " +
        "that is called so is named by its file.",
    },
  );
}

function noticeAbsence({ config, projectAccepted, root, cwd, notice }: CatalogSite): void {
  const asked = Object.keys(config.project.parts);
  if (asked.length === 0 || projectAccepted) return;
  const file = shownPath(join(root, "orrery.yaml"), cwd);
  notice(
    `${file}: ${
      asked.join(", ")
    } count as absent, since you have not accepted this project; --trust-project accepts it`,
  );
}

/** The grants that count: the user's own before those of the project. */
function grantsOf({ config, projectAccepted }: CatalogSite): Config["grants"] {
  return { ...(projectAccepted ? config.project.grants : {}), ...config.grants };
}

/** A grant may be for a gadget of another project or of an MCP server: only a likely mistake is worth a word. */
function noticeGrant(
  name: string,
  { found, candidates, site }: {
    readonly found: readonly TrustCandidate[];
    readonly candidates: readonly TrustCandidate[];
    readonly site: CatalogSite;
  },
): void {
  const near = wordMeant(name, candidates);
  if (found.length > 1) {
    site.notice(
      `The grant of "${name}" counts for nothing: it fits ${found.map(({ file }) => file).join(" and ")}`,
    );
  } else if (near !== "") {
    site.notice(`The grant of "${name}" counts for nothing: no gadget file has that name.${near}`);
  }
}
