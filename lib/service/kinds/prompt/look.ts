import { lineOfExport } from "../../../catalog/prompts/claim.ts";
import type { LocatedPrompt } from "../../../catalog/prompts/make.ts";
import type { FoundTactic } from "../../../catalog/prompts/tactics.ts";
import { isDotpromptFile } from "../../../catalog/prompts/type_text.ts";
import {
  type Catalog,
  isRecord,
  type Json,
  type JsonObject,
  type JsonSchema,
  jsonSchemaOf,
  messageOf,
  PromptError,
  toJson,
  toJsonObject,
} from "../../../core/core.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { keepStdout, NOBODY } from "../../../project/trust/grants.ts";
import { openCatalog, type ProjectFlags, type ProjectSettings } from "../../../project/project.ts";
import { formatContract } from "../../../prompt/contract.ts";
import { DEFAULT_HANDLER } from "../../../prompt/handler.ts";
import type { AnyPrompt } from "../../../prompt/prompt.ts";
import { type TagLists, TagParser } from "../../../prompt/tags.ts";
import { toolName } from "../../../prompt/tool_list.ts";
import type { Tactic } from "../../../run/tactic/tactic.ts";
import { UsageError } from "../../exit_code.ts";
import type { ListedPrompt, ListedTactic, PromptPageJson } from "../../look/look.ts";
import { hiddenSecrets } from "../../look/profiles.ts";

/** A prompt in the list. */
export function listedPrompt(located: LocatedPrompt): ListedPrompt {
  const { prompt, claim: { source, exported } } = located;
  const { path, tools, metadata: { description } } = prompt;
  return {
    path,
    ...(typeof description === "string" && { description }),
    answer: promptAnswer(prompt).kind,
    tools: tools.map(toolName),
    variables: [...promptVariables(located).names],
    input: inputSchema(located),
    file: source.file,
    export: exported,
  };
}

/** What is to be given: of a `*.prompt` file its own schema, else a text for each variable. */
function inputSchema(located: LocatedPrompt): JsonObject {
  const { names, needed } = promptVariables(located);
  const { claim } = located;
  if (isDotpromptFile(claim) && claim.value.input.schema !== undefined) {
    const { schema, default: defaults = {} } = claim.value.input;
    return { ...withDefaults(toJsonObject(schema), toJsonObject(defaults)), required: [...needed] };
  }
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: [...needed],
  };
}

/** A property with a default says it. */
function withDefaults(schema: JsonObject, defaults: JsonObject): JsonObject {
  const { properties } = schema;
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return schema;
  const filled = Object.entries(properties).map(([name, property]): [string, Json] => [
    name,
    Object.hasOwn(defaults, name) && typeof property === "object" && property !== null
      ? { ...property, default: defaults[name] ?? null }
      : property,
  ]);
  return { ...schema, properties: Object.fromEntries(filled) };
}

/** Everything about a prompt, rendered with these values where they suffice. @throws {UsageError} when they cannot be filled in */
export async function promptData(
  located: LocatedPrompt,
  options: { readonly tools: readonly PromptTool[]; readonly values: Readonly<Record<string, unknown>> },
): Promise<PromptPageJson> {
  const { line, template, missing, text, handler, metadata, promptHash, contractHash, answer } =
    await promptJson(located, options);
  return {
    ...listedPrompt(located),
    line,
    template,
    missing: [...missing],
    text,
    contract: contractOf(answer),
    toolList: options.tools.map(({ name, state, description, problem }) => ({
      name,
      state,
      description,
      problem,
    })),
    handler: toJsonObject(handler),
    metadata,
    promptHash,
    contractHash,
  };
}

/** What an answer is held to, as data; what a module describes is as it is where it is JSON. */
export function contractOf(answer: PromptAnswer): Json {
  try {
    return toJson(answer);
  } catch {
    return { kind: answer.kind };
  }
}

