import type { Json, RunEvent, RunSummary, StepRecord } from "../../core/core.ts";
import { cellWidth, cutToCells, table } from "../cells.ts";
import { duration, printableLine, usageWords } from "../shown_text.ts";
import { stepWord } from "../step_words.ts";
import { saidIn } from "./items.ts";
import { stepEnds, traceHead } from "./tree.ts";
import { END_UNKNOWN } from "./values.ts";
import { OwnTexts } from "../turn_texts.ts";

const DETAIL_CELLS = 80;
const DETAIL = "        ";

type Start = Extract<RunEvent, { readonly type: "step-start" }>;
type End = Extract<RunEvent, { readonly type: "step-end" }>;

/** A line, and what belongs to it. */
interface Entry {
  readonly head: string;
  /** Of a step: its key, and its name, by which messages and slots say whose they are. */
  readonly key?: string;
  readonly step?: string;
  /** By what makes them one: an effect that was begun again is told once. */
  readonly details: Map<string, string>;
}

/**
 * What a turn of a conversation did, step by step: how each ended, what it said and which slots it set. One line a step, its details below.
 *
 * @param options.isAlive whether the turn goes on, so that what has not ended runs. Default: it does not
 */
export function turnTrace(events: readonly RunEvent[], { isAlive = false } = {}): string {
  const trace = new TurnTrace(stepEnds(events), isAlive);
  for (const event of events) trace.add(event);
  return trace.lines.map((line) => `${line}\n`).join("");
}

class TurnTrace {
  readonly #ends: ReadonlyMap<string, End>;
  readonly #isAlive: boolean;
  readonly #entries: Entry[] = [];
  readonly #texts = new OwnTexts();

  constructor(ends: ReadonlyMap<string, End>, isAlive: boolean) {
    this.#ends = ends;
    this.#isAlive = isAlive;
  }

  get lines(): readonly string[] {
    return this.#entries.flatMap(({ head, details }) => [
      `  ${printableLine(head)}`,
      ...[...details.values()].map((detail) => DETAIL + cutToCells(printableLine(detail), DETAIL_CELLS)),
    ]);
  }

  add(event: RunEvent): void {
    const isOwn = this.#texts.isOwn(event);
    switch (event.type) {
      case "step-start":
        return event.kind === "step" ? this.#begin(event) : this.#effect(event);
      case "message":
        return isOwn ? this.#detail(event.step, `says ${JSON.stringify(event.text)}`) : undefined; // the outcome of its step says it
      case "slot-set":
        return this.#detail(
          event.step,
          `${event.destination}.${event.name} = ${JSON.stringify(event.value)}`,
        );
      case "usage":
        return this.#detail(event.step, usageWords(event));
      case "step-skip":
        return this.#line(`skipped  ${event.name ?? event.step}  ${event.condition}`);
      case "jump":
        return this.#line(`jump  ${event.from} -> ${event.to}`);
      case "hold":
        return this.#line(`waits for you  ${event.step}`);
      case "warning":
        return this.#line(`warn  ${event.text}`);
      case "run-start":
      case "run-end":
      case "step-end":
      case "text-delta":
      case "permission-ask":
      case "permission-answer":
      case "call-open":
      case "call-run":
      case "call-log":
      case "call-progress":
      case "call-result":
      case "call-error":
      case "call-skip":
      case "block-merge":
        return;
      default:
        return event satisfies never;
    }
  }

  #begin({ key, name }: Start): void {
    const end = this.#ends.get(key);
    const head = `${this.#wordOf(end)}  ${placeWords(key, name)}${
      end === undefined ? "" : `  ${duration(end.ms)}`
    }`;
    const details = end?.error === undefined ? [] : [["error", end.error.message] as const];
    this.#entries.push({ head, key, step: name, details: new Map(details) });
  }

  #wordOf(end: End | undefined): string {
    return stepWord(end, { isAlive: this.#isAlive });
  }

  /** A model that is asked, a request, a call: it lies below its step. */
  #effect({ key, kind, name, attempt }: Start): void {
    const end = this.#ends.get(key);
    const owner = this.#entries.findLast((entry) =>
      entry.key !== undefined && key.startsWith(`${entry.key}/`)
    );
    if (owner === undefined) return;
    const words = [
      kind,
      name,
      ...(attempt > 1 ? [`attempt ${attempt}`] : []),
      ...(end === undefined
        ? [this.#wordOf(end)]
        : [duration(end.ms), end.error?.message ?? outcomeWords(end.outcome)]),
    ];
    owner.details.set(key, words.join("  ").trimEnd());
  }

  /** @param step the name of a step, or the key of what lies below it */
  #detail(step: string, text: string): void {
    const owner = this.#entries.findLast(({ key, step: name }) =>
      name === step || (key !== undefined && step.startsWith(`${key}/`))
    );
    if (text !== "") owner?.details.set(text, text);
  }

  #line(head: string): void {
    this.#entries.push({ head, details: new Map() });
  }
}

