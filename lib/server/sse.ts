import type { Frame, RunReader } from "../service/service.ts";
import type { AnswerHeaders } from "./answers.ts";
import { HttpProblem } from "./problem.ts";
import type { RouteContext } from "./route.ts";
import type { TextSource } from "./text_streams.ts";

/** How much one piece of an answer holds at most, roughly, in bytes. */
const CHUNK_BYTES = 65_536;

/** How long a reader that was cut off waits before it comes again, ms. */
const RETRY = "retry: 1000\n\n";

/** How the events of a run are sent. */
export interface RunEventsOptions {
  readonly headers?: AnswerHeaders;
  /** Frames that were taken from the reader already. */
  readonly first?: readonly Frame[];
  /** Whoever read them has gone. */
  readonly onGone?: () => void;
}

/** The events of a run as `text/event-stream`. */
export function runEvents(
  { settings }: Pick<RouteContext, "settings">,
  reader: RunReader,
  options: RunEventsOptions = {},
): Response {
  return settings.streams.open(frameSource(reader, options.first), options);
}

function frameSource(reader: RunReader, first: readonly Frame[] = []): TextSource {
  let begun = false;
  return {
    async next() {
      if (!begun) {
        begun = true;
        return RETRY + first.map(frameText).join(""); // at once, so that the head of the answer is on its way
      }
      return (await reader.next({ maxBytes: CHUNK_BYTES }))?.map(frameText).join("");
    },
    leave: () => reader.leave(),
  };
}

/** A frame as SSE has it. Only events have an id: what else is told is told again to whoever comes back. */
export function frameText(frame: Frame): string {
  if ("event" in frame) {
    const { event } = frame;
    return `event: ${event.type}\nid: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
  }
  if ("ask" in frame) return `event: ask\ndata: ${JSON.stringify(frame.ask)}\n\n`;
  if ("answered" in frame) return `event: answered\ndata: ${JSON.stringify({ ask: frame.answered })}\n\n`;
  return `event: gap\ndata: ${JSON.stringify({ seq: frame.gap })}\n\n`;
}

/** Behind which event a reader wants to go on: what its own `Last-Event-ID` says, else what it was opened with. @throws {HttpProblem} */
export function readAfter(request: Request, after = 0): number {
  const last = request.headers.get("last-event-id");
  if (last === null) return after;
  if (/^\d{1,15}$/.test(last)) return Number(last);
  throw new HttpProblem(400, "invalid", {
    detail: `found Last-Event-ID ${
      JSON.stringify(last.slice(0, 80))
    }, expected the id of an event: a number from 0`,
  });
}

/** Whether the answer is to be a stream of events. */
export function wantsEvents(request: Request, stream?: boolean): boolean {
  return stream ?? /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(request.headers.get("accept") ?? "");
}
