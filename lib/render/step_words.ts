import type { RunEvent, StepError } from "../core/event.ts";

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

/** The status of a run: one whose process died is stopped. */
export function standing<Status extends string>(
  { status, owned }: { readonly status: Status; readonly owned: boolean },
): Status | "stopped" {
  return status === "running" && !owned ? "stopped" : status;
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

/**
 * The parts of a step's key. `say[1]/turn[2]/call:a/b` has three, `op[parts/part.md:5]/shell` has two: what stands in brackets is a name, and
 * the id of a call may hold anything. What runs inside of a call begins with a dialog or an operation.
 */
export function keyParts(key: string): readonly string[] {
  if (!key.includes("/")) return [key]; // most are
  const parts: string[] = [];
  for (let start = 0; start <= key.length;) {
    const end = key.startsWith("call:", start) ? endOfCall(key, start) : endOfPart(key, start);
    parts.push(key.slice(start, end));
    start = end + 1;
  }
  return parts;
}

function endOfCall(key: string, start: number): number {
  const inside = /\/(?:dialog|op)\[/g;
  inside.lastIndex = start;
  return inside.exec(key)?.index ?? key.length;
}

/** The next slash outside of brackets. */
function endOfPart(key: string, start: number): number {
  let open = 0;
  for (let at = start; at < key.length; at++) {
    if (key[at] === "[") open++;
    else if (key[at] === "]") open = Math.max(0, open - 1);
    else if (key[at] === "/" && open === 0) return at;
  }
  return key.length;
}

/** The key of the step that a call is: beside the model step that wrote it, at the top when the run's own text did. */
export function callStep(
  { step, invocationId }: { readonly step?: string; readonly invocationId: string },
): string {
  const folder = step === undefined ? [] : keyParts(step).slice(0, -1);
  return [...folder, `call:${invocationId}`].join("/");
}

/** `file:line:column`, as far as it is known. */
export function placeWords({ file, line, column }: Extract<RunEvent, { readonly type: "warning" }>): string {
  return [file, line, column].filter((part) => part !== undefined).join(":");
}
