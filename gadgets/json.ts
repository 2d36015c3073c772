import type { Gadget } from "../lib/core/gadget.ts";
import { didYouMean } from "../lib/core/nearest.ts";
import { messageOf, SourceError } from "../lib/core/source_error.ts";
import { placeInWords, spanAt } from "../lib/core/span_at.ts";
import type { World } from "../lib/core/world.ts";
import type { JsonValue } from "jsonpath-rfc9535";
import { jsonProblem } from "./_json_problem.ts";
import { refusedPattern, withoutTexts } from "./_path_pattern.ts";
import { followPointer } from "./_pointer.ts";

interface Input {
  readonly value?: unknown;
  readonly pointer?: string;
  readonly path?: string;
  readonly pretty?: boolean;
}

/** `Json`: reads JSON text and picks from it. */
export default function json(_world: World): Gadget<Input> {
  return {
    name: "Json",
    description:
      "Reads JSON and picks from it: with `pointer` the one value it leads to (an error when there is none), with " +
      "`path` an array of all values that a JSONPath matches, with neither the whole value. Use it to check that text is " +
      "JSON, or to take a part of the result of another call.",
    input: {
      type: "object",
      properties: {
        value: { description: "JSON text, or a JSON value. Text is always read as JSON." },
        pointer: {
          type: "string",
          description: 'A JSON pointer (RFC 6901) such as "items/0/name"; its first "/" may be left out.',
        },
        path: { type: "string", description: 'A JSONPath (RFC 9535) such as "$.items[?@.price < 10].name".' },
        pretty: {
          type: "boolean",
          description:
            "True returns JSON text, indented by two blanks, in place of the value. Default: false.",
        },
      },
      required: ["value"],
      additionalProperties: false,
    },
    idempotent: true,
    repeatable: false,
    timeoutMs: 30_000,
    examples: [
      { input: { value: '{"items": [{"name": "pen"}]}', pointer: "items/0/name" }, comment: '"pen"' },
      { input: { value: { a: [{ n: 1 }, { n: 5 }] }, path: "$.a[?@.n > 2]" }, comment: '[{"n": 5}]' },
    ],
    async run({ value, pointer, path, pretty = false }) {
      if (pointer !== undefined && path !== undefined) {
        throw new Error('Found both "pointer" and "path", expected at most one of them');
      }
      const whole = typeof value === "string" ? readJson(value) : value ?? null;
      const picked = path !== undefined ? await pickByPath(whole, path) : pickByPointer(whole, pointer ?? "");
      return pretty ? JSON.stringify(picked, null, 2) : picked;
    },
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const problem = jsonProblem(text);
    if (problem === undefined) throw new Error(`Cannot read value as JSON: ${messageOf(cause)}`, { cause });
    const span = spanAt(text, problem.offset);
    const { found, expected } = problem;
    throw new SourceError(
      `Cannot read value as JSON: found ${found} at ${placeInWords(text, span)}, expected ${expected}`,
      { span, source: text, code: "E-json" },
    );
  }
}

function pickByPointer(whole: unknown, pointer: string): unknown {
  const pointed = followPointer(whole, pointer);
  if ("problem" in pointed) throw new Error(`Nothing at pointer "${pointer}": ${pointed.problem}`);
  return pointed.value;
}

async function pickByPath(whole: unknown, path: string): Promise<unknown> {
  const { query } = await import("jsonpath-rfc9535");
  try {
    checkFunctions(path);
    checkDescents(path);
    checkPatterns(path);
    // The library's type is a mutable one; it only reads.
    return query(whole as JsonValue, path);
  } catch (cause) {
    throw pathError(path, cause);
  }
}

/** Each ".." multiplies the work by the size of the value, and nothing can stop the library in between. */
function checkDescents(path: string): void {
  const descents = withoutTexts(path).match(/\.\./g)?.length ?? 0;
  if (descents > 2) throw new Error(`it holds ".." ${descents} times, at most 2 are run`);
}

/** The functions of RFC 9535, section 2.4; the library takes a call of any other as false, the RFC as an error. */
const PATH_FUNCTIONS = ["length", "count", "match", "search", "value"];

function checkFunctions(path: string): void {
  for (const { 1: name = "", index } of withoutTexts(path).matchAll(/([a-z][a-z0-9_]*)\(/g)) {
    if (PATH_FUNCTIONS.includes(name)) continue;
    const near = didYouMean(name, PATH_FUNCTIONS) || ` The functions are ${PATH_FUNCTIONS.join(", ")}.`;
    throw pathProblem(path, index, {
      found: `the function "${name}", which JSONPath does not have`,
      advice: near,
    });
  }
}

function checkPatterns(path: string): void {
  const refused = refusedPattern(path);
  if (refused !== undefined) throw pathProblem(path, refused.offset, { found: refused.why, advice: "" });
}

/** The parser of the library throws an error with a `location`. */
function pathError(path: string, cause: unknown): Error {
  const offset = offsetOf(cause);
  if (cause instanceof SourceError) return cause;
  if (offset === undefined) return new Error(`Cannot use path "${path}": ${messageOf(cause)}`, { cause });
  const found = offset < path.length ? JSON.stringify(path.slice(offset, offset + 1)) : "the end";
  const advice = path.startsWith("$") ? "" : ' A JSONPath begins with "$", such as $.items[0].name.';
  return pathProblem(path, offset, { found, advice });
}

function pathProblem(
  path: string,
  offset: number,
  say: { readonly found: string; readonly advice: string },
): SourceError {
  const span = spanAt(path, offset);
  const message = `Cannot read path "${path}": found ${say.found} at ${
    placeInWords(path, span)
  }.${say.advice}`;
  return new SourceError(message, { span, source: path, code: "E-json-path" });
}

function offsetOf(cause: unknown): number | undefined {
  if (typeof cause !== "object" || cause === null || !("location" in cause)) return undefined;
  const location = cause.location as { readonly start?: { readonly offset?: unknown } } | undefined;
  const offset = location?.start?.offset;
  return typeof offset === "number" ? offset : undefined;
}
