import { type Model, type ModelPart, type ModelRequest, type ToolSpec, untaken } from "../../core/core.ts";
import { type Service, ServiceError } from "../../service/service.ts";
import { HttpProblem } from "../problem.ts";
import { answerHead, badField, type MadeAnswer, ofModelError } from "./answer.ts";
import type { ChatBody } from "./schemas.ts";
import { chatMessages } from "./messages.ts";
import { unknownModel } from "./model_names.ts";

/** How many answers of models are under way that no run is kept of; each counts like a run. */
export interface PassedOn {
  count: number;
}

/** Passes a request on to a model that is configured. @throws {HttpProblem} @throws {ServiceError} */
export async function configuredAnswer(
  body: ChatBody,
  { service, passedOn }: { readonly service: Service; readonly passedOn: PassedOn },
): Promise<MadeAnswer> {
  const stop = new AbortController();
  const request = modelRequest(body, { signal: stop.signal });
  if (service.active + passedOn.count >= service.limit) throw atLimit(service);
  passedOn.count++; // before anything is waited for, so that a crowd cannot come in at once
  try {
    const model = await findModel(body.model, service);
    const problem = untaken(model, request.messages);
    if (problem !== undefined) throw badField("messages", problem, "unsupported_value");
    const ask = (): AsyncIterable<ModelPart> => model.stream(request);
    return {
      head: answerHead(body.model),
      parts: counted(ask, { passedOn, request }),
      leave: () => stop.abort(),
    };
  } catch (thrown) {
    passedOn.count--;
    throw thrown;
  }
}

async function findModel(name: string, service: Service): Promise<Model> {
  try {
    return await service.model(name);
  } catch (thrown) {
    const isUnknown = thrown instanceof ServiceError && thrown.code === "not-found";
    throw isUnknown ? await unknownModel(name, service.look) : ofModelError(thrown);
  }
}

function atLimit({ limit }: Service): ServiceError {
  return new ServiceError(`${limit} runs are under way, which is the limit (limits.runs); try again later`, {
    code: "limit",
  });
}

/** The parts of an answer that counts already. */
async function* counted(
  ask: () => AsyncIterable<ModelPart>,
  { passedOn, request }: { readonly passedOn: PassedOn; readonly request: ModelRequest },
): AsyncGenerator<ModelPart, undefined> {
  try {
    for await (const part of ask()) {
      request.signal?.throwIfAborted();
      if (part.type === "finish" && part.reason === "error") {
        throw new HttpProblem(502, "provider_error", `${part.model} broke its answer off with an error`);
      }
      yield part;
    }
  } catch (thrown) {
    if (request.signal?.aborted !== true) throw ofModelError(thrown);
    throw new HttpProblem(
      503,
      "stopping",
      "the answer was broken off: its reader has left, or the server is about to end",
    );
  } finally {
    passedOn.count--;
  }
}

/** A request of a client as a model of Orrery is asked. @throws {HttpProblem} that names the field */
function modelRequest(body: ChatBody, { signal }: { readonly signal: AbortSignal }): ModelRequest {
  const tools = toolSpecs(body);
  return {
    messages: chatMessages(body.messages),
    tools,
    toolChoice: choiceOf(body, tools),
    ...formatOf(body),
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    seed: body.seed ?? undefined,
    stop: typeof body.stop === "string" ? [body.stop] : body.stop ?? [],
    args: givenArgs(body),
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
function givenArgs(body: ChatBody): Readonly<Record<string, unknown>> {
  return Object.fromEntries(ARGS.flatMap((name) => {
    const value = body[name];
    return value === undefined || value === null ? [] : [[name, value]];
  }));
}

const ARGS = [
  "presence_penalty",
  "frequency_penalty",
  "logit_bias",
  "reasoning_effort",
  "parallel_tool_calls",
] as const;
