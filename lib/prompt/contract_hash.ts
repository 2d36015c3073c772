import type { Schema } from "../core/gadget.ts";
import { isRecord, toJson } from "../core/json.ts";
import { sha256 } from "../core/sha256.ts";
import { messageOf } from "../core/source_error.ts";
import { jsonSchemaOf } from "../core/gadget.ts";
import { formatContract } from "./format_contract.ts";
import type { Parser } from "./parser.ts";
import { promptProblem } from "./prompt_problem.ts";
import type { PromptParts } from "./prompt_parts.ts";

type ContractParts = Pick<
  PromptParts,
  "path" | "template" | "parser" | "format" | "tools" | "mcp" | "addons"
>;

/** The first 12 hexadecimal digits of the SHA-256 of a text's UTF-8. */
export function shortHash(text: string): string {
  return sha256(text).slice(0, 12);
}

/**
 * What an answer is held to, and what is asked for it, as canonical JSON (prompts.md 6).
 *
 * @throws {PromptError} `define`, when the parser cannot say what it is
 */
export function contractText({ path, template, parser, format, tools, mcp, addons }: ContractParts): string {
  return canonical({
    template,
    parser: parser === null ? null : describedBy(parser, path),
    format: format === null ? null : formatContract(format).schema ?? { standard: true },
    tools: tools.map((tool) =>
      typeof tool === "string"
        ? { name: tool }
        : { name: tool.name, description: tool.description, input: inputOf(tool.input) }
    ),
    mcp,
    addons: Object.fromEntries(Object.entries(addons).filter(([, value]) => value !== false)),
  }) ?? "";
}

function describedBy(parser: Parser<unknown>, path: string): unknown {
  let described: unknown;
  try {
    described = parser.describe?.() ?? { custom: true };
  } catch (cause) {
    throw promptProblem(path, `describe() of its parser failed: ${messageOf(cause)}`, { cause });
  }
  try {
    canonical(described);
    return described;
  } catch (cause) {
    const message = `describe() of its parser must give JSON: ${whyNoJson(described, cause)}`;
    throw promptProblem(path, message, { cause });
  }
}

/** In our own words where they say more than the engine's. */
function whyNoJson(value: unknown, thrown: unknown): string {
  try {
    toJson(value);
    return messageOf(thrown);
  } catch (error) {
    return messageOf(error).replace(/^not JSON: /, "");
  }
}

function inputOf(input: Schema): unknown {
  return jsonSchemaOf(input) ?? { standard: true };
}

/** JSON with sorted keys, without spaces and without what is undefined. Keys that look like numbers are sorted as texts, too. */
function canonical(value: unknown): string | undefined {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item) ?? "null").join(",")}]`;
  if (!isRecord(value) || typeof value.toJSON === "function") return JSON.stringify(value);
  const entries = Object.keys(value).sort().flatMap((key) => {
    const text = canonical(value[key]);
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`];
  });
  return `{${entries.join(",")}}`;
}
