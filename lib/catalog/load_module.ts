import { dirname } from "node:path";
import type { CatalogEntry } from "../core/catalog.ts";
import { GADGET_NAME } from "../core/gadget.ts";
import { messageOf, SourceError } from "../core/source_error.ts";
import { checkGadget, gadgetWarnings } from "../schema/check_gadget.ts";
import { type GadgetFile, unreadyEntry } from "./gadget_file.ts";
import { loadExports, type LoadModule, type ModuleExports, thrownWords } from "./module_loader.ts";
import { isInside, shownPath } from "../core/paths.ts";

/** How modules are loaded here. */
export interface LoadModuleOptions {
  readonly importModule: LoadModule;
  readonly cwd: string;
  readonly notice: (text: string) => void;
}

/** Loads the module of a trusted gadget file; whatever is wrong with it becomes a `broken` entry. */
export async function loadGadgetFile(file: GadgetFile, options: LoadModuleOptions): Promise<CatalogEntry> {
  const broken = (problem: string, name?: string) => unreadyEntry(file, { state: "broken", problem, name });
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
