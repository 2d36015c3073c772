import {
  defineError,
  isRecord,
  jsonSchemaOf,
  messageOf,
  type Schema,
  sha256,
  sortedJson,
  toJson,
} from "../core/core.ts";
import { shown } from "../schema/issue.ts";
import { computerUseConfig } from "./addons.ts";
import { contractOf, formatContract } from "./contract.ts";
import type { ArgsFor, Exact, OutputFor, Raw, ToolsFor } from "./inference.ts";
import { changedParts, keepParts, NO_PARTS, type PromptParts } from "./parts.ts";
import type { AnyPrompt, Parser, Prompt, PromptDef, PromptInfo } from "./prompt.ts";
import { promptProblem } from "./prompt_problem.ts";
import { promptPath } from "./registry.ts";
import { toolName } from "./tool_list.ts";
import { RenderError } from "./value_text.ts";

/**
 * Defines a prompt (prompts.md 1): everything that one turn of an agent goes by. The types of its arguments follow from the template, when
 * that is one literal, and the type of what an answer means from `parser` or `format`.
 *
 * ```ts
 * import { definePrompt, tags } from "orrery";
 *
 * const review = definePrompt({
 *   path: "review",
 *   template: "Review {file.name} in {{braces}}. Put your verdict in <verdict>.",
 *   parser: tags({ requiredXmlTags: ["verdict"] }),
 * });
 * console.log(review({ file: { name: "a.ts" } })); // => Review a.ts in {braces}. Put your verdict in <verdict>.
 * console.log((await review.parse("<verdict>good</verdict>")).xmlTags.verdict[0]); // => good
 *
 * const brief = review.extend({ path: "review/brief", template: "Review {file} in one word." });
 * console.log(brief.vars, brief.parser === review.parser); // => [ "file" ] true
 * ```
 *
 * @throws {PromptError} `define`, when a field is wrong or unknown, `template`, when the template or a handler's text cannot be read.
 */
export function definePrompt<const Def extends PromptDef>(
  definition: Def & Exact<Def, PromptDef>,
): Prompt<Def["template"], OutputFor<Def, Raw>, ToolsFor<Def, readonly []>, ArgsFor<Def, unknown>> {
  const prompt: unknown = definedPrompt(definition);
  return prompt as ReturnType<typeof definePrompt<Def>>; // each of its fields is the definition's, or its default
}

/** A prompt of a definition of which no more is known. @throws {PromptError} `define` or `template` */
function definedPrompt(definition: unknown): AnyPrompt {
  if (!isRecord(definition)) {
    throw defineError(`definePrompt takes an object such as { path, template }, found ${shown(definition)}`);
  }
  const { path = "", template = null } = definition;
  if (typeof path !== "string") throw defineError(`prompt path must be a string, found ${shown(path)}`);
  return makePrompt(changedParts(NO_PARTS, { ...definition, template }, promptPath(path)));
}

/** A prompt of these parts: a function, frozen. */
export function makePrompt(parts: PromptParts): AnyPrompt {
  const { text, renderer: _renderer, handlers: _handlers, ...shownParts } = parts;
  const call = (...args: readonly unknown[]) => args.length === 0 ? parts.template : rendered(parts, args[0]);
  const fields: Omit<AnyPrompt, "extend"> & { readonly extend: (overrides: unknown) => AnyPrompt } = {
    kind: "prompt",
    ...shownParts,
    vars: text.vars,
    allowWebSearch: parts.addons.webSearch === true,
    computerUseConfig: computerUseConfig(parts.addons),
    unlinked: unlinkedOf(parts),
    render: (args?: unknown) => rendered(parts, args),
    parse: async (text) =>
      await contractOf(prompt).parse(text, { prompt, signal: new AbortController().signal }),
    extend: (overrides) => makePrompt(changedParts(parts, ...overridesOf(parts, overrides))),
    link: (implementations) => makePrompt(linkedParts(parts, implementations)),
    info: () => promptInfo(parts),
  };
  Object.defineProperty(call, "name", { value: parts.path }); // what a stack trace or an inspector calls it
  const made: unknown = Object.freeze(Object.assign(call, fields));
  const prompt = made as AnyPrompt; // `extend` has the types of what it is given, which no implementation could say
  keepParts(prompt, parts);
  return prompt;
}

