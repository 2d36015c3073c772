import type { Schema } from "../core/gadget.ts";
import { frozenCopy } from "../core/frozen_copy.ts";
import { isRecord } from "../core/json.ts";
import { PromptError } from "../core/prompt_error.ts";
import { shown } from "../schema/issue.ts";
import { isStandardSchema } from "../core/gadget.ts";
import { readAddons } from "./addons.ts";
import { formatContract } from "./format_contract.ts";
import { readHandler } from "./handler_texts.ts";
import { jsonRecord } from "./json_record.ts";
import { mcpServers } from "./mcp_servers.ts";
import type { Parser } from "./parser.ts";
import type { PromptParts } from "./prompt_parts.ts";
import { promptProblem } from "./prompt_problem.ts";
import { rendererText, templateText } from "./prompt_text.ts";
import { refuseUnknownKeys } from "./refuse_unknown_keys.ts";
import type { Renderer } from "./renderer.ts";
import { toolList } from "./tool_list.ts";

type Fields = Readonly<Record<string, unknown>>;

const FIELDS: readonly string[] = [
  "path",
  "template",
  "parser",
  "format",
  "tools",
  "mcp",
  "addons",
  "handler",
  "renderer",
  "metadata",
];

/**
 * The parts of a prompt with the fields that are given in place of what was there (prompts.md 1 and 6). What is not given is kept as it is,
 * unread.
 *
 * @param path of the new prompt
 * @throws {PromptError} `define` or `template`
 */
export function changedParts(parts: PromptParts, fields: Fields, path: string): PromptParts {
  refuseUnknownKeys(fields, { known: FIELDS, path });
  const { tools, mcp, addons, handler, metadata } = fields;
  return {
    ...parts,
    path,
    rootPath: path,
    ...changedText(parts, fields, path),
    ...changedContract(fields, path),
    ...(tools !== undefined && { tools: toolList(tools, path) }),
    ...(mcp !== undefined && { mcp: mcpServers(mcp, path) }),
    ...(addons !== undefined && { addons: readAddons(addons, path) }),
    ...(handler !== undefined && readHandler(handler, path)),
    ...(metadata !== undefined && { metadata: frozenCopy(jsonRecord("metadata", metadata, path)) }),
  };
}

function changedText(
  parts: PromptParts,
  fields: Fields,
  path: string,
): Partial<Pick<PromptParts, "template" | "text" | "renderer">> {
  const { template = parts.template, renderer = parts.renderer } = fields;
  if (typeof template !== "string") throw promptProblem(path, "template must be a string");
  if (fields.template === undefined && fields.renderer === undefined) return {};
  if (renderer === null) return { template, text: templateText(template, path), renderer };
  if (isRenderer(renderer)) return { template, text: rendererText(template, { renderer, path }), renderer };
  throw promptProblem(
    path,
    `renderer must be an object with render(template, args), found ${shown(renderer)}`,
  );
}

/** Giving one of the two clears the other, unless both are given. */
function changedContract(
  { parser, format }: Fields,
  path: string,
): Partial<Pick<PromptParts, "parser" | "format">> {
  if (parser === undefined && format === undefined) return {};
  const read = { parser: readParser(parser ?? null, path), format: readFormat(format ?? null, path) };
  if (read.parser === null || read.format === null) return read;
  throw promptProblem(path, "give either parser or format, not both");
}

function readParser(value: unknown, path: string): Parser<unknown> | null {
  if (value === null || isParser(value)) return value;
  throw promptProblem(path, `parser must be an object with parse(text), found ${shown(value)}`);
}

function readFormat(value: unknown, path: string): Schema | null {
  if (value === null || isStandardSchema(value)) return value;
  if (!isRecord(value)) {
    throw promptProblem(path, `format must be a JSON Schema or a Standard Schema, found ${shown(value)}`);
  }
  const format = frozenCopy(value);
  try {
    formatContract(format); // a JSON Schema that cannot be used is told now, not when an answer comes
  } catch (cause) {
    throw cause instanceof PromptError ? promptProblem(path, cause.message, { cause }) : cause;
  }
  return format;
}

/** What they take and give shows when they are called. */
function isParser(value: unknown): value is Parser<unknown> {
  return isRecord(value) && typeof value.parse === "function";
}

function isRenderer(value: unknown): value is Renderer {
  return isRecord(value) && typeof value.render === "function";
}
