// What prepared modules say in place of `import(x)` and `import.meta`. A module finds the modules of its own gadget and no others: in a
// compiled binary nothing else would stop an `import()` of any file.

import {
  apply,
  bare,
  freeze,
  getterOf,
  keysOf,
  mapGet,
  mapSet,
  OwnMap,
  OwnPromise,
  OwnTypeError,
  partOf,
  quote,
  toText,
} from "./primordials.ts";

/** Where a facade module finds the facades: a property of the global object. */
export const GADGET_DOOR = Symbol.for("orrery.gadget");

/** Where a prepared module finds `import()` and `import.meta`: a global name, so that no variable of the module hides it. */
export const GADGET_DOOR_NAME = "__orreryGadget";

/** What is behind {@linkcode GADGET_DOOR}. */
export interface GadgetDoor {
  /** @param base the URL of the original module that imports */
  readonly importFrom: (base: string, specifier: unknown) => Promise<unknown>;
  /** @param url of the original module; as a tag of a template, a list with it */
  readonly metaOf: (url: string | readonly string[]) => object;
  /** The exports of facade modules by specifier. */
  readonly facade: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const { reject } = Promise;
const OwnUrl = URL;
const hrefOf = getterOf(URL.prototype, "href");
const decode = decodeURIComponent;
const { lastIndexOf, replaceAll } = String.prototype;
const isWindows = Deno.build.os === "windows";

/** Loads a module; it is nobody's but the host's. */
export function importModule(fileUrl: string): Promise<unknown> {
  return import(fileUrl);
}

/** @param modules `file:` URLs: of each original module to that of its prepared form */
export function gadgetDoor(
  modules: Readonly<Record<string, string>>,
  facade: GadgetDoor["facade"],
): GadgetDoor {
  const prepared = new OwnMap<string, string>();
  const names = keysOf(modules);
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? "";
    mapSet(prepared, name, modules[name] ?? "");
  }
  const metas = new OwnMap<string, object>();
  return freeze(bare({
    importFrom: freeze((base: string, specifier: unknown): Promise<unknown> => {
      try {
        return importModule(findModule(prepared, base, toText(specifier)));
      } catch (error) {
        return apply(reject, OwnPromise, [error]);
      }
    }),
    metaOf: freeze((place: string | readonly string[]): object => {
      const url = typeof place === "string" ? place : toText(place[0]);
      const known = mapGet(metas, url);
      if (known !== undefined) return known;
      const meta = metaOf(url);
      mapSet(metas, url, meta);
      return meta;
    }),
    facade,
  }));
}

function findModule(modules: ReadonlyMap<string, string>, base: string, specifier: string): string {
  const found = mapGet(modules, urlFrom(specifier, base) ?? "");
  if (found !== undefined) return found;
  throw new OwnTypeError(
    `Cannot import ${
      quote(specifier)
    }: a computed import() finds the modules that the gadget imports by name too, and no others; ` +
      `write import("…") with the name itself`,
  );
}

/** Undefined for a bare name such as `x.ts`, which no module of a gadget has. */
function urlFrom(specifier: string, base: string): string | undefined {
  const isRelative = partOf(specifier, 0, 2) === "./" || partOf(specifier, 0, 3) === "../" ||
    partOf(specifier, 0, 1) === "/";
  try {
    const url = isRelative ? new OwnUrl(specifier, base) : new OwnUrl(specifier);
    return toText(apply(hrefOf, url, []));
  } catch {
    return undefined;
  }
}

function metaOf(url: string): object {
  const meta: Record<string, unknown> = bare({ url, main: false });
  const filename = pathOf(url);
  meta.filename = filename;
  meta.dirname = partOf(filename, 0, lastSlash(filename));
  meta.resolve = (specifier: unknown): string => {
    const text = toText(specifier);
    const found = urlFrom(text, url);
    if (found !== undefined) return found;
    throw new OwnTypeError(`Cannot resolve ${quote(text)} from ${url}: expected a relative path or a URL`);
  };
  return meta;
}

function lastSlash(path: string): number {
  const at = apply(lastIndexOf, path, [isWindows ? "\\" : "/"]);
  return at <= 0 ? 1 : at;
}

/** The path of a `file:` URL, as the system writes it. */
function pathOf(url: string): string {
  const path = decode(partOf(url, "file://".length));
  return isWindows ? apply(replaceAll, partOf(path, 1), ["/", "\\"]) : path;
}
