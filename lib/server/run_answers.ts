// What the routes have in common that start something or follow it.
import { quietTimer } from "../host/process.ts";
import type { Frame, RunHandle, RunReader, RunState } from "../service/service.ts";
import { json } from "./answers.ts";
import { invalid } from "./problem.ts";
import type { RouteContext } from "./route.ts";
import type { TextStreamOptions } from "./text_streams.ts";

/** Where a run is found. */
function runUrl(id: string): string {
  return `/v1/runs/${encodeURIComponent(id)}`;
}

/** A run that has begun: its events when they were asked for, else where it is. */
export function started(
  context: Pick<RouteContext, "request" | "settings">,
  run: RunHandle,
  { stream }: { readonly stream?: boolean },
): Response {
  if (wantsEvents(context.request, stream)) return followed(context, run);
  const url = runUrl(run.id);
  const { id, kind, status } = run;
  return json({ id, kind, status, url, events: `${url}/events` }, {
    status: 202,
    headers: { location: url },
  });
}

/** All events of a run; of a conversation those of the turn. */
export function followed(
  context: Pick<RouteContext, "settings">,
  run: RunHandle,
  options: TextStreamOptions = {},
): Response {
  const after = run.kind === "conversation" ? run.before : 0;
  return runEvents(context, run.read({ after }), { headers: { "orrery-run": run.id }, ...options });
}

/** Waits for the end of a run, and no longer than this. */
export async function endOf(
  run: RunHandle,
  { waitMs }: { readonly waitMs: number },
): Promise<RunState> {
  if (waitMs <= 0) return run.state;
  const late = Promise.withResolvers<undefined>();
  using _late = quietTimer(waitMs, () => late.resolve(undefined));
  return await Promise.race([run.ended, late.promise]) ?? run.state;
}

/** How much one piece of an answer holds at most, roughly, in bytes. */
const CHUNK_BYTES = 65_536;

/** How long a reader that was cut off waits before it comes again, ms. */
const RETRY = "retry: 1000\n\n";

/** How the events of a run are sent. */
interface RunEventsOptions extends TextStreamOptions {
  /** Frames that were taken from the reader already. */
  readonly first?: readonly Frame[];
}

/** The events of a run as `text/event-stream`. */
export function runEvents(
  { settings }: Pick<RouteContext, "settings">,
  reader: RunReader,
  { first = [], ...options }: RunEventsOptions = {},
): Response {
  async function* texts(): AsyncGenerator<string, undefined> {
    yield RETRY + first.map(frameText).join(""); // at once, so that the head of the answer is on its way
    for (
      let frames = await reader.next({ maxBytes: CHUNK_BYTES });
      frames !== undefined;
      frames = await reader.next({ maxBytes: CHUNK_BYTES })
    ) yield frames.map(frameText).join("");
  }
  return settings.streams.open({ texts: texts(), leave: () => reader.leave() }, options);
}

/** A frame as SSE has it. Only events have an id: what else is told is told again to whoever comes back. */
function frameText(frame: Frame): string {
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
  throw invalid(
    `found Last-Event-ID ${JSON.stringify(last.slice(0, 80))}, expected the id of an event: a number from 0`,
  );
}

/** Whether the answer is to be a stream of events. */
export function wantsEvents(request: Request, stream?: boolean): boolean {
  return stream ?? /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(request.headers.get("accept") ?? "");
}
