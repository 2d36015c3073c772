// The module gate: from a gadget's file to JavaScript that can be imported in a process where nothing checks imports. Everything that a
// module loads was found here, judged by its real path, read once, and written anew as an import of a file beside it.
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Files, sha256, shownPath, wayInside } from "../../core/core.ts";
import { facadeFile, PURE_NODE_NAMES } from "../facade_modules.ts";
import type { ImportsOrProblem, NamedImport } from "./imports.ts";
import { type PlainModule, plainModule } from "./plain_module.ts";
import { gateError, MAX_GRAPH_BYTES, readSource, type SourceText } from "./source.ts";
import { decodeMap, type Mapping, sourcePlace } from "./map_stack.ts";

/** Of a gadget, the entry included. */
const MAX_MODULES = 200;

/** What preparing needs of the world. */
export interface PrepareOptions {
  readonly disk: Files;
  /** Absolute: messages name files from here. */
  readonly cwd: string;
  /** The compiled binary: no packages. */
  readonly compiled: boolean;
  /** The text of the module that stands for each of these names, such as `node:fs` and `orrery`. */
  readonly facades: Readonly<Record<string, string>>;
  /** Real and absolute: what modules import has to lie in it. Default: the folder of the entry. */
  readonly folder?: string;
}

/** A module that is to be prepared, and the import that asked for it first. */
interface Wanted {
  readonly path: string;
  readonly way: string;
  readonly output: string;
  readonly asked?: {
    readonly source: SourceText;
    readonly at: number;
    readonly length: number;
    readonly specifier: string;
  };
}

/**
 * Reads a gadget's module and everything it imports, and makes JavaScript of it.
 *
 * @param path of the entry; a link is followed, and what it imports has to lie in the folder it leads to, or below
 * @throws {SourceError} at the import that is refused, or where a module cannot be read
 */
export async function prepareModules(path: string, options: PrepareOptions): Promise<PreparedGraph> {
  return await new Preparation(await options.disk.resolve(path), options).run();
}

class Preparation {
  readonly #options: PrepareOptions;
  readonly #folder: string;
  readonly #wanted = new Map<string, Wanted>();
  #left = MAX_GRAPH_BYTES;

  constructor(entry: string, options: PrepareOptions) {
    this.#options = options;
    this.#folder = options.folder ?? dirname(entry);
    this.#want(entry, wayInside(this.#folder, entry) ?? entry);
  }

