import type { Model, ModelPart, ModelRequest } from "../../core/model.ts";
import { ServiceError } from "../../service/service.ts";
import type { Service } from "../../service/service.ts";
import { HttpProblem } from "../problem.ts";
import { answerHead } from "./answer_parts.ts";
import type { MadeAnswer } from "./answer_parts.ts";
import type { ChatBody } from "./chat_body.ts";
import { namedCatalog, namedModels, unknownModel } from "./model_names.ts";
import { modelRequest } from "./model_request.ts";
import { ofModelError } from "./openai_problem.ts";

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
    throw isUnknown
      ? unknownModel(name, namedModels(await namedCatalog(service.look)))
      : ofModelError(thrown);
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
      if (part.type === "finish" && part.reason === "error") throw failedAnswer(part.model);
      yield part;
    }
  } catch (thrown) {
    throw request.signal?.aborted === true ? leftAnswer() : ofModelError(thrown);
  } finally {
    passedOn.count--;
  }
}

/** That is nothing which went wrong here. */
function leftAnswer(): HttpProblem {
  return new HttpProblem(503, "stopping", {
    detail: "the answer was broken off: its reader has left, or the server is about to end",
  });
}

function failedAnswer(model: string): HttpProblem {
  return new HttpProblem(502, "provider_error", { detail: `${model} broke its answer off with an error` });
}
