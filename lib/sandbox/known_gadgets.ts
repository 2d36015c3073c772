// What was found out about a gadget's module: what it is prepared to, and what it says of itself. It is kept among the user's own files,
// never in the project: what came with a repository must not say what its code is.
import {
  type Files,
  type GadgetDescription,
  isRecord,
  type Json,
  maybeText,
  sha256,
  shownPath,
  toJson,
} from "../core/core.ts";
import type { PreparedGraph, PreparedModule } from "./gate/prepare_modules.ts";
import { MAX_GRAPH_BYTES, readSource } from "./gate/source.ts";
import { readMessage } from "./gadget/messages.ts";

/** Counted up with every change of what preparing and describing give. */
const VERSION = 1;

/** A gadget module that was looked at. */
export interface KnownGadget {
  readonly graph: PreparedGraph;
  readonly gadget: GadgetDescription;
  /** What it told the console meanwhile, or the beginning of it; absent when that was nothing. */
  readonly said?: string;
}

/** More of what a module tells the console is not kept. */
const MOST_SAID = 4_096;

/** Where modules are, and where it is kept what they are. */
export interface KnownGadgetsOptions {
  readonly disk: Files;
  /** A folder of the user's own, that others do not read and no run writes. Absent: nothing is kept. */
  readonly kept?: Files;
  readonly cwd: string;
  /** The compiled binary: its gate lets less pass. */
  readonly compiled: boolean;
}

/** What is known of the module, if every file of it is as it was then. @param path of the entry: real and absolute */
export async function maybeKnownGadget(
  path: string,
  options: KnownGadgetsOptions,
): Promise<KnownGadget | undefined> {
  const { kept, cwd } = options;
  const text = kept && await maybeText(kept, fileOf(path, options));
  const known = text === undefined ? undefined : maybeKnown(text);
  if (known === undefined || !await areUnchanged(known.graph.modules, path, options)) return undefined;
  const modules = known.graph.modules.map((module) => ({ ...module, file: shownPath(module.path, cwd) }));
  return { ...known, graph: { ...known.graph, modules } };
}

/** Whether these are the modules of the entry, and every file of them is as it was. */
async function areUnchanged(
  modules: readonly KeptModule[],
  path: string,
  { disk }: KnownGadgetsOptions,
): Promise<boolean> {
  if (modules[0]?.path !== path) return false;
  let left = MAX_GRAPH_BYTES;
  for (const { path, sha256 } of modules) {
    const read = await readSource(path, { disk, left });
    if ("problem" in read || read.sha256 !== sha256) return false;
    left -= read.bytes;
  }
  return true;
}

type KeptModule = Pick<PreparedModule, "path" | "sha256">;

function textOf(value: unknown, name: string): string {
  const found = isRecord(value) ? value[name] : undefined;
  if (typeof found === "string") return found;
  throw new TypeError(`expected a text as ${name}`);
}

/** Keeps what was found out. */
export async function keepKnownGadget(known: KnownGadget, options: KnownGadgetsOptions): Promise<void> {
  const path = known.graph.modules[0]?.path;
  if (options.kept === undefined || path === undefined) return;
  const { said, ...others } = known;
  const kept = said === undefined || said === "" ? {} : { said: said.slice(0, MOST_SAID) };
  const text = JSON.stringify({ version: VERSION, ...others, ...kept });
  await options.kept.writeText(fileOf(path, options), text);
}

function fileOf(path: string, { compiled }: { readonly compiled: boolean }): string {
  return `${sha256(`${path}\n${compiled}`)}.json`;
}

/** Undefined for what another version wrote, and for what cannot be read: it is found out again. */
function maybeKnown(text: string): KnownGadget | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || value.version !== VERSION || !isRecord(value.graph)) return undefined;
    const { hash, modules } = value.graph;
    if (typeof hash !== "string" || !Array.isArray(modules)) return undefined;
    const message = readMessage({ type: "loaded", gadget: toJson(value.gadget) });
    if (message.type !== "loaded") return undefined;
    const said = typeof value.said === "string" ? { said: value.said } : {};
    return { graph: { hash, modules: modules.map(moduleOf) }, gadget: message.gadget, ...said };
  } catch {
    return undefined;
  }
}

function moduleOf(value: Json): PreparedModule {
  const text = (name: string): string => textOf(value, name);
  const [path, file, sha256, output, code] = ["path", "file", "sha256", "output", "code"].map(text);
  if (
    path === undefined || file === undefined || sha256 === undefined || output === undefined ||
    code === undefined
  ) throw new TypeError("expected a module");
  const hasMap = isRecord(value) && value.map !== undefined;
  return { path, file, sha256, output, code, ...(hasMap && { map: text("map") }) };
}
