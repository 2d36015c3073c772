import { isNested, nameWords } from "../render/rows.ts";
import type { RunState } from "./run_state.ts";

/** What a person calls the step of a text: the operation that it lies in, and the tool; else the key that it has. */
export function stepName(step: string, { rows }: RunState): string {
  const inside = rows.all.findLast((row) =>
    isNested(row) && row.call === undefined && (step === row.key || step.startsWith(`${row.key}/`))
  );
  const call = /\/call:([^/]+)$/.exec(step)?.[1];
  const name = (inside && nameWords(inside)) ?? partWords(step.replace(/\/model$/, ""));
  return call === undefined || inside === undefined ? name : `${name}, tool ${call}`;
}

/** `dialog[1]/turn[2]` is `turn 2`; of a later dialog also which. */
function partWords(key: string): string {
  const [, dialog, turn] = /^dialog\[(\d+)\]\/turn\[(\d+)\]$/.exec(key) ?? [];
  if (dialog === undefined || turn === undefined) return key;
  return dialog === "1" ? `turn ${turn}` : `dialog ${dialog}, turn ${turn}`;
}
