// What prepared modules say in place of `import(x)` and `import.meta`. A module finds the modules of its own gadget and no others: in a
// compiled binary nothing else would stop an `import()` of any file. So what is imported is always a text of the table, which inherits
// nothing and is read by syntax alone: whatever a gadget has done to the language, it cannot put a name of its own in there.

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
  const prepared = Object.freeze(Object.assign(Object.create(null), modules));
  const metas = new Map<string, object>();
  return Object.freeze({
    importFrom: Object.freeze(async (base: string, specifier: unknown): Promise<unknown> => {
      const name = String(specifier);
      const url = urlFrom(name, base);
      const found: unknown = url === undefined ? undefined : prepared[url];
      if (typeof found === "string") return await importModule(found);
      throw new TypeError(
        `Cannot import ${
          JSON.stringify(name)
        }: a computed import() finds the modules that the gadget imports by name too, and no others; ` +
          `write import("…") with the name itself`,
      );
    }),
    metaOf: Object.freeze((place: string | readonly string[]): object => {
      const url = typeof place === "string" ? place : String(place[0]);
      const meta = metas.get(url) ?? metaOf(url);
      metas.set(url, meta);
      return meta;
    }),
    facade,
  });
}

/** Undefined for a bare name such as `x.ts`, which no module of a gadget has. */
function urlFrom(specifier: string, base: string): string | undefined {
  const isRelative = /^\.{0,2}\//.test(specifier);
  return URL.parse(specifier, isRelative ? base : undefined)?.href;
}

function metaOf(url: string): object {
  const path = decodeURIComponent(url.slice("file://".length));
  const filename = isWindows ? path.slice(1).replaceAll("/", "\\") : path;
  const slash = filename.lastIndexOf(isWindows ? "\\" : "/");
  return {
    __proto__: null,
    url,
    main: false,
    filename,
    dirname: filename.slice(0, slash <= 0 ? 1 : slash),
    resolve: (specifier: unknown): string => {
      const text = String(specifier);
      const found = urlFrom(text, url);
      if (found !== undefined) return found;
      throw new TypeError(
        `Cannot resolve ${JSON.stringify(text)} from ${url}: expected a relative path or a URL`,
      );
    },
  };
}