/** A tactic in the list. */
export function listedTactic({ tactic: { name, agents }, file, line }: FoundTactic<Tactic>): ListedTactic {
  return { name, agents: [...agents], file, line };
}

/** Everything about a prompt as plain data. */
export interface PromptJson {
  readonly path: string;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Of a module: the name it is exported by. */
  readonly export?: string;
  readonly template: string;
  readonly variables: readonly string[];
  /** The variables without a value. */
  readonly missing: readonly string[];
  /** Values for which there is no variable. */
  readonly unused: readonly string[];
  /** What is sent; null where that cannot be told. */
  readonly text: string | null;
  readonly answer: PromptAnswer;
  readonly tools: readonly PromptTool[];
  readonly mcp: Json;
  readonly addons: Json;
  readonly handler: { readonly [event: string]: HandlerJson };
  readonly metadata: Json;
  readonly promptHash: string;
  readonly contractHash: string;
}

/** What is said on an event; null stands for a function of the module. */
interface HandlerJson {
  readonly text: string | null;
  readonly isDefault: boolean;
}

/** What is known besides the prompt. */
interface PromptJsonOptions {
  readonly tools: readonly PromptTool[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** Everything about a prompt, without what may be secret. @throws {UsageError} when the values cannot be filled in */
export async function promptJson(
  located: LocatedPrompt,
  { tools, values }: PromptJsonOptions,
): Promise<PromptJson> {
  const { prompt, claim: { source, exported } } = located;
  const { path, template, metadata, handler } = prompt;
  const { promptHash, contractHash } = prompt.info();
  const { names, needed } = promptVariables(located);
  const given = Object.keys(values).filter((name) => values[name] !== undefined);
  const isKnown = names.length > 0 || source.kind === "text"; // a renderer of a module may not say what it takes
  const missing = needed.filter((name) => !given.includes(name));
  return {
    path,
    file: source.file,
    line: exported === undefined ? 1 : await lineOf(source.path, exported),
    export: exported,
    template,
    variables: names,
    missing,
    unused: isKnown ? given.filter((name) => !names.includes(name)) : [],
    text: missing.length > 0 ? null : textOf(prompt, values),
    answer: promptAnswer(prompt),
    tools,
    mcp: hiddenSecrets(toJson(prompt.mcp)),
    addons: hiddenSecrets(toJson(prompt.addons)),
    handler: {
      onException: handlerJson(handler.onException, DEFAULT_HANDLER.onException),
      onInterrupt: handlerJson(handler.onInterrupt, DEFAULT_HANDLER.onInterrupt),
      onInterruptFinal: handlerJson(handler.onInterruptFinal, DEFAULT_HANDLER.onInterruptFinal),
    },
    metadata: toJson(metadata),
    promptHash,
    contractHash,
  };
}

async function lineOf(path: string, exported: string): Promise<number> {
  return lineOfExport(await hostFiles({ root: "/" }).readText(path).catch(() => ""), exported);
}

/** Without values nobody has said that there is a text. */
function textOf(prompt: LocatedPrompt["prompt"], values: PromptJsonOptions["values"]): string | null {
  try {
    return prompt.render(values);
  } catch (error) {
    if (!(error instanceof PromptError)) throw error;
    if (Object.keys(values).length === 0) return null;
    throw new UsageError(error.message.split("\n"), "show");
  }
}

function handlerJson(value: unknown, byDefault: string): HandlerJson {
  if (value === undefined) return { text: byDefault, isDefault: true };
  return { text: typeof value === "string" ? value : null, isDefault: false };
}

/** What a prompt takes. */
interface PromptVariables {
  readonly names: readonly string[];
  /** Those without which there is no text. */
  readonly needed: readonly string[];
}

/** The variables of a prompt; of a `*.prompt` file the arguments that its schema names. */
export function promptVariables({ prompt: { vars }, claim }: LocatedPrompt): PromptVariables {
  if (!isDotpromptFile(claim)) return { names: vars, needed: vars };
  const { schema = {}, default: defaults = {} } = claim.value.input;
  const names = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return { names, needed: names.filter((name) => required.includes(name) && !Object.hasOwn(defaults, name)) };
}

/** What the answer to a prompt has to be, as far as it can be told without running anything. */
export type PromptAnswer =
  | { readonly kind: "text" }
  | {
    readonly kind: "tags";
    readonly tags: TagLists;
    /** A parser of its module goes on with what the tags hold. */
    readonly refined: boolean;
  }
  | { readonly kind: "parser"; readonly describe?: unknown }
  /** Without a schema: the Standard Schema of its module has no form as a JSON Schema. */
  | { readonly kind: "json"; readonly schema?: JsonSchema };

/** The contract of a prompt (prompts.md 3). */
export function promptAnswer({ parser, format }: Pick<AnyPrompt, "parser" | "format">): PromptAnswer {
  if (format !== null) {
    const { schema } = formatContract(format);
    return { kind: "json", schema };
  }
  if (parser === null) return { kind: "text" };
  const described = parser.describe?.();
  if (isTagLists(described)) {
    const isPlain = parser instanceof TagParser && parser.constructor === TagParser;
    return { kind: "tags", tags: described, refined: !isPlain };
  }
  if (isRecord(described) && isTagLists(described.refine)) {
    return { kind: "tags", tags: described.refine, refined: true };
  }
  return { kind: "parser", describe: described };
}

const LISTS = ["xmlTags", "requiredXmlTags", "mdTags", "requiredMdTags", "signalTags"] as const;

function isTagLists(value: unknown): value is TagLists {
  return isRecord(value) && LISTS.every((list) => Array.isArray(value[list]));
}

/** A tool of a prompt, as far as it is known before a turn. */
export interface PromptTool {
  readonly name: string;
  /**
   * `linked`, `not linked`: a gadget of the prompt's own, with and without an implementation. Of a plain name: `catalogue`, or why it
   * cannot be used; the tools of a `server` are not known before it is started.
   */
  readonly state: "linked" | "not linked" | "catalogue" | "server" | "not trusted" | "broken" | "unknown";
  readonly description?: string;
  readonly input?: JsonSchema;
  readonly problem?: string;
}

/** The tools of a prompt in their order; plain names are looked up in the catalogue, for which no server is started. */
export async function promptTools(
  { tools }: AnyPrompt,
  { project, flags }: { readonly project: ProjectSettings; readonly flags: ProjectFlags },
): Promise<readonly PromptTool[]> {
  keepStdout(flags);
  const catalog = tools.some((tool) => typeof tool === "string")
    ? (await openCatalog(project, { flags, user: NOBODY, notice: () => undefined, servers: false })).catalog
    : undefined;
  try {
    return await Promise.all(tools.map((tool) => {
      if (typeof tool === "string") return namedTool(tool, catalog);
      const { name, description, input, run } = tool;
      return {
        name,
        state: run === undefined ? "not linked" : "linked",
        ...about(description, input && jsonSchemaOf(input)),
      } as const;
    }));
  } finally {
    await catalog?.close?.();
  }
}

async function namedTool(name: string, catalog: Catalog | undefined): Promise<PromptTool> {
  const entry = catalog?.maybeFind(name);
  if (entry === undefined) return { name, state: name.includes("__") ? "server" : "unknown" };
  if (entry.state !== "ready") {
    const state = entry.state === "broken" ? "broken" : "not trusted";
    return { name, state, problem: entry.problem };
  }
  try {
    const { description, input } = await entry.load();
    return { name, state: "catalogue", ...about(description, input && jsonSchemaOf(input)) };
  } catch (error) {
    return { name, state: "broken", problem: messageOf(error) };
  }
}

function about(
  description: string | undefined,
  input: JsonSchema | undefined,
): Pick<PromptTool, "description" | "input"> {
  return { ...(description && { description }), input };
}
