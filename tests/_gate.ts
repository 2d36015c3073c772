// The module gate over files in memory.
import assert from "node:assert/strict";
import { type Files, memoryFiles, SourceError } from "../mod.ts";
import { type PreparedGraph, prepareModules } from "../lib/sandbox/gate/prepare_modules.ts";

/** Where the files of the tests are. */
export const CWD = "/project";

/** Names that the gate of the tests has facades for. */
export const FACADES = { orrery: "", "node:fs": "", "node:fs/promises": "", "node:process": "" };

/** Prepares `gadgets/a.ts`, or the entry that is named. */
export function gate(
  files: Readonly<Record<string, string | Uint8Array>> | Files,
  { entry = "gadgets/a.ts", compiled = false }: { readonly entry?: string; readonly compiled?: boolean } = {},
): Promise<PreparedGraph> {
  const disk = isDisk(files) ? files : memoryFiles(files, { root: CWD });
  return prepareModules(`${CWD}/${entry}`, { disk, cwd: CWD, compiled, facades: FACADES });
}

function isDisk(files: Readonly<Record<string, string | Uint8Array>> | Files): files is Files {
  return typeof files["readBytes"] === "function";
}

/** The code of the entry `gadgets/a.ts` with this text, beside `b.ts`, `c.js` and `d.json`. */
export async function gated(text: string, { entry = "gadgets/a.ts" } = {}): Promise<string> {
  const graph = await gate({
    "gadgets/b.ts": "export const b: number = 1; export default b;",
    "gadgets/c.js": "export const c = 2;",
    "gadgets/d.json": '{ "d": 3 }',
    [entry]: text,
  }, { entry });
  return graph.modules[0]?.code ?? "";
}

/** What the gate says about a text that it refuses: `place: message`. */
export async function refusal(text: string, options: { entry?: string } = {}): Promise<string> {
  return await refused(gated(text, options));
}

/** What a preparation is refused with: `place: message | hint`. */
export async function refused(work: Promise<unknown>): Promise<string> {
  const error = await work.then((made) => made, (thrown: unknown) => thrown);
  assert.ok(error instanceof SourceError, `expected a SourceError, found ${JSON.stringify(error)}`);
  return `${error.place}: ${error.message} | ${error.hint ?? ""}`;
}
