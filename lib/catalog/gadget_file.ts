import { basename, dirname, extname, join } from "node:path";
import {
  type CatalogEntry,
  FileError,
  type Files,
  GADGET_NAME,
  type GadgetSource,
  isInside,
  messageOf,
  shownPath,
  SourceError,
} from "../core/core.ts";
import { checkGadget, gadgetWarnings } from "../schema/define_gadget.ts";
import type { GadgetFolder } from "./config/config.ts";
import { loadExports, type LoadModule, type ModuleExports, thrownWords } from "./module_loader.ts";

/** A file that holds a gadget; its module may not be loaded yet, or ever. */
export interface GadgetFile {
  /** Absolute. */
  readonly path: string;
  /** As messages name it. */
  readonly file: string;
  /** Its name without folder and ending. */
  readonly stem: string;
  readonly source: GadgetSource;
}

/** What was found, and what could not be. */
export interface FoundGadgetFiles {
  readonly files: readonly GadgetFile[];
  readonly problems: readonly SourceError[];
}

/** Where to look, with which eyes. */
export interface FindGadgetFilesOptions {
  readonly disk: Files;
  /** The folder that files are named relative to. */
  readonly cwd: string;
}

/** The modules of the project's gadget folders: every `*.ts` and `*.js` that does not begin with `_` (gadgets.md 2). */
export async function folderGadgets(
  folder: GadgetFolder,
  { disk, cwd }: FindGadgetFilesOptions,
): Promise<FoundGadgetFiles> {
  try {
    const entries = await disk.list(folder.path);
    const modules = entries.filter(({ name, kind }) => kind === "file" && isModuleName(name));
    return {
      files: modules.map(({ name }) => gadgetFile(join(folder.path, name), { kind: "project", cwd })),
      problems: [],
    };
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    if (folder.written === undefined && cause.code === "not-found") return { files: [], problems: [] };
    const message = cause.message.replaceAll(folder.path, shownPath(folder.path, cwd));
    return {
      files: [],
      problems: [new SourceError(message, { code: "E-gadget", cause, ...folder.written })],
    };
  }
}

/** The module of a file that the user named. @param path absolute */
export async function namedGadget(
  path: string,
  { disk, cwd }: FindGadgetFilesOptions,
): Promise<FoundGadgetFiles> {
  const found = gadgetFile(path, { kind: "file", cwd });
  try {
    const { kind } = await disk.stat(path);
    if (kind === "folder") return { files: [], problems: [notModule(found, "it is a folder")] };
    if (!/\.[jt]s$/.test(path)) {
      return { files: [], problems: [notModule(found, `its name does not end with .ts or .js`)] };
    }
    return { files: [found], problems: [] };
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    const why = cause.code === "not-found" ? "no such file" : cause.message;
    return { files: [], problems: [notModule(found, why)] };
  }
}

/** The entry of a file that cannot be called. */
export function brokenEntry({ stem, source }: GadgetFile, problem: string, name = stem): CatalogEntry {
  const load = () => {
    throw new Error(problem);
  };
  return { name, source, state: "broken", problem, load };
}

function gadgetFile(
  path: string,
  { kind, cwd }: { readonly kind: "project" | "file"; readonly cwd: string },
): GadgetFile {
  const file = shownPath(path, cwd);
  return { path, file, stem: basename(path, extname(path)), source: { kind, file } };
}

function isModuleName(name: string): boolean {
  return /^[^_].*\.[jt]s$/.test(name) && !name.endsWith(".d.ts");
}

function notModule({ file }: GadgetFile, why: string): SourceError {
  return new SourceError(`Cannot use --gadget ${file}: ${why}`, {
    code: "E-gadget",
    hint: "Name a TypeScript or JavaScript module whose default export is a gadget.",
  });
}

/** How modules are loaded here. */
interface LoadModuleOptions {
  readonly importModule: LoadModule;
  readonly cwd: string;
  readonly notice: (text: string) => void;
}

/** Loads the module of a trusted gadget file; whatever is wrong with it becomes a `broken` entry. */
export async function loadGadgetFile(file: GadgetFile, options: LoadModuleOptions): Promise<CatalogEntry> {
  const broken = (problem: string, name?: string) => brokenEntry(file, problem, name);
  let exported: ModuleExports;
  try {
    exported = await loadExports(file.path, options.importModule);
  } catch (thrown) {
    return broken(loadProblem(file, thrown, options.cwd));
  }
  const { default: value } = exported;
  if (value === undefined) return broken(noDefault(file));
  try {
    const gadget = checkGadget(value, file.file);
    gadgetWarnings(gadget).forEach((warning) => options.notice(`${file.file}: ${warning}`));
    return { name: gadget.name, source: file.source, state: "ready", load: () => gadget };
  } catch (thrown) {
    const message = messageOf(thrown);
    return broken(
      message.includes(file.file) ? message : `Cannot use ${file.file}: ${message}`,
      nameOf(value),
    );
  }
}

function noDefault({ file }: GadgetFile): string {
  return `Cannot use ${file}: it has no default export, expected "export default { name: …, run(input) { … } }"; the name of a file that only helps others begins with _`;
}

/** So that a call of the name finds what is wrong with it. */
function nameOf(value: unknown): string | undefined {
  const name = ownName(value);
  return typeof name === "string" && GADGET_NAME.test(name) ? name : undefined;
}

function ownName(value: unknown): unknown {
  try {
    return typeof value === "object" && value !== null && "name" in value ? value.name : undefined;
  } catch {
    return undefined; // a getter of the module's own
  }
}

function loadProblem({ path }: GadgetFile, thrown: unknown, cwd: string): string {
  if (thrown instanceof SourceError && thrown.span !== undefined) {
    return `Cannot load ${thrown.place}: ${thrown.message}`;
  }
  const { message, places } = thrownWords(thrown, (file) => shownPath(file, cwd));
  const found = places.find((place) => isInside(place.path, dirname(path)));
  const place = found === undefined
    ? shownPath(path, cwd)
    : `${shownPath(found.path, cwd)}:${found.line}:${found.column}`;
  return `Cannot load ${place}: ${message}`;
}
