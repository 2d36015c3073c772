import { canonicalJson } from "../core/json.ts";
import { firstDifference } from "../core/first_difference.ts";
import { DivergedError } from "../core/journal.ts";
import type { StepOutcome, StepRecord, StepStart } from "../core/journal.ts";
import type { Json } from "../core/json.ts";
import { sha256 } from "../core/sha256.ts";
import type { JournalStore, StepRow } from "./store.ts";

/** What of a row says which step it is. */
export type StepIdentity = Pick<StepRow, "key" | "kind" | "name" | "input" | "inputHash" | "idempotent">;

/** The step as a row has it. */
export function stepIdentity({ key, kind, name, input, idempotent }: StepStart): StepIdentity {
  return {
    key,
    kind,
    name,
    input: JSON.stringify(input),
    inputHash: sha256(canonicalJson(input)),
    idempotent,
  };
}

/** @throws {DivergedError} that shows both where they differ first, when the run wants another step than the recorded one. */
export function assertSameStep(recorded: StepIdentity, now: StepIdentity): void {
  if (recorded.inputHash === now.inputHash && recorded.kind === now.kind && recorded.name === now.name) {
    return;
  }
  const difference = firstDifference(comparable(recorded), comparable(now));
  throw new DivergedError(
    `Step "${now.key}" is not the one that was recorded: ${difference}. ` +
      `Go on with what the run was started with, or fork it from this step`,
    now.key,
  );
}

/** With the keys of all objects in order, so that it is no difference. */
function comparable({ kind, name, input }: StepIdentity): Json {
  return { kind, name, input: parsed(canonicalJson(parsed(input))) };
}

/** What a step has given before its end: a finished one has none of it any more, and is not asked. */
export function stepPieces(
  store: Pick<JournalStore, "pieces">,
  { id, row }: { readonly id: string; readonly row: StepRow },
): readonly string[] {
  return row.outcome === undefined ? store.pieces(id, row.key) : [];
}

/** A row, and the pieces of its step, as the port gives them. */
export function stepRecord(row: StepRow, pieces: readonly string[]): StepRecord {
  const { key, kind, name, idempotent, startedAt, endedAt, attempt } = row;
  return {
    key,
    kind,
    name,
    input: parsed(row.input),
    idempotent,
    status: row.outcome === undefined ? "started" : "finished",
    ...(row.outcome === undefined ? {} : { outcome: parsedOutcome(row.outcome) }),
    ...(pieces.length === 0 ? {} : { prefix: parsedPieces(pieces) }),
    startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    attempt,
  };
}

/** The lists of a step's pieces as one. */
export function parsedPieces(lists: readonly string[]): readonly Json[] {
  const parsedLists: readonly (readonly Json[])[] = JSON.parse(`[${lists.join(",")}]`);
  return parsedLists.flat();
}

/** JSON that this room has written. */
export function parsed(text: string): Json {
  return JSON.parse(text);
}

/** The same for an outcome. */
export function parsedOutcome(text: string): StepOutcome {
  return JSON.parse(text);
}
