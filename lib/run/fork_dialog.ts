import { PromptError } from "../core/prompt_error.ts";
import type { DialogEntry } from "./dialog_log.ts";

/** What a fork keeps: without `keepLast` everything. */
export interface ForkOptions {
  /** Default 1. */
  readonly keepFirst?: number;
  readonly keepLast?: number;
}

/** The entries that a fork begins with; a tool round that would be cut is left out whole. @throws {PromptError} */
export function keptInFork(entries: readonly DialogEntry[], options: ForkOptions): readonly DialogEntry[] {
  const { keepFirst = 1, keepLast } = options;
  checkCount("keepFirst", keepFirst);
  if (keepLast === undefined) return [...entries];
  checkCount("keepLast", keepLast);
  const isKept = (i: number): boolean => i < keepFirst || i >= entries.length - keepLast;
  return rounds(entries).flatMap(({ from, to }) => {
    const indices = Array.from({ length: to - from }, (_, k) => from + k);
    return indices.every(isKept) ? entries.slice(from, to) : [];
  });
}

/** The messages one by one; an answer that calls tools together with their results. */
function rounds(entries: readonly DialogEntry[]): readonly { readonly from: number; readonly to: number }[] {
  const found: { from: number; to: number }[] = [];
  for (const [i, { message }] of entries.entries()) {
    const last = found.at(-1);
    if (message.role === "tool" && last !== undefined) last.to = i + 1;
    else found.push({ from: i, to: i + 1 });
  }
  return found;
}

function checkCount(name: string, count: number): void {
  if (Number.isSafeInteger(count) && count >= 0) return;
  throw new PromptError(`fork: ${name} must be a non-negative integer, found ${count}`, { code: "define" });
}
