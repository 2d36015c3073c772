import {
  type Gadget,
  type Json,
  jsonProblem,
  messageOf,
  onlyFields,
  parseJson,
  placeInWords,
  SourceError,
  spanAt,
  toJson,
  type World,
} from "../lib/core/core.ts";
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
    input: onlyFields({
      value: { description: "JSON text, or a JSON value. Text is always read as JSON." },
      pointer: {
        type: "string",
        description: 'A JSON pointer (RFC 6901) such as "items/0/name"; its first "/" may be left out.',
      },
      path: { type: "string", description: 'A JSONPath (RFC 9535) such as "$.items[?@.price < 10].name".' },
      pretty: {
        type: "boolean",
        description: "True returns JSON text, indented by two blanks, in place of the value. Default: false.",
      },
    }, ["value"]),
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
      const whole = typeof value === "string" ? readJson(value) : toJson(value);
      const picked = path !== undefined ? await pickByPath(whole, path) : pickByPointer(whole, pointer ?? "");
      return pretty ? JSON.stringify(picked, null, 2) : picked;
    },
  };
}

function readJson(text: string): Json {
  try {
    return parseJson(text);
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

async function pickByPath(whole: Json, path: string): Promise<Json> {
  const { parseJsonPath }: typeof import("../lib/schema/json_path.ts") = await import(
    "../lib/schema/json_path.ts" as string
  );
  const parsed = parseJsonPath(path);
  if ("problem" in parsed) {
    throw new SourceError(`Cannot read path "${path}": ${parsed.problem}`, {
      span: spanAt(path, parsed.offset),
      source: path,
      code: "E-json-path",
    });
  }
  try {
    return parsed.ok.select(whole);
  } catch (cause) {
    throw new Error(`Cannot use path "${path}": ${messageOf(cause)}`, { cause });
  }
}
