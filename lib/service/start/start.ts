import { type Catalog, didYouMean } from "../../core/core.ts";
import { writeCalls } from "../../parse/calls/write.ts";
import { startCalls } from "../kinds/calls/start.ts";
import type { FileWish, Kind } from "../kinds/kind.ts";
import { eitherOf, kindOfFile } from "../kinds/kinds.ts";
import { startPrompt } from "../kinds/prompt/start.ts";
import { runsOf } from "./runs_of.ts";
import { fieldError, ServiceError, type StartRun } from "../service.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";

/** What is started where. */
export interface StartRunPlace extends StartPlace {
  readonly catalog: Catalog;
  readonly kinds: readonly Kind[];
}

/** Makes ready what somebody wishes to run. Nothing of it has run by then. @throws as `Service.start` */
export async function startRun(request: StartRun, at: StartRunPlace): Promise<ReadyRun> {
  switch (request.kind) {
    case "file":
      return await startFile(request, at);
    case "calls":
      return await startCalls(request, at);
    case "gadget":
      return await startGadget(request, at);
    case "prompt":
      return await startPrompt(request, at);
    case "ask":
      return await startAsk(request, at);
    default:
      return request satisfies never;
  }
}

/** @throws {ServiceError} `invalid` */
async function startFile(wish: FileWish, at: StartRunPlace): Promise<ReadyRun> {
  const kind = kindOfFile(wish.file, at.kinds);
  const file = kind?.file;
  const start = file?.instead === undefined ? (await runsOf(kind))?.start : undefined;
  if (start !== undefined) return await start(wish, at);
  const known = eitherOf(at.kinds.filter(({ file }) => file?.instead === undefined));
  throw fieldError(
    "file",
    `file: expected ${known}, found ${JSON.stringify(wish.file)}; ${file?.instead ?? "name one"}`,
  );
}

/** One call of a gadget that somebody wishes. */
type GadgetWish = Extract<StartRun, { readonly kind: "gadget" }>;

/** The call is a text of calls as well, so that it is resumed as one. @throws {ServiceError} `not-found`, `invalid` */
async function startGadget(
  { name, input, ...wishes }: GadgetWish,
  at: StartPlace & { readonly catalog: Catalog },
): Promise<ReadyRun> {
  if (at.catalog.maybeFind(name) === undefined) {
    const known = at.catalog.entries.map((entry) => entry.name);
    throw new ServiceError(`There is no gadget ${JSON.stringify(name)}.${didYouMean(name, known)}`, {
      code: "not-found",
    });
  }
  return await startCalls({ ...wishes, name, text: callText({ name, input }, at) }, at);
}

/** @throws {ServiceError} `invalid` for what no call can say */
function callText({ name, input }: Pick<GadgetWish, "name" | "input">, { project }: StartPlace): string {
  try {
    const { markers } = project.config.calls;
    const call = { gadgetName: name, invocationId: "call", parameters: input };
    return writeCalls([call], { markers, asJson: true }); // as arguments of their own, texts could become numbers
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw fieldError("input", `input: ${error.message}`);
  }
}

/** A profile of `orrery.yaml`, with what was said so far. */
type AskWish = Extract<StartRun, { readonly kind: "ask" }>;

/**
 * The profile answers the last of the messages, with the tools of its system prompt. It is kept as a run of a prompt.
 *
 * @throws {ServiceError} `not-found`, `invalid` where the last message is not the user's; {UsageError}, {PromptError}, {ModelError}
 */
async function startAsk(wish: AskWish, at: StartPlace): Promise<ReadyRun> {
  assertAsked(wish);
  const { messages: history, profile, model, effort, budget } = wish;
  return await startPrompt({ path: "", history, profile, model, effort, budget }, at);
}

/** @throws {ServiceError} `invalid` */
function assertAsked({ messages }: AskWish): void {
  const last = messages.at(-1);
  if (last?.role === "user") return;
  const found = last === undefined ? "no message" : `one of the role "${last.role}"`;
  throw fieldError("messages", `messages: the last one has to be the user's, found ${found}`);
}
