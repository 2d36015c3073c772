import type { FoundTactic } from "../../catalog/prompts/tactics.ts";
import { isDotpromptFile } from "../../catalog/prompts/type_text.ts";
import type { LocatedPrompt } from "../../catalog/prompts/make.ts";
import { type Json, type JsonObject, toJson } from "../../core/json.ts";
import { toolName } from "../../prompt/tool_list.ts";
import type { Tactic } from "../../run/tactic.ts";
import { type PromptAnswer, promptAnswer } from "../prompt_answer.ts";
import { promptJson } from "../prompt_json.ts";
import type { PromptTool } from "../prompt_tools.ts";
import { promptVariables } from "../prompt_variables.ts";
import { objectOf } from "./gadget_data.ts";
import type { ListedPrompt, ListedTactic, PromptPageJson } from "./look.ts";

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
    return { ...withDefaults(objectOf(schema), objectOf(defaults)), required: [...needed] };
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
    handler: objectOf(handler),
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
