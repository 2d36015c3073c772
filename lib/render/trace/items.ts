// What a run did, one item for each of its rows: events say when, the kept steps say with what and what came of it. The journal's own times
// are those of its commits, so an event's time comes first.
import { isJsonObject, type Json, type RunEvent, type RunTrace, type StepRecord } from "../../core/core.ts";
import { createRows, isOpen, type RunRow, type RunRows } from "../rows.ts";
import type { RunTally } from "../run_tally.ts";
import { keyParts, placeWords, stepWord } from "../step_words.ts";
import {
  BROKEN_OFF,
  END_UNKNOWN,
  errorValue,
  noteValue,
  resultValue,
  stepValues,
  type TraceValue,
  wordsText,
} from "./values.ts";

/** A row with what went into it and what came of it. */
export interface TraceItem {
  readonly row: RunRow;
  values: TraceValue[];
  readonly notes: TraceValue[];
}

/** What a journal has of a run. */
export type TraceOf = Pick<RunTrace, "summary" | "steps" | "events">;

/** All items of a run, in the order in which they were told, and the counts of its rows. */
export function traceItems(
  trace: TraceOf,
): { readonly items: readonly TraceItem[]; readonly tally: RunTally } {
  const { owned: isAlive, kind } = trace.summary;
  const rows = createRows();
  const items = new Map<RunRow, TraceItem>();
  const itemOf = (row: RunRow): TraceItem => {
    const item = items.get(row) ?? { row, values: [], notes: [] };
    items.set(row, item);
    return item;
  };
  const logs = new Map<TraceItem, string[]>();
  for (const event of trace.events) {
    const row = rows.take(event);
    if (row === undefined) continue;
    const item = itemOf(row);
    if (event.type === "call-log") {
      const lines = logs.get(item) ?? [];
      logs.set(item, lines);
      lines.push(event.text.replace(/\r?\n$/, ""));
    } else tell(item, event);
  }
  for (const [item, lines] of logs) item.notes.push(noteValue("log", lines.join("\n"))); // as one note each
  for (const row of rows.all) {
    if (!isOpen(row.state)) continue;
    if (!isAlive) row.state = "stopped";
    else if (row.state === "waiting") row.state = "running";
  }
  for (const step of trace.steps) {
    const known = rows.byKey.get(step.key);
    if (known?.kind === "turn" && kind === "conversation") keepTurn(itemOf(known), step);
    else keep(itemOf(known ?? keptAlone(rows, step, { isAlive })), step, { isAlive });
  }
  return { items: rows.all.map(itemOf), tally: rows.tally };
}

/** Takes what an event says of an item. */
function tell({ row, values, notes }: TraceItem, event: RunEvent): void {
  const note = (title: string, value: Json): void => void notes.push(noteValue(title, value));
  switch (event.type) {
    case "run-end":
      if (event.error !== undefined) values.push(errorValue(event.error));
      return;
    case "step-end": {
      const { error, outcome, partial } = event;
      if (error !== undefined) values.push(errorValue(error.message));
      else if (outcome !== undefined && outcome !== null) values.push(resultValue(outcome));
      if (partial !== undefined) note(BROKEN_OFF, partial);
      return;
    }
    case "call-open":
      if (event.dependencies.length > 0) note("waits for", event.dependencies.join(", "));
      return;
    case "call-result":
      values.splice(0, values.length, resultValue(event.result));
      return;
    case "call-error":
      values.splice(0, values.length, errorValue(event.error));
      return;
    case "call-skip":
      values.splice(0, values.length, errorValue(event.reason));
      return;
    case "usage":
      if (event.model !== row.name) note("answered by", event.model);
      return;
    case "message": // a text of a model is the answer of its step already
      if (row.kind !== "model") note("says", event.text);
      return;
    case "slot-set":
      return note(`${event.destination}.${event.name}`, event.value);
    case "block-merge": {
      const where = event.mode === "replace"
        ? "in place of"
        : event.mode === "append"
        ? "appended to"
        : "before";
      if (event.removed !== "") note("removed", event.removed);
      return note(`${where} ${event.target ?? "itself"}`, event.inserted);
    }
    case "step-skip":
      if (event.condition !== "") note("condition", event.condition);
      return;
    case "warning":
      if (placeWords(event) !== "") note("at", placeWords(event));
      return;
    case "permission-answer": {
      const { permissions, allowed, reason } = event;
      return note("permission", `${allowed ? "allowed" : "refused"} by ${reason}: ${permissions.join("; ")}`);
    }
  }
}

/** Takes what is kept of a step. */
function keep(item: TraceItem, step: StepRecord, { isAlive }: { readonly isAlive: boolean }): void {
  const { row } = item;
  const { kind, name, outcome } = step;
  Object.assign(row, { kind, name, attempt: Math.max(row.attempt, step.attempt) });
  const why = outcome === undefined ? item.values : []; // as its attempts have ended
  item.values = [...stepValues(step), ...why];
  if (outcome !== undefined) row.state = stepWord("error" in outcome ? outcome : {}, { isAlive });
  else if (!step.idempotent && !isAlive) item.notes.push(noteValue("stopped", END_UNKNOWN));
}

/** What a person said is shown with the turn that it began. */
function keepTurn({ values }: TraceItem, step: StepRecord): void {
  const text = saidIn(step);
  if (text !== undefined) values.unshift({ title: "user", side: "in", text, isJson: false });
}

/** What was said that began a turn of a conversation. */
export function saidIn({ outcome }: StepRecord): string | undefined {
  if (outcome === undefined || !("ok" in outcome)) return undefined;
  const { ok } = outcome;
  if (!isJsonObject(ok) || typeof ok.text !== "string") return undefined;
  return wordsText([{ type: "text", text: ok.text }, ...(Array.isArray(ok.media) ? ok.media : [])]);
}

/** No event tells of it, such as of a read; the key says to which turn it belongs. */
function keptAlone(
  rows: RunRows,
  { key, kind, name, startedAt: at, endedAt }: StepRecord,
  { isAlive }: { readonly isAlive: boolean },
): RunRow {
  const beside = keyParts(key).map((_, index, parts) =>
    rows.byKey.get(parts.slice(0, index).join("/"))?.turn
  );
  const turn = beside.findLast((each) => each !== undefined) ??
    rows.all.findLast((row) => row.kind === "turn" && row.at <= at);
  const row = rows.add({ key, kind, name, at, turn, state: isAlive ? "running" : "stopped" });
  if (endedAt !== undefined) row.ms = Math.max(0, endedAt - at);
  return row;
}
