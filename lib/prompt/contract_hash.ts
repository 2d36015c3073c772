import type { Schema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import { sha256 } from "../core/sha256.ts";
import { jsonSchemaOf } from "../schema/standard_schema.ts";
import { formatContract } from "./format_contract.ts";
import type { Parser } from "./parser.ts";
import type { PromptParts } from "./prompt_parts.ts";

type ContractParts = Pick<PromptParts, "template" | "parser" | "format" | "tools" | "mcp" | "addons">;

/** The first 12 hexadecimal digits of the SHA-256 of a text's UTF-8. */
export function shortHash(text: string): string {
  return sha256(text).slice(0, 12);
}

/** What an answer is held to, and what is asked for it, as canonical JSON (prompts.md 6). */
export function contractText({ template, parser, format, tools, mcp, addons }: ContractParts): string {
  return canonical({
    template,
    parser: parser === null ? null : describedBy(parser),
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

function describedBy(parser: Parser<unknown>): unknown {
  return parser.describe?.() ?? { custom: true };
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
