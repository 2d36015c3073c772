/// <reference lib="dom" />
// A run, or a conversation, on a page that follows it: what came so far, its time, and how it stands where the page shows it.
import type { RunEvent } from "../core/event.ts";
import { isRecord } from "../core/json.ts";
import { statusTone } from "../render/step_words.ts";
import { findAll } from "./dom.ts";
import { look, tellConnection } from "./live.ts";
import { type PageAsk, type PageFrame, RunState } from "./run_state.ts";

/** The page that follows. */
export interface FeedPage {
  /** Of what is followed: its events are below it. */
  readonly path: string;
  /** Shows what is new: once for each picture of the browser, however much has come, and now and then while it runs. */
  show(): void;
  isRunning(): boolean;
  /** Whether nothing is to come: then no connection is missed. Default: never. */
  isOver?(): boolean;
  /** Something is new, before it is shown. */
  took?(): void;
  /** There will be no more: the server has said so, or will not have this reader. */
  ended(): void;
}

const TICK_MS = 250;

/** Every type of event there is. */
const EVENT_TYPES: { readonly [Type in RunEvent["type"]]: true } = {
  "run-start": true,
  "run-end": true,
  "step-start": true,
  "step-end": true,
  "text-delta": true,
  "reasoning-delta": true,
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

/** What is known of a run, and when. */
export class RunFeed {
  readonly state = new RunState();
  /** There is no connection. */
  isLost = false;
  readonly #page: FeedPage;
  /** The time of the run, ms since its start, and when that was seen. */
  #at = 0;
  #seenAt = 0;
  #isDue = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(page: FeedPage) {
    this.#page = page;
  }

  /** Until there are no more events; the browser itself comes again when a connection breaks, and says what it has seen. @returns ends it */
  follow(): () => void {
    const { path, ended } = this.#page;
    const source = new EventSource(`${path}/events`);
    for (const type of [...Object.keys(EVENT_TYPES), "ask", "answered", "gap"]) {
      source.addEventListener(type, ({ data }: MessageEvent<unknown>) => this.#take(frameOf(type, data)));
    }
    source.addEventListener("open", () => this.#connected(true));
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) ended();
      else this.#connected(false);
    });
    return () => source.close();
  }

  #take(frame: PageFrame | undefined): void {
    if (frame === undefined || !this.state.take(frame)) return;
    if (!("event" in frame)) void look();
    this.#set(this.state.at);
    this.#page.took?.();
    this.due();
  }

  #connected(isConnected: boolean): void {
    if (!isConnected) this.#set(this.now); // it goes on from here when something is known of it
    this.isLost = !isConnected;
    tellConnection("run", isConnected || this.#page.isOver?.() === true);
    this.due();
  }

  /** ms since the start of the run, on the clock of whoever looks; it stands still when the run does not run. */
  get now(): number {
    return this.#page.isRunning() && !this.isLost ? this.#at + performance.now() - this.#seenAt : this.#at;
  }

  /** Something is new. */
  due(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#page.show();
      clearTimeout(this.#timer);
      if (this.#page.isRunning() && !this.isLost) this.#timer = setTimeout(() => this.due(), TICK_MS);
    });
  }

  #set(at: number): void {
    if (at < this.#at) return;
    this.#at = at;
    this.#seenAt = performance.now();
  }
}

/** Shows the word for how a run stands. */
export function showStatus(word: string): void {
  for (const badge of findAll("[data-run-status]")) {
    if (badge.textContent === word) continue;
    badge.textContent = word;
    badge.dataset.tone = statusTone(word);
  }
}

/** Shows what can be said and done while it stands like this. */
export function showParts(status: string): void {
  for (const part of findAll("[data-while]")) {
    part.hidden = !(part.dataset.while ?? "").split(" ").includes(status);
  }
}

/** Tells what is wrong; the empty text: nothing is. */
export function tellProblem(text: string): void {
  for (const note of findAll("[data-run-problem]")) {
    note.hidden = text === "";
    note.textContent = text;
  }
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
  return typeof value.ask === "string" && typeof value.question === "string";
}
