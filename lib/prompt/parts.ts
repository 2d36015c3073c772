import { type DefinedGadget, frozenCopy, isRecord, isStandardSchema, type Schema } from "../core/core.ts";
import { shown } from "../schema/issue.ts";
import { type Addons, readAddons } from "./addons.ts";
import { type Handler, type HandlerTexts, readHandler } from "./handler.ts";
import { type Mcp, mcpServers } from "./mcp_servers.ts";
import { prepareAnyType } from "./check_value.ts";
import type { AnyPrompt, Parser, Renderer } from "./prompt.ts";
import {
  type FieldProblem,
  jsonRecord,
  promptProblem,
  type Refuse,
  refuseUnknownKeys,
  throwFirst,
} from "./prompt_problem.ts";
import { literalText, type PromptText, rendererText, templateText } from "./prompt_text.ts";
import { tagLists, TagParser } from "./tags.ts";
import { toolList } from "./tool_list.ts";

/** What a prompt is made of: checked, complete and frozen. */
export interface PromptParts {
  readonly path: string;
  readonly rootPath: string;
  readonly template: string;
  /** The template, read. */
  readonly text: PromptText;
  readonly renderer: Renderer | null;
  readonly parser: Parser<unknown> | null;
  readonly format: Schema | null;
  readonly tools: readonly (DefinedGadget | string)[];
  readonly mcp: readonly Mcp[];
  readonly addons: Addons;
  /** As it was given. */
  readonly handler: Handler;
  /** What holds for each event, default texts included. */
  readonly handlers: HandlerTexts;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const partsByPrompt = new WeakMap<AnyPrompt, PromptParts>();

/** Whether a value is a prompt. */
export function isPrompt(value: unknown): value is AnyPrompt {
  return typeof value === "function" && "kind" in value && value.kind === "prompt";
}

/** Keeps what a prompt is made of. */
export function keepParts(prompt: AnyPrompt, parts: PromptParts): void {
  partsByPrompt.set(prompt, parts);
}

/**
 * What a prompt is made of.
 *
 * @throws {PromptError} `define`, for a prompt that another copy of Orrery defined: only that one could render it.
 */
export function partsOf(prompt: AnyPrompt): PromptParts {
  const parts = partsByPrompt.get(prompt);
  if (parts !== undefined) return parts;
  throw promptProblem(
    prompt.path,
    `it was defined by another copy of Orrery: import "orrery" from one place`,
  );
}

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

/** What a definition begins from. */
export const NO_PARTS: PromptParts = {
  path: "",
  rootPath: "",
  template: "",
  text: literalText(""),
  renderer: null,
  parser: null,
  format: null,
  tools: Object.freeze([]),
  mcp: Object.freeze([]),
  addons: Object.freeze({}),
  metadata: Object.freeze({}),
  ...readHandler({}, "", throwFirst),
};

/**
 * The parts of a prompt with the fields that are given in place of what was there (prompts.md 1 and 6). What is not given is kept as it is,
 * unread.
 *
 * @param path of the new prompt
 * @param refuse is told what is wrong; by default the first is thrown, with the code `define` or `template`
 */
export function changedParts(
  parts: PromptParts,
  fields: Fields,
  path: string,
  refuse: Refuse = throwFirst,
): PromptParts {
  refuseUnknownKeys(fields, FIELDS, { path, refuse });
  const { tools, mcp, addons, handler, metadata, parser, format } = fields;
  return {
    ...parts,
    path,
    rootPath: path,
    ...changedText(parts, fields, path),
    ...((parser !== undefined || format !== undefined) && changedContract(fields, path, refuse)),
    ...(tools !== undefined && { tools: toolList(tools, path, refuse) }),
    ...(mcp !== undefined && { mcp: mcpServers(mcp, path, refuse) }),
    ...(addons !== undefined && { addons: readAddons(addons, path, refuse) }),
    ...(handler !== undefined && readHandler(handler, path, refuse)),
    ...(metadata !== undefined && {
      metadata: frozenCopy(jsonRecord("metadata", metadata, { path, refuse })),
    }),
  };
}

/**
 * All that is wrong with what a file says of a prompt, but for its template. A file has `tags` for the parser, and null stands for a tool of
 * which something was told already.
 */
export function definitionProblems({ tags, ...fields }: Fields, path: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const tools: readonly unknown[] = Array.isArray(fields.tools) ? fields.tools : [];
  const refuse: Refuse = (path, { message }) => {
    if (path[0] !== "tools" || tools[Number(path[1])] !== null) problems.push({ path, message });
  };
  const parser = tags && new TagParser(tagLists(tags, refuse));
  changedParts(NO_PARTS, { ...fields, parser }, path, refuse);
  return problems;
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
  { parser: givenParser, format: givenFormat }: Fields,
  path: string,
  refuse: Refuse,
): Pick<PromptParts, "parser" | "format"> {
  const parser = givenParser ?? null;
  const format = givenFormat ?? null;
  if (parser !== null && !isParser(parser)) {
    throw promptProblem(path, `parser must be an object with parse(text), found ${shown(parser)}`);
  }
  const read = { parser, format: format === null ? null : readFormat(format, path, refuse) };
  if (parser !== null && format !== null) {
    refuse([], promptProblem(path, "give either parser or format, not both"));
  }
  return read;
}

/** A JSON Schema that cannot be used is told now, not when an answer comes. */
function readFormat(value: unknown, path: string, refuse: Refuse): Schema {
  if (isStandardSchema(value)) return value;
  if (!isRecord(value)) {
    const message = `format must be a JSON Schema or a Standard Schema, found ${shown(value)}`;
    throw promptProblem(path, message);
  }
  const format = frozenCopy(value);
  const prepared = prepareAnyType(format);
  if ("broken" in prepared) {
    const message = `the JSON Schema of format is broken${prepared.broken}`;
    refuse(["format", ...prepared.at], promptProblem(path, message));
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
