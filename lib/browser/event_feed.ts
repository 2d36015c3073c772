/// <reference lib="dom" />
// The events of a run as the server streams them. The browser itself comes again when a connection breaks, and says what it has seen.

import { isRecord } from "../core/json.ts";
import type { PageAsk, PageFrame } from "./run_state.ts";
import type { RunEvent } from "../core/event.ts";

/** Who follows a run. */
export interface FeedReader {
  take(frame: PageFrame): void;
  /** The connection is there, or is being made again. */
  connected(isConnected: boolean): void;
  /** There will be no more: the server has said so, or will not have this reader. */
  over(): void;
}

/** Every type of event there is. */
const EVENT_TYPES: { readonly [Type in RunEvent["type"]]: true } = {
  "run-start": true,
  "run-end": true,
  "step-start": true,
  "step-end": true,
  "text-delta": true,
  "message": true,
  "usage": true,
  "permission-ask": true,
  "permission-answer": true,
  "call-open": true,
  "call-run": true,
  "call-log": true,
  "call-progress": true,
  "call-result": true,
  "call-error": true,
  "call-skip": true,
  "step-skip": true,
  "jump": true,
  "slot-set": true,
  "hold": true,
  "block-merge": true,
  "warning": true,
};

/** Follows the events at this address until there are no more. @returns ends it before that */
export function followEvents(path: string, reader: FeedReader): () => void {
  const source = new EventSource(path);
  for (const type of [...Object.keys(EVENT_TYPES), "ask", "answered", "gap"]) {
    source.addEventListener(type, ({ data }: MessageEvent<unknown>) => {
      const frame = frameOf(type, data);
      if (frame !== undefined) reader.take(frame);
    });
  }
  source.addEventListener("open", () => reader.connected(true));
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) reader.over();
    else reader.connected(false);
  });
  return () => source.close();
}

/** Undefined for what is not as the server writes it. */
function frameOf(type: string, data: unknown): PageFrame | undefined {
  const value: unknown = typeof data === "string" ? JSON.parse(data) : undefined;
  if (!isRecord(value)) return undefined;
  if (type === "ask") return isAsk(value) ? { ask: value } : undefined;
  if (type === "answered") return typeof value.ask === "string" ? { answered: value.ask } : undefined;
  if (type === "gap") return typeof value.seq === "number" ? { gap: value.seq } : undefined;
  return isEvent(value) ? { event: value } : undefined;
}

/** It comes from our own server, which knows what its events are. */
function isEvent(
  value: Readonly<Record<string, unknown>>,
): value is RunEvent & Readonly<Record<string, unknown>> {
  return typeof value.type === "string" && Object.hasOwn(EVENT_TYPES, value.type) &&
    typeof value.seq === "number";
}

function isAsk(
  value: Readonly<Record<string, unknown>>,
): value is PageAsk & Readonly<Record<string, unknown>> {
  return typeof value.ask === "string" && typeof value.question === "string" &&
    (value.kind === "permission" || value.kind === "question");
}

/** Those that an answer of the server lists. */
export function asksIn(value: unknown): readonly PageAsk[] {
  return Array.isArray(value) ? value.filter((each) => isRecord(each)).filter(isAsk) : [];
}
