import { dirname, extname } from "../core/path.ts";
import { pathToFileURL } from "node:url";
import type { CatalogEntry } from "../core/catalog.ts";
import { GADGET_NAME } from "../core/gadget.ts";
import { messageOf } from "../core/source_error.ts";
import type { Files } from "../core/world.ts";
import { checkGadget, gadgetWarnings } from "../schema/check_gadget.ts";
import { type GadgetFile, unreadyEntry } from "./gadget_file.ts";
import { loadExports, type ModuleExports } from "./module_loader.ts";
import { isInside } from "./project_path.ts";
import { shownPath } from "./shown_path.ts";
import { thrownWords } from "./thrown_words.ts";

/** How modules are loaded here. */
export interface LoadModuleOptions {
  readonly importModule: (fileUrl: string) => Promise<unknown>;
  /** The compiled binary: no TypeScript, no `orrery` and no packages to import. */
  readonly compiled: boolean;
  readonly disk: Files;
  readonly cwd: string;
  readonly notice: (text: string) => void;
}

/** Loads the module of a trusted gadget file; whatever is wrong with it becomes a `broken` entry. */
export async function loadGadgetFile(file: GadgetFile, options: LoadModuleOptions): Promise<CatalogEntry> {
  const broken = (problem: string, name?: string) =>
    unreadyEntry(file, { state: "broken", problem, ...(name !== undefined && { name }) });
  const unfit = options.compiled ? await unfitForBinary(file, options.disk) : undefined;
  if (unfit !== undefined) return broken(notInBinary(file, unfit));
  let exported: ModuleExports;
  try {
    exported = await loadExports(file.path, (path) => options.importModule(pathToFileURL(path).href));
  } catch (thrown) {
    return broken(await loadProblem(file, thrown, options.cwd));
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
  return `Cannot use ${file}: it has no default export, expected "export default { name: …, run(input) { … } }"`;
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

async function loadProblem({ path }: GadgetFile, thrown: unknown, cwd: string): Promise<string> {
  const { message, places } = await thrownWords(thrown, (file) => shownPath(file, cwd));
  const found = places.find((place) => isInside(place.path, dirname(path)));
  const place = found === undefined
    ? shownPath(path, cwd)
    : `${shownPath(found.path, cwd)}:${found.line}:${found.column}`;
  return `Cannot load ${place}: ${message}`;
}

/** Why the module cannot run in the compiled binary, as far as its own text tells. */
async function unfitForBinary({ path }: GadgetFile, disk: Files): Promise<string | undefined> {
  if (extname(path) === ".ts") return "it is TypeScript";
  // A file that cannot be read cannot be imported either, and that error says why.
  const text = await disk.readText(path).catch(() => "");
  const imports = (name: string) => new RegExp(`\\b(?:from|import)\\s*\\(?\\s*["']${name}["']`).test(text);
  if (imports("orrery")) return `it imports "orrery"`;
  if (imports("npm:[^\"']*")) return "it imports an npm: package";
  return imports("\\.[^\"']*\\.ts") ? "it imports TypeScript" : undefined;
}

/**
 * Why a binary does not: it holds no compiler for modules that were not built in, and `orrery` is no package on the disk
 * that a module beside it could find.
 */
function notInBinary({ file, stem }: GadgetFile, why: string): string {
  return `Cannot load gadget "${stem}" here: ${file} cannot run in the compiled orrery, since ${why}; ` +
    `the binary loads plain JavaScript only. Run Orrery with "deno run", where TypeScript, "orrery" and npm: packages work`;
}