  async run(): Promise<PreparedGraph> {
    const modules: PreparedModule[] = [];
    for (const wanted of this.#wanted.values()) modules.push(await this.#prepare(wanted)); // grows while it runs
    const ways = [...this.#wanted.values()];
    const hashed = modules.map(({ sha256 }, index) => ({ way: ways[index]?.way ?? "", sha256 }));
    return { modules, hash: graphHash(hashed) };
  }

  #want(path: string, way: string, asked?: Wanted["asked"]): Wanted {
    const known = this.#wanted.get(path);
    if (known !== undefined) return known;
    const wanted = { path, way, output: `${this.#wanted.size}.js`, asked };
    this.#wanted.set(path, wanted);
    return wanted;
  }

  async #prepare(wanted: Wanted): Promise<PreparedModule> {
    const { path, output } = wanted;
    const file = shownPath(path, this.#options.cwd);
    const { text, sha256 } = await this.#read(wanted, file);
    const source = { file, text };
    const read = await plainModule(source, path);
    const plain = { ...read, mappings: read.map === undefined ? undefined : decodeMap(read.map) };
    const { editText, findImports, importEdit }: typeof import("./imports.ts") = await import(
      "./imports.ts" as string
    );
    const { imports, edits } = checked(findImports(plain.code, pathToFileURL(path).href), plain, source);
    const all = [...edits];
    for (const found of imports) {
      all.push(importEdit(plain.code, found, await this.#target(found, { source, plain, path })));
    }
    const { code, moved } = editText(plain.code, all);
    const isSame = path.endsWith(".json") || plain.map === undefined && moved.length === 0;
    return {
      path,
      file,
      sha256,
      output,
      code,
      ...(!isSame && { map: JSON.stringify({ types: plain.map, moved }) }),
    };
  }

  async #read(
    { path, asked }: Wanted,
    file: string,
  ): Promise<{ readonly text: string; readonly sha256: string }> {
    const read = await readSource(path, { disk: this.#options.disk, left: this.#left });
    if ("problem" in read) {
      if (asked === undefined) {
        throw gateError({ file, text: "" }, {
          at: 0,
          message: `Cannot load the gadget's module: ${read.problem}`,
        });
      }
      const message = `Cannot import ${JSON.stringify(asked.specifier)}: ${read.problem}`;
      throw gateError(asked.source, { ...asked, message, hint: `It stands for ${file}` });
    }
    this.#left -= read.bytes;
    return read;
  }

  /** What an import is written as. */
  async #target(
    found: NamedImport,
    { source, plain, path }: {
      readonly source: SourceText;
      readonly plain: MappedModule;
      readonly path: string;
    },
  ): Promise<string> {
    const { specifier } = found;
    const place = sourceOffset(found.at, { plain, source, specifier });
    const target = importTarget(specifier, { ...found, ...this.#options });
    switch (target.kind) {
      case "refused":
        throw gateError(source, { ...place, message: target.message, hint: target.hint });
      case "outside":
        return target.name;
      case "facade":
        return `./${facadeFile(target.name)}`;
      case "file":
        return `./${(await this.#file(path, { source, specifier, isJson: target.isJson, ...place })).output}`;
      default:
        return target satisfies never;
    }
  }

  async #file(
    importer: string,
    asked: NonNullable<Wanted["asked"]> & { readonly isJson: boolean },
  ): Promise<Wanted> {
    const refuse = (why: string, hint: string) =>
      gateError(asked.source, {
        ...asked,
        message: `Cannot import ${JSON.stringify(asked.specifier)}: ${why}`,
        hint,
      });
    const path = pathOf(asked.specifier, importer);
    if (path === undefined) throw refuse("it is no path of a file", "Write the name of the file as it is");
    const real = await this.#options.disk.resolve(path);
    const way = wayInside(this.#folder, real);
    if (way === undefined) {
      throw refuse(
        `it leads to ${shownPath(real, this.#options.cwd)}, which is not in the gadget's own folder`,
        `Expected a file in ${
          shownPath(this.#folder, this.#options.cwd)
        }, or below it: move or copy it there`,
      );
    }
    if (/(?:^|\/)\./.test(way)) {
      throw refuse("files and folders whose names begin with a dot are no modules", "Give it another name");
    }
    if (!isModuleFile(real, asked.isJson)) {
      throw refuse(
        `it is a link to ${shownPath(real, this.#options.cwd)}, which is of another kind`,
        "Import that file by its own name",
      );
    }
    if (!this.#wanted.has(real) && this.#wanted.size >= MAX_MODULES) {
      throw refuse(`a gadget has at most ${MAX_MODULES} modules`, "Bundle some of them into one file");
    }
    return this.#want(real, way, asked);
  }
}

/** A module with its source map read: every import of it is looked up there. */
interface MappedModule extends PlainModule {
  readonly mappings: readonly Mapping[] | undefined;
}

function checked(
  found: ImportsOrProblem,
  plain: MappedModule,
  source: SourceText,
): Exclude<ImportsOrProblem, { readonly problem: unknown }> {
  if ("imports" in found) return found;
  const { at, message, hint } = found.problem;
  throw gateError(source, { ...sourceOffset(at, { plain, source, specifier: "" }), message, hint });
}

/** Where a place of the JavaScript is in the source: exactly, where the specifier stands in that line as it is. */
function sourceOffset(
  at: number,
  { plain, source, specifier }: {
    readonly plain: MappedModule;
    readonly source: SourceText;
    readonly specifier: string;
  },
): { readonly at: number; readonly length: number } {
  const length = Math.max(1, specifier.length + 2);
  if (plain.mappings === undefined) return { at, length };
  const before = plain.code.slice(0, at);
  const line = before.split("\n").length - 1;
  const column = at - (before.lastIndexOf("\n") + 1);
  const place = sourcePlace(plain.mappings, { line, column });
  const start = place === undefined ? 0 : offsetOf(source.text, place);
  const exact = source.text.indexOf(specifier, start) - 1;
  return exact >= start && exact - start < 200 ? { at: exact, length } : { at: start, length: 1 };
}

function offsetOf(
  text: string,
  { line, column }: { readonly line: number; readonly column: number },
): number {
  let start = 0;
  for (let lines = 0; lines < line; lines++) start = text.indexOf("\n", start) + 1;
  return start + column;
}

/** A relative specifier is a part of a URL; undefined for one that is no path, such as one with `%2F`. */
function pathOf(specifier: string, importer: string): string | undefined {
  try {
    return fileURLToPath(new URL(specifier, pathToFileURL(importer)));
  } catch {
    return undefined;
  }
}

function isModuleFile(path: string, isJson: boolean): boolean {
  return isJson ? path.endsWith(".json") : /(?<!\.d)\.m?[tj]s$/.test(path);
}

/** Goes up when the same files would be made into something else: what was kept under the old hash is then made anew. */
const PIPELINE = 3;

/**
 * The hash of a gadget's modules.
 *
 * @param modules the entry first; `way` is the path below the entry's folder, with `/`
 */
function graphHash(modules: readonly { readonly way: string; readonly sha256: string }[]): string {
  const files = modules.map(({ way, sha256 }) => [way, sha256] as const).sort(([a], [b]) => a < b ? -1 : 1);
  return sha256(JSON.stringify({ pipeline: PIPELINE, entry: modules[0]?.way, files }));
}

/** What a specifier stands for, before any file is looked at. */
type ImportTarget =
  | { readonly kind: "file"; readonly isJson: boolean }
  | { readonly kind: "facade"; readonly name: string }
  /** Left as it is: a module of Node that only computes, or a package. */
  | { readonly kind: "outside"; readonly name: string }
  | { readonly kind: "refused"; readonly message: string; readonly hint: string };

/** What is known of a specifier where it stands. */
interface SpecifierUse {
  /** The import attribute `type`. */
  readonly type?: string;
  readonly facades: Readonly<Record<string, string>>;
  readonly compiled: boolean;
}

/** Says what a specifier means, by its text alone. */
function importTarget(specifier: string, use: SpecifierUse): ImportTarget {
  if (/^\.\.?\//.test(specifier)) return fileTarget(specifier, use);
  const name = builtIn(specifier, use.facades);
  if (use.type !== undefined && (name !== undefined || specifier.startsWith("npm:"))) {
    return refused(
      specifier,
      `only files are imported with { type: "${use.type}" }`,
      "Take the attribute out",
    );
  }
  if (name !== undefined) return name;
  if (specifier.startsWith("npm:")) return packageTarget(specifier, use);
  if (specifier.startsWith("node:")) {
    return refused(specifier, "a gadget has no such module", nodeHint(specifier, use));
  }
  if (/^(?:[a-z][a-z0-9+.-]*:|[/\\])/i.test(specifier)) {
    return refused(
      specifier,
      'expected a file beside the gadget ("./name.ts"), "orrery", a "node:" module or an "npm:" package',
      "Copy what is needed into the gadget's folder and import it by a relative path; what is data, read in `run` with a permission",
    );
  }
  return refused(
    specifier,
    "it names no file: a relative path begins with ./ or ../",
    `Write "./${specifier}" for a file, "npm:${specifier}" for a package; of other names there are ${
      nodeNames(use)
    }`,
  );
}

/** With `node:` or without it. */
function builtIn(specifier: string, facades: Readonly<Record<string, string>>): ImportTarget | undefined {
  for (const name of specifier.startsWith("node:") ? [specifier] : [specifier, `node:${specifier}`]) {
    if (Object.hasOwn(facades, name)) return { kind: "facade", name };
    if (PURE_NODE_NAMES.has(name)) return { kind: "outside", name };
  }
  return undefined;
}

const ENDING = /\.(?:ts|js|mts|mjs|json)$/;

function fileTarget(specifier: string, { type }: SpecifierUse): ImportTarget {
  if (/[?#]/.test(specifier)) {
    return refused(specifier, "a path of a module has no ? and no #", "Take that part out");
  }
  if (/\.d\.m?ts$/.test(specifier)) {
    return refused(specifier, "it holds types only", "Write `import type`, which loads nothing");
  }
  if (!ENDING.test(specifier)) {
    return refused(
      specifier,
      "expected an ending .ts, .js, .mts, .mjs or .json",
      "Write the whole name of the file; JSX and CommonJS cannot be loaded",
    );
  }
  const isJson = specifier.endsWith(".json");
  if (isJson === (type === "json") && (isJson || type === undefined)) return { kind: "file", isJson };
  return isJson
    ? refused(specifier, "JSON needs its attribute", 'Write `with { type: "json" }` behind it')
    : refused(
      specifier,
      `{ type: "${type}" } is not there`,
      'Only JSON is imported with an attribute, `with { type: "json" }`; read any other data in `run` with a permission',
    );
}

/** Nothing that would need an escape in a text. */
const PACKAGE = /^npm:\/?(?:@[\w-][\w.~-]*\/)?[\w-][\w.~-]*(?:@[\w.~^+*-]+)?(?:(?:\/[\w@+-][\w.~@+-]*)*)$/;

function packageTarget(specifier: string, { compiled }: SpecifierUse): ImportTarget {
  if (compiled) {
    return refused(
      specifier,
      "the compiled orrery cannot load packages",
      'Run Orrery with "deno run", where npm: packages work, or bundle the package into a file beside the gadget',
    );
  }
  return PACKAGE.test(specifier) ? { kind: "outside", name: specifier } : refused(
    specifier,
    "it is no name of a package",
    "Write npm:name, npm:name@1.2.3 or npm:@scope/name@1.2.3/path",
  );
}

function nodeHint(specifier: string, use: SpecifierUse): string {
  const instead = /^node:(?:child_process|https?|net)$/.test(specifier)
    ? "Commands are run with `new Deno.Command(…).output()`, requests made with `fetch`. "
    : "";
  return `${instead}There are ${nodeNames(use)}`;
}

function nodeNames({ facades }: SpecifierUse): string {
  return [...new Set([...Object.keys(facades), ...PURE_NODE_NAMES])].sort().join(", ");
}

function refused(specifier: string, message: string, hint: string): ImportTarget {
  return { kind: "refused", message: `Cannot import ${JSON.stringify(specifier)}: ${message}`, hint };
}

/** A module of a gadget, ready to run. */
export interface PreparedModule {
  /** The real, absolute path of the original. */
  readonly path: string;
  /** How messages name it: from the working folder. */
  readonly file: string;
  /** Of the bytes of the original, 64 hexadecimal digits. */
  readonly sha256: string;
  /** The name of the file that it is written to: `0.js` for the entry. */
  readonly output: string;
  /** JavaScript; what it imports are outputs beside it, facades (`facadeFile`), and modules of Node and of npm. */
  readonly code: string;
  /** From `code` to the original, for `mapStack`: JSON. Absent when every place is the same in both. */
  readonly map?: string;
}

/** Everything that a gadget's module imports, itself first. */
export interface PreparedGraph {
  readonly modules: readonly PreparedModule[];
  /** Of the paths below the entry's folder and the hashes there: 64 hexadecimal digits. */
  readonly hash: string;
}
