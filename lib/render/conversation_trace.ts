import type { RunEvent } from "../core/event.ts";
import type { RunSummary, StepRecord } from "../core/journal.ts";
import { cutToCells } from "./cells.ts";
import { printableLine } from "./shown_text.ts";
import { traceHead } from "./trace_tree.ts";
import { END_UNKNOWN } from "./trace_values.ts";
import { turnTrace } from "./turn_trace.ts";

const SAID_CELLS = 80;

/** What a journal has of a conversation. */
export interface ConversationTraceOf {
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

function saidIn({ outcome }: StepRecord): string | undefined {
  if (outcome === undefined || !("ok" in outcome)) return undefined;
  const { ok } = outcome;
  const text = typeof ok === "object" && ok !== null && "text" in ok ? ok.text : undefined;
  return typeof text === "string" ? text : undefined;
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
