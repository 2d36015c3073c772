import type { ModelRequest, ToolSpec } from "../../core/model.ts";
import { chatMessages } from "./chat_messages.ts";
import type { ChatBody } from "./chat_body.ts";
import { badField } from "./openai_problem.ts";

/** A request of a client as a model of Orrery is asked. @throws {HttpProblem} that names the field */
export function modelRequest(body: ChatBody, { signal }: { readonly signal: AbortSignal }): ModelRequest {
  const tools = toolSpecs(body);
  const toolChoice = choiceOf(body, tools);
  const temperature = body.temperature ?? undefined;
  const topP = body.top_p ?? undefined;
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens ?? undefined;
  const seed = body.seed ?? undefined;
  const stop = typeof body.stop === "string" ? [body.stop] : body.stop ?? [];
  const args = givenArgs(body);
  return {
    messages: chatMessages(body.messages),
    ...(tools.length > 0 && { tools }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...formatOf(body),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(seed === undefined ? {} : { seed }),
    ...(stop.length > 0 && { stop }),
    ...(args === undefined ? {} : { args }),
    signal,
  };
}

function toolSpecs({ tools }: ChatBody): readonly ToolSpec[] {
  return (tools ?? []).map(({ function: { name, description = "", parameters } }) => ({
    name,
    description,
    input: parameters ?? { type: "object", properties: {} },
  }));
}

function choiceOf(
  { tool_choice: choice }: ChatBody,
  tools: readonly ToolSpec[],
): ModelRequest["toolChoice"] {
  if (choice === undefined || choice === null) return undefined;
  if (typeof choice === "string") {
    if (choice !== "required" || tools.length > 0) return choice;
    throw badField("tool_choice", 'found "required", but there are no tools');
  }
  const { name } = choice.function;
  if (tools.some((tool) => tool.name === name)) return { name };
  throw badField("tool_choice.function.name", `there is no tool ${JSON.stringify(name)} in tools`);
}

function formatOf({ response_format: format }: ChatBody): Pick<ModelRequest, "json" | "schema"> {
  if (format === undefined || format === null || format.type === "text") return {};
  return "json_schema" in format ? { json: true, schema: format.json_schema.schema } : { json: true };
}

/** What providers take under these names. */
function givenArgs(body: ChatBody): Readonly<Record<string, unknown>> | undefined {
  const args = Object.fromEntries(
    ARGS.flatMap((name) => {
      const value = body[name];
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );
  return Object.keys(args).length === 0 ? undefined : args;
}

const ARGS = [
  "presence_penalty",
  "frequency_penalty",
  "logit_bias",
  "reasoning_effort",
  "parallel_tool_calls",
] as const;