/** `ask (main/form/ask#2)`, where the name alone does not say it. */
function placeWords(key: string, name: string): string {
  return key === name ? name : `${name}  (${key})`;
}

function outcomeWords(outcome: Json | undefined): string {
  if (typeof outcome === "string") return outcome;
  if (typeof outcome === "object" && outcome !== null && "text" in outcome) return String(outcome.text);
  return outcome === undefined || outcome === null ? "" : JSON.stringify(outcome);
}

const SAID_CELLS = 80;

/** What a journal has of a conversation. */
interface ConversationTraceOf {
  readonly summary: RunSummary;
  readonly steps: readonly StepRecord[];
  readonly events: readonly RunEvent[];
}

/** What a conversation did, turn by turn: what was said to the agent, and each step that came of it. */
export function conversationTrace({ summary, steps, events }: ConversationTraceOf): string {
  const said = new Map(steps.map((step) => [step.key, saidIn(step)] as const));
  const turns = turnsOf(events).map((turn, index, { length }) => {
    const text = said.get(`turn[${index + 1}]`);
    const head = `turn ${index + 1}${text === undefined ? "" : `  ${JSON.stringify(text)}`}`;
    return `${cutToCells(printableLine(head), SAID_CELLS)}\n${
      turnTrace(turn, { isAlive: summary.owned && index === length - 1 })
    }`;
  });
  return [`${traceHead(summary, events)}\n`, ...turns, ...(summary.owned ? [] : openSteps(steps))].join("");
}

/** Each begins with the start of a run; one that was interrupted and finished is one. */
function turnsOf(events: readonly RunEvent[]): readonly (readonly RunEvent[])[] {
  const turns: RunEvent[][] = [];
  for (const event of events) {
    if (event.type === "run-start") turns.push([]);
    turns.at(-1)?.push(event);
  }
  return turns;
}

/** What may not be done twice, and whose end nobody knows. */
function openSteps(steps: readonly StepRecord[]): readonly string[] {
  return steps
    .filter(({ outcome, idempotent }) => outcome === undefined && !idempotent)
    .map(({ key, name }) =>
      printableLine(
        `  stopped  ${key}  ${name}  ${END_UNKNOWN}`,
      ) + "\n"
    );
}

/** A name and a value take at most so many lines of a window. */
const LINES = 2;
/** However narrow the window is, so much of a value is shown. */
const LEAST_CELLS = 20;

/** The slots of a conversation, a line each, in a window of so many columns; a long value is cut, and `whole` says how to see all of it. */
export function slotLines(
  slots: Readonly<Record<string, Json>>,
  { columns, whole }: { readonly columns: number; readonly whole: string },
): string {
  const names = Object.keys(slots).map(printableLine);
  const room = Math.max(LEAST_CELLS, columns * LINES - Math.max(0, ...names.map(cellWidth)) - 2);
  let isCut = false;
  const rows = Object.entries(slots).map(([name, value]) => {
    const text = printableLine(JSON.stringify(value));
    const cut = cutToCells(text, room);
    isCut ||= cut !== text;
    return [printableLine(name), cut];
  });
  if (rows.length === 0) return "No slot is filled\n";
  return [...table(rows), ...(isCut ? [whole] : [])].map((line) => `${line}\n`).join("");
}