function rendered({ path, text }: PromptParts, args: unknown = {}): string {
  try {
    if (!isRecord(args)) throw new RenderError("arguments must be an object");
    return text.render(args);
  } catch (cause) {
    throw cause instanceof RenderError
      ? promptProblem(path, cause.message, { code: "render", cause })
      : cause;
  }
}

function unlinkedOf({ tools }: PromptParts): readonly string[] {
  return Object.freeze(
    tools.flatMap((tool) => typeof tool !== "string" && tool.run === undefined ? [tool.name] : []),
  );
}

function overridesOf(
  { path }: PromptParts,
  overrides: unknown,
): readonly [fields: Readonly<Record<string, unknown>>, path: string] {
  const given = isRecord(overrides) ? overrides.path : undefined;
  if (given !== undefined && typeof given !== "string") {
    throw promptProblem(path, `path must be a string, found ${shown(given)}`);
  }
  const newPath = promptPath(given ?? "");
  if (!isRecord(overrides) || newPath === "") throw promptProblem(path, "extend() needs a new path");
  return [overrides, newPath];
}

/** What a prompt says of itself (prompts.md 6). @throws {PromptError} `define`, when its parser cannot say what it is */
function promptInfo(parts: PromptParts): PromptInfo {
  const { path, template, metadata, tools, mcp, addons, parser, format } = parts;
  return Object.freeze({
    path,
    promptHash: shortHash(template),
    contractHash: shortHash(contractText(parts)),
    metadata,
    tools: Object.freeze(tools.map(toolName)),
    mcp: Object.freeze(mcp.map(({ label }) => label)),
    addons,
    hasParser: parser !== null,
    hasFormat: format !== null,
  });
}

/** The parts of a prompt with implementations for some of its gadgets (prompts.md 4). @throws {PromptError} `define` */
function linkedParts(parts: PromptParts, implementations: unknown): PromptParts {
  const { path } = parts;
  if (!isRecord(implementations)) {
    throw promptProblem(path, `link takes an object of functions, found ${shown(implementations)}`);
  }
  const links = new Map(Object.entries(implementations));
  for (const [name, run] of links) checkLink(parts, name, run);
  const tools = parts.tools.map((tool) => {
    const run = links.get(toolName(tool));
    return typeof tool !== "string" && isFunction(run) ? tool.link(run) : tool;
  });
  return { ...parts, tools: Object.freeze(tools) };
}

function checkLink({ path, tools }: PromptParts, name: string, run: unknown): void {
  const cannot = `cannot link ${JSON.stringify(name)}: `;
  const tool = tools.find((tool) => toolName(tool) === name);
  if (tool === undefined) {
    const declared = tools.map(toolName).join(", ");
    throw promptProblem(path, `${cannot}not a declared tool (declared: ${declared || "none"})`);
  }
  if (typeof tool === "string") throw promptProblem(path, `${cannot}it is resolved in the catalogue`);
  if (!isFunction(run)) throw promptProblem(path, `${cannot}not a function`);
}

/** What it takes shows when it is called: its input has been checked by the gadget's schema then. */
function isFunction(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === "function";
}

type ContractParts = Pick<
  PromptParts,
  "path" | "template" | "parser" | "format" | "tools" | "mcp" | "addons"
>;

/** The first 12 hexadecimal digits of the SHA-256 of a text's UTF-8. */
function shortHash(text: string): string {
  return sha256(text).slice(0, 12);
}

/**
 * What an answer is held to, and what is asked for it, as canonical JSON (prompts.md 6).
 *
 * @throws {PromptError} `define`, when the parser cannot say what it is
 */
function contractText({ path, template, parser, format, tools, mcp, addons }: ContractParts): string {
  return sortedJson({
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
    sortedJson(described);
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
