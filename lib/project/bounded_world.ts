import { resolve } from "node:path";
import { builtInGadgets } from "../../gadgets/built_in.ts";
import { builtInEntries, catalogOf } from "../catalog/catalog.ts";
import {
  type Catalog,
  type CatalogEntry,
  type Files,
  type Http,
  isInside,
  PermissionRefused,
  type PermissionRequest,
  type Policy,
  type Shell,
  systemClock,
  type World,
} from "../core/core.ts";
import { namedAsGiven } from "../policy/guard_files.ts";
import { refuseBeyond } from "../policy/policy.ts";
import { NOBODY } from "./trust/grants.ts";

/** What a program gives a document to touch: where its files are, and what else it may reach. */
export interface DocumentWorld extends Partial<Omit<World, "root" | "files">> {
  /** The project root: absolute. */
  readonly root: string;
  readonly files: Files;
}

type Permit = Policy["permit"];

/**
 * The whole world of a program's document. Without a `policy` it may read its root and nothing else; without a `shell`, `http` or `user`
 * there is none.
 *
 * @param against the end of a sentence that says what is against a request, whatever the policy says; undefined when nothing is
 */
export function boundedWorld(
  world: DocumentWorld,
  against: (request: PermissionRequest) => string | undefined,
): World {
  const { root, policy = rootPolicy(root), clock = systemClock, wallTime = () => Date.now() } = world;
  const permit: Permit = (request) => {
    refuseBeyond(request, against);
    return policy.permit(request);
  };
  const files = boundedFiles(world.files, permit);
  return {
    root,
    files,
    shell: world.shell === undefined ? NO_SHELL : boundedShell(world.shell, { files: world.files, permit }),
    http: world.http === undefined ? NO_HTTP : boundedHttp(world.http, permit),
    user: world.user ?? NOBODY,
    clock,
    policy: { permit },
    wallTime,
  };
}

/** The same for a world that asks its own policy before every effect: it is not asked twice, since its shells may do more than the rest. */
export function boundedGuarded(
  world: World,
  against: (request: PermissionRequest) => string | undefined,
): World {
  const { root, files, http, user, clock, policy, shell, commands } = world;
  const bounds: Permit = (request) => refuseBeyond(request, against);
  const bound = (each: Shell) => boundedShell(each, { files, permit: bounds });
  const bounded = boundedWorld(
    { root, files, http, user, clock, policy, wallTime: () => world.wallTime() },
    against,
  );
  return {
    ...bounded,
    shell: bound(shell),
    ...(commands === undefined ? {} : { commands: bound(commands) }),
  };
}

/** Asks about the real path, and uses that one. */
function boundedFiles(raw: Files, permit: Permit): Files {
  async function use<T>(
    kind: "read" | "write",
    path: string,
    work: (real: string) => Promise<T>,
  ): Promise<T> {
    const real = await raw.resolve(path);
    await permit({ kind, value: real });
    return await namedAsGiven(path, real, () => work(real));
  }
  return {
    resolve: (path, options = {}) => use(options.for ?? "read", path, (real) => Promise.resolve(real)),
    stat: (path) => use("read", path, (real) => raw.stat(real)),
    readBytes: (path, options) => use("read", path, (real) => raw.readBytes(real, options)),
    readText: (path, options) => use("read", path, (real) => raw.readText(real, options)),
    writeText: (path, text) => use("write", path, (real) => raw.writeText(real, text)),
    list: (path) => use("read", path, (real) => raw.list(real)),
  };
}

function boundedShell(
  raw: Shell,
  { files, permit }: { readonly files: Files; readonly permit: Permit },
): Shell {
  return {
    async run(command, options) {
      const cwd = await files.resolve(options.cwd ?? ".");
      const detail = [command, ...options.args ?? []].join(" ");
      await permit({ kind: "run", value: command, detail });
      await permit({ kind: "read", value: cwd });
      return await raw.run(command, { ...options, cwd });
    },
  };
}

const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

function boundedHttp(raw: Http, permit: Permit): Http {
  const ask = async (url: string): Promise<void> => {
    const { hostname, port, protocol } = new URL(url);
    await permit({ kind: "net", value: `${hostname}:${port === "" ? PORTS[protocol] ?? "0" : port}` });
  };
  return {
    async fetch(url, options) {
      await ask(url);
      return await raw.fetch(url, options);
    },
    async open(url, options) {
      await ask(url);
      return await raw.open(url, options);
    },
  };
}

/** Reading inside the root, and nothing else. */
function rootPolicy(root: string): Pick<Policy, "permit"> {
  return {
    permit(request) {
      const { kind, value } = request;
      if (kind === "read" && isInside(resolve(root, value), root)) return;
      throw new PermissionRefused(
        `${JSON.stringify(value)} needs ${kind} permission: the world has no policy that gives it`,
        { request, flag: `--allow-${kind}${kind === "read" ? `=${value}` : ""}` },
      );
    },
  };
}

const NO_SHELL: Shell = {
  run: () => Promise.reject(new Error("No command can run here: the world has no shell")),
};

function nothingHere(): Promise<never> {
  return Promise.reject(new Error("Nothing can be fetched here: the world has no http"));
}

const NO_HTTP: Http = {
  fetch: nothingHere,
  open: nothingHere,
};

/** The gadgets of a project, of which the built-in ones touch another world than the project itself. */
export function catalogInWorld(catalog: Catalog, world: World): Catalog {
  const own = new Map(
    builtInEntries({ builtIns: builtInGadgets, world }).map((entry) => [entry.name, entry]),
  );
  const placed = (entry: CatalogEntry): CatalogEntry =>
    (entry.source.kind === "built-in" ? own.get(entry.name) : undefined) ?? entry;
  const { whole } = catalog;
  return {
    entries: catalog.entries.map(placed),
    whole: whole && (async () => (await whole()).map(placed)),
    maybeFind: (name) => {
      const entry = catalog.maybeFind(name);
      return entry && placed(entry);
    },
  };
}

/** The built-in gadgets, in a world. */
export function builtInCatalog(world: World): Catalog {
  return catalogOf(builtInEntries({ builtIns: builtInGadgets, world }).map((entry) => ({ entry })));
}
