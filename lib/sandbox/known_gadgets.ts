// What was found out about a gadget's module: what it is prepared to, and what it says of itself. It is kept among the user's own files,
// never in the project: what came with a repository must not say what its code is.
import { type Files, type GadgetDescription, isRecord, maybeText, sha256, shownPath } from "../core/core.ts";
import type { PreparedGraph, PreparedModule } from "./gate/prepare_modules.ts";
import { MAX_GRAPH_BYTES, readSource } from "./gate/source.ts";
import { description, list, object, text } from "./gadget/messages.ts";

/** Counted up with every change of what preparing and describing give. */
const VERSION = 2;

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
  modules: readonly PreparedModule[],
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
    return isRecord(value) && value.version === VERSION ? knownGadget(value, "it", "") : undefined;
  } catch {
    return undefined;
  }
}

const module = object<PreparedModule>({
  path: text,
  file: text,
  sha256: text,
  output: text,
  code: text,
  map: [text],
});

const knownGadget = object<KnownGadget>({
  graph: object<PreparedGraph>({ modules: list(module), hash: text }),
  gadget: description,
  said: [text],
});
