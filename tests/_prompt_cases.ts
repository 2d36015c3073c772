// What the cases of tests/spec/prompts/ name, as values: prompts, parsers, renderers, handlers, and a prompt as they show it.
import { z } from "zod";
import { type AnyPrompt, defineGadget, type HandlerState, ParseError, tags } from "../mod.ts";

// deno-lint-ignore no-explicit-any
export type Data = any;

/** The cases of a kind. */
export function promptCases(kind: string): readonly Data[] {
  return JSON.parse(Deno.readTextFileSync(new URL(`./spec/prompts/${kind}.json`, import.meta.url)));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const PARSERS: Readonly<Record<string, Data>> = {
  confidence: tags({ requiredXmlTags: ["confidence"] }).refine((result) => {
    const [raw] = result.xmlTags.confidence;
    const confidence = Number(raw);
    if (confidence >= 0 && confidence <= 1) return { ...result, confidence };
    throw new ParseError(`<confidence> must be between 0 and 1, got ${raw}`);
  }),
  refined: tags({ requiredXmlTags: ["n"] }).refine(({ xmlTags }) => {
    const n = Number(xmlTags.n[0]);
    if (Number.isNaN(n)) throw new ParseError(`<n> must be a number, got "${xmlTags.n[0]}"`);
    return { n };
  }),
  words: { parse: (text: string) => text.split(" ") },
  broken: {
    parse() {
      throw new TypeError("parser bug");
    },
  },
};

const REPORT = z.object({
  title: z.string(),
  confidence: z.number().min(0).max(1),
  sources: z.array(z.string()).default([]),
});

const RENDERERS: Readonly<Record<string, Data>> = {
  upper: { render: (template: string, args: Data) => (template + JSON.stringify(args)).toUpperCase() },
  dollar: {
    render: (template: string, args: Data) =>
      template.replaceAll(/\$(\w+)/g, (_all, name) => String(args[name])),
    vars: (template: string) => [...template.matchAll(/\$(\w+)/g)].map(([, name]) => name),
  },
  number: { render: () => 5 },
};

const FUNCTIONS: Readonly<Record<string, (prompt: AnyPrompt, state: HandlerState, given: Data) => Data>> = {
  text: (_prompt, _state, { text }) => text,
  null: () => null,
  number: () => 5,
  throws(_prompt, _state, { message }) {
    throw new Error(message);
  },
  prompt: (prompt, _state, { path = `__${prompt.rootPath}_custom`, template, parser }) =>
    prompt.extend({ path, template, ...(parser !== undefined && { parser: parserOf(parser) }) }),
  byCount(prompt, { exceptionRetriesCount: n }, { first, then }) {
    return prompt.extend({ path: `__${prompt.rootPath}_exception_${n}`, template: n <= 1 ? first : then });
  },
  state: (prompt, state) =>
    JSON.stringify({
      n: state.exceptionRetriesCount,
      steps: state.interruptSteps.length,
      max: state.maxInterruptSteps,
      call: state.call?.name ?? null,
      path: prompt.path,
      root: prompt.rootPath,
    }),
};

function parserOf(given: Data): Data {
  if (!isRecord(given)) return given;
  return "$parser" in given ? PARSERS[String(given.$parser)] : tags(given);
}

function toolOf(given: Data): Data {
  if (typeof given !== "string") return given.catalogue;
  return defineGadget({ name: given, description: given, input: { type: "object" } });
}

function handlerOf(given: Data): Data {
  return Object.fromEntries(
    Object.entries(given).map(([event, value]: [string, Data]) => [
      event,
      typeof value === "string"
        ? value
        : (prompt: AnyPrompt, state: HandlerState) => FUNCTIONS[value.$fn]?.(prompt, state, value),
    ]),
  );
}

/** The fields of a prompt object, as `definePrompt` and `extend` take them. */
export function promptFields(given: Data): Data {
  const { parser, format, tools, handler, renderer, ...rest } = given;
  return {
    ...Object.fromEntries(
      Object.entries(rest).map((
        [key, value],
      ) => [key, isRecord(value) && "$undefined" in value ? undefined : value]),
    ),
    ...(parser !== undefined && { parser: parserOf(parser) }),
    ...(format !== undefined && { format: isRecord(format) && "$zod" in format ? REPORT : format }),
    ...(tools !== undefined && { tools: tools.map(toolOf) }),
    ...(handler !== undefined && { handler: handlerOf(handler) }),
    ...(renderer !== undefined && { renderer: RENDERERS[renderer] }),
  };
}

/** What is said where a prompt has no handler of its own (prompts.md 7). */
const DEFAULT_HANDLER = {
  onException: "Error: {error_message}. Please fix.",
  onInterrupt: "{call_results}",
  onInterruptFinal: "You are reaching the limit of tool calls. Provide the final response.",
};

/** A prompt as the cases show it. */
export function snapshot(prompt: AnyPrompt): Data {
  const { path, template, vars, tools, mcp, addons, metadata, parser, format, handler } = prompt;
  const { allowWebSearch, computerUseConfig, unlinked } = prompt;
  const inForce: Readonly<Record<string, unknown>> = { ...DEFAULT_HANDLER, ...handler };
  return JSON.parse(JSON.stringify({
    path,
    template,
    vars,
    tools: tools.map((tool) => typeof tool === "string" ? { catalogue: tool } : tool.name),
    mcp: mcp.map(({ label }) => label),
    addons,
    metadata,
    parser: parser === null ? null : parser.describe?.() ?? { custom: true },
    format: format !== null && "~standard" in format ? "standard-schema" : format,
    handler: Object.fromEntries(
      Object.entries(inForce).map((
        [event, value],
      ) => [event, typeof value === "string" ? value : "function"]),
    ),
    allowWebSearch,
    computerUseConfig,
    unlinked,
  }));
}
