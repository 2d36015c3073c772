import { jsonProblem } from "../../core/json_fault.ts";
import { SourceError } from "../../core/source_error.ts";
import type { RuntimeStripped } from "../../host/strip_process.ts";
import { decodeMap, type Mapping } from "./source_map.ts";
import { GATE_CODE, gateError, type SourceText } from "./source_text.ts";

/** A module as JavaScript, not yet fit to be run. */
export interface PlainModule {
  readonly code: string;
  /** From `code` to the source; undefined when they are the same. */
  readonly mappings?: readonly Mapping[];
}

/** What may be no module of ECMAScript: the runtime would let it pass, as Node's own. */
const FOREIGN = /<!--|-->|\bmodule\b|\b(?:import\s+[\w$]+|export)\s*=/;

/** What the runtime's own stripper makes of a text; undefined for what it cannot say. */
export type StripByRuntime = (text: string) => Promise<RuntimeStripped>;

/**
 * Turns the text of a module into JavaScript.
 *
 * @param options.strip is asked first. Default: nobody is
 * @throws {SourceError} where it cannot be read
 */
export async function plainModule(
  source: SourceText,
  path: string,
  { strip }: { readonly strip?: StripByRuntime } = {},
): Promise<PlainModule> {
  if (path.endsWith(".json")) return { code: jsonModule(source) };
  if (!/\.m?ts$/.test(path)) return { code: source.text };
  const done = FOREIGN.test(source.text) ? undefined : await strip?.(source.text);
  if (done === undefined) return await stripped(source);
  if ("problem" in done) throw done.problem === "crash" ? tooDeep(source) : tooSlow(source);
  return { code: done.code, mappings: decodeMap(done.map) };
}

async function stripped(source: SourceText): Promise<PlainModule> {
  // Heavy: only where there is TypeScript.
  const { loadAmaro }: typeof import("./load_amaro.ts") = await import("./load_amaro.ts" as string);
  const strip = await loadAmaro();
  const done = strip(source.text, source.file);
  if ("code" in done) return { code: done.code, mappings: decodeMap(done.map) };
  if ("crash" in done) throw tooDeep(source);
  const { line, column, problem } = done;
  throw new SourceError(`Cannot read this TypeScript: ${problem}`, {
    span: { file: source.file, line, column },
    source: source.text,
    code: GATE_CODE,
    hint: "Correct the syntax; JSX is not there",
  });
}

function tooDeep(source: SourceText): SourceError {
  return unreadable(source, "it is nested too deeply");
}

function tooSlow(source: SourceText): SourceError {
  return unreadable(source, "it takes too long");
}

function unreadable(source: SourceText, why: string): SourceError {
  return gateError(source, {
    at: 0,
    message: `Cannot read this TypeScript: ${why}`,
    hint: "Split its longest expressions",
  });
}

/** A module whose default export is the value. */
function jsonModule(source: SourceText): string {
  try {
    JSON.parse(source.text);
  } catch (thrown) {
    throw jsonError(source, thrown);
  }
  return `export default JSON.parse(${JSON.stringify(source.text)});\n`;
}

function jsonError(source: SourceText, thrown: unknown): SourceError {
  const message = thrown instanceof Error ? thrown.message : "";
  const at = jsonProblem(source.text)?.start ?? 0;
  const words = message.replace(/ \(line \d+ column \d+\)$/, "").replace(/ in JSON at position \d+$/, "");
  return gateError(source, { at, message: `Cannot read this JSON: ${words}`, hint: "Correct it there" });
}
