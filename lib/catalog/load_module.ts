import { dirname, extname, sep } from "../core/path.ts";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CatalogEntry } from "../core/catalog.ts";
import { GADGET_NAME } from "../core/gadget.ts";
import { messageOf } from "../core/source_error.ts";
import type { Files } from "../core/world.ts";
import { checkGadget, gadgetWarnings } from "../schema/check_gadget.ts";
import { type GadgetFile, unreadyEntry } from "./gadget_file.ts";
import { shownPath } from "./shown_path.ts";

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
  let exported: unknown;
  try {
    exported = await inTime(options.importModule(pathToFileURL(file.path).href));
  } catch (thrown) {
    return broken(loadProblem(file, thrown, options.cwd));
  }
  const value = defaultOf(exported);
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

/** A module may wait for ever at its top; the calls of other gadgets do not. */
const LOAD_LIMIT_MS = 10_000;

async function inTime<Module>(loading: Promise<Module>): Promise<Module> {
  const late = Promise.withResolvers<never>();
  const limit = `it did not finish loading within ${
    LOAD_LIMIT_MS / 1000
  } s; take the waiting out of the top of the module`;
  const timer = setTimeout(() => late.reject(new Error(limit)), LOAD_LIMIT_MS);
  try {
    return await Promise.race([loading, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function defaultOf(exported: unknown): unknown {
  return typeof exported === "object" && exported !== null && "default" in exported
    ? exported.default
    : undefined;
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

function loadProblem(file: GadgetFile, thrown: unknown, cwd: string): string {
  const message = messageOf(thrown);
  const place = placeOf(file, thrown) ?? { path: file.path };
  const where = place.line === undefined ? "" : `:${place.line}:${place.column}`;
  return `Cannot load ${shownPath(place.path, cwd)}${where}: ${firstLine(message, cwd)}`;
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

interface Place {
  readonly path: string;
  readonly line?: string;
  readonly column?: string;
}

/** The first place in the message or the stack that is in the module's own folder or below it. */
function placeOf({ path }: GadgetFile, thrown: unknown): Place | undefined {
  const text = thrown instanceof Error ? `${thrown.message}\n${thrown.stack ?? ""}` : "";
  for (const [, url = "", line = "", column = ""] of text.matchAll(/(file:\/\/[^\s"'()]+?):(\d+):(\d+)/g)) {
    const found = pathOf(url);
    if (found?.startsWith(dirname(path) + sep)) return { path: found, line, column };
  }
  return undefined;
}

function pathOf(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

/** Deno adds the place and a picture of the line to some messages; the place is told in front already. */
function firstLine(message: string, cwd: string): string {
  const [first = ""] = message.split("\n");
  const shown = (url: string) => shownPath(pathOf(url) ?? url, cwd);
  return first.replace(/ at file:\/\/\S+:\d+:\d+$/, "").replaceAll(/file:\/\/[^\s"']+/g, shown);
}
