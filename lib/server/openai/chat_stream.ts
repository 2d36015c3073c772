import type { ModelPart } from "../../core/model.ts";
import { quietTimer } from "../../host/quiet_timer.ts";
import type { ProblemDetails } from "../problem.ts";
import type { TextSource } from "../text_streams.ts";
import type { MadeAnswer } from "./answer_parts.ts";
import { ChatChunks } from "./chat_chunks.ts";
import { openAiProblemJson } from "./openai_problem.ts";

/** How an answer is streamed. */
export interface ChatStreamOptions {
  readonly includeUsage: boolean;
  /** What is told of something that was thrown. */
  readonly problemOf: (thrown: unknown) => ProblemDetails;
}

/** The answer as SSE, a chunk an event, and `[DONE]`; what goes wrong on the way is its last event. */
export function chatStream(answer: MadeAnswer, options: ChatStreamOptions): TextSource {
  const pieces = piecesOf(answer, options);
  return {
    async next() {
      const { value, done } = await pieces.next();
      return done === true ? undefined : value;
    },
    leave() {
      answer.leave();
      pieces.return(undefined).catch(() => undefined); // nobody is left to tell
    },
  };
}

async function* piecesOf(
  { head, parts }: MadeAnswer,
  { includeUsage, problemOf }: ChatStreamOptions,
): AsyncGenerator<string, undefined> {
  const chunks = new ChatChunks(head, { includeUsage });
  yield eventText(chunks.begin());
  try {
    for await (const part of parts) {
      const text = chunks.of(part).map(eventText).join("");
      if (text !== "") yield text;
    }
  } catch (thrown) {
    yield eventText(openAiProblemJson(problemOf(thrown)));
    return;
  }
  yield "data: [DONE]\n\n";
}

function eventText(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/**
 * The same answer once its first part is there, so that what goes wrong before it still has a status of its own. A part that takes longer
 * than this is not waited for.
 */
export async function begun(
  answer: MadeAnswer,
  { waitMs }: { readonly waitMs: number },
): Promise<MadeAnswer> {
  const parts = answer.parts[Symbol.asyncIterator]();
  const first = parts.next();
  const late = Promise.withResolvers<undefined>();
  using _late = quietTimer(waitMs, () => late.resolve(undefined));
  first.catch(() => undefined); // when it is too late for a status, it is told where the parts are read
  await Promise.race([first, late.promise]);
  return {
    ...answer,
    parts: afterFirst(first, parts),
    leave() {
      answer.leave();
      parts.return?.().catch(() => undefined); // it has begun, whether or not anybody reads the rest
    },
  };
}

async function* afterFirst(
  first: Promise<IteratorResult<ModelPart>>,
  parts: AsyncIterator<ModelPart>,
): AsyncGenerator<ModelPart, undefined> {
  try {
    for (let next = await first; next.done !== true; next = await parts.next()) yield next.value;
  } finally {
    await parts.return?.();
  }
}
