import { jsonProblem, SourceError } from "../../core/core.ts";
import { decodeMap, type Mapping } from "./source_map.ts";
import { GATE_CODE, gateError, type SourceText } from "./source.ts";

/** A module as JavaScript, not yet fit to be run. */
export interface PlainModule {
  readonly code: string;
  /** From `code` to the source; undefined when they are the same. */
  readonly mappings?: readonly Mapping[];
}

/**
 * Turns the text of a module into JavaScript.
 *
 * @throws {SourceError} where it cannot be read
 */
export async function plainModule(source: SourceText, path: string): Promise<PlainModule> {
  if (path.endsWith(".json")) return { code: jsonModule(source) };
  return /\.m?ts$/.test(path) ? await stripped(source) : { code: source.text };
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
  return gateError(source, {
    at: 0,
    message: "Cannot read this TypeScript: it is nested too deeply",
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
