import type { StepError } from "../core/step.ts";

/** How a run stands, in one of the words that there are for it everywhere; who is waited for comes before everything else. */
export function stateWord({ status, asks = [], hasFailed = false }: {
  readonly status: string;
  /** Questions that wait for a person. */
  readonly asks?: { readonly length: number };
  /** It can go on, and is stopped since what it did last failed. */
  readonly hasFailed?: boolean;
}): string {
  if (asks.length > 0 || status === "held") return "waits for you";
  if (status === "completed") return "done";
  return status === "stopped" && hasFailed ? "failed" : status;
}

/** How a step stands, in the same words; one that has told no end goes on as long as the process of its run. */
export function stepWord(
  end: { readonly error?: StepError } | undefined,
  { isAlive }: { readonly isAlive: boolean },
): "running" | "done" | "failed" | "stopped" {
  if (end === undefined) return isAlive ? "running" : "stopped";
  if (end.error === undefined) return "done";
  return end.error.code === "aborted" ? "stopped" : "failed";
}

/** What a state means to whoever looks, as style sheets have a colour for it. */
export type Tone = "good" | "bad" | "busy" | "wait";

/** The tone of how a run, a call or a step stands. */
export function statusTone(status: string): Tone {
  return TONES.get(status) ?? "wait";
}

const TONES: ReadonlyMap<string, Tone> = new Map([
  ["done", "good"],
  ["completed", "good"],
  ["result", "good"],
  ["running", "busy"],
  ["failed", "bad"],
  ["error", "bad"],
]);
