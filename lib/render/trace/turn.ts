import type { Json, RunEvent, StepRecord } from "../../core/core.ts";
import { cellWidth, cutToCells, table } from "../cells.ts";
import { duration, printableLine, usageWords } from "../shown_text.ts";
import { createRows, type RunRow } from "../rows.ts";
import { stepWord } from "../step_words.ts";
import { saidIn, type TraceOf } from "./items.ts";
import { stepEnds, traceHead } from "./tree.ts";
import { END_UNKNOWN } from "./values.ts";
import { OwnTexts } from "../turn_texts.ts";

const DETAIL_CELLS = 80;
const DETAIL = "        ";

/** A line, and what belongs to it. */
interface Entry {
  readonly row: RunRow;
  readonly head: string;
  /** By what makes them one: an effect that was begun again is told once. */
  readonly details: Map<string, string>;
}

/**
 * What a turn of a conversation did, step by step: how each ended, what it said and which slots it set. One line a step, its details below.
 *
 * @param options.isAlive whether the turn goes on, so that what has not ended runs. Default: it does not
 */
export function turnTrace(events: readonly RunEvent[], { isAlive = false } = {}): string {
  const [rows, texts, ends] = [createRows(), new OwnTexts(), stepEnds(events)];
  const entries: Entry[] = [];
  for (const event of events) {
    const row = rows.take(event);
    const isOwn = texts.isOwn(event);
    if (row === undefined) continue;
    const line = (head: string): void => void entries.push({ row, head, details: new Map() });
    const detail = (text: string, key = text): void => {
      const step = rows.operationOf(row.key);
      if (text !== "") entries.findLast((entry) => entry.row === step)?.details.set(key, text);
    };
    switch (event.type) {
      case "step-start": {
        const { key, kind, name, attempt } = event;
        const end = ends.get(key);
        const word = stepWord(end, { isAlive });
        const time = end === undefined ? [] : [duration(end.ms)];
        if (kind === "step") {
          line([word, placeWords(key, name), ...time].join("  "));
          if (end?.error !== undefined) detail(end.error.message, "error");
        } else { // a model that is asked, a request, a call: it lies below its step
          const how = end === undefined ? word : end.error?.message ?? outcomeWords(end.outcome);
          const again = attempt > 1 ? [`attempt ${attempt}`] : [];
          detail([kind, name, ...again, ...time, how].join("  ").trimEnd(), key);
        }
        break;
      }
      case "message":
        if (isOwn) detail(`says ${JSON.stringify(event.text)}`); // else the outcome of its step says it
        break;
      case "slot-set":
        detail(`${event.destination}.${event.name} = ${JSON.stringify(event.value)}`);
        break;
      case "usage":
        detail(usageWords(event));
        break;
      case "step-skip":
        line(`skipped  ${event.name ?? event.step}  ${event.condition}`);
        break;
      case "jump":
        line(`jump  ${event.from} -> ${event.to}`);
        break;
      case "hold":
        line(`waits for you  ${event.step}`);
        break;
      case "warning":
        line(`warn  ${event.text}`);
    }
  }
  return entries.flatMap(({ head, details }) => [
    `  ${printableLine(head)}\n`,
    ...[...details.values()].map((text) => `${DETAIL}${cutToCells(printableLine(text), DETAIL_CELLS)}\n`),
  ]).join("");
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

/** What a conversation did, turn by turn: what was said to the agent, and each step that came of it. */
export function conversationTrace({ summary, steps, events }: TraceOf): string {
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
