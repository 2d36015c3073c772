// What a resumed run knows of the time before: an answer from the journal takes no time, and shows nothing of what went on beside it.

import type { RunEvent } from "../core/event.ts";
import type { Run } from "./run.ts";
import type { WorkPlace } from "./work_place.ts";

/** By run: the steps of the tactic that had other work beside them before it was resumed. */
const besideBefore = new WeakMap<Run, ReadonlySet<string>>();

/** Whether other work went on beside this step before the run was resumed. */
export function wasBeside(run: Run, key: string): boolean {
  return besideBefore.get(run)?.has(key) ?? false;
}

/** Takes from the events of before what went on side by side. */
export function noteBefore(run: Run, events: readonly RunEvent[]): void {
  const open = new Set<string>();
  const beside = new Set<string>();
  const note = (step: string, other: string): void => {
    const [place] = /^(?:.*\/)?(?=step:[^/]*$)/.exec(step) ?? [];
    if (place !== undefined && other.startsWith(place) && !other.startsWith(`${step}/`)) beside.add(step);
  };
  const spans = events.map(spanOf);
  // What has no end, such as an answer that was given up, would seem to go on for ever.
  const withEnd = new Set(spans.map(({ ended }) => ended));
  for (const { begun, ended } of spans) {
    if (ended !== undefined) { for (const key of open) if (isOf(key, ended)) open.delete(key); }
    if (begun === undefined || open.has(begun) || !withEnd.has(begun)) continue;
    for (const other of open) {
      note(begun, other);
      note(other, begun);
    }
    open.add(begun);
  }
  besideBefore.set(run, beside);
}

/** Whether a key is that of a work or of something inside of it. */
function isOf(key: string, work: string): boolean {
  return key === work || key.startsWith(`${work}/`);
}

/** The key of what an event tells the beginning or the end of. */
function spanOf(event: RunEvent): { readonly begun?: string; readonly ended?: string } {
  switch (event.type) {
    case "step-start":
      return { begun: event.key };
    case "step-end":
      return { ended: event.key };
    case "call-run":
      return { begun: callKey(event) };
    case "call-result":
    case "call-error":
    case "call-skip":
      return { ended: callKey(event) };
    default:
      return {};
  }
}

function callKey(
  { step = "", invocationId }: { readonly step?: string; readonly invocationId: string },
): string {
  return `${step.replace(/model$/, "")}call:${invocationId}`;
}

/**
 * Tells of what a run had begun before it was resumed, by the events of then, and has not come to again: nothing else shows that the
 * tactic has changed.
 */
export function tellMissed(place: WorkPlace, events: readonly RunEvent[]): void {
  const { run, cameTo } = place;
  const begun = events.flatMap((event) => event.type === "step-start" ? keyBegun(event.key) : []);
  const missed = [...new Set(begun)].filter((key) => !cameTo.has(key));
  if (missed.length === 0) return;
  run.emit({
    type: "warning",
    text: `The run has not come again to what it had begun before it was resumed: ${missed.join(", ")}. ` +
      "The tactic or its prompts may have changed since, and what they do may have been done twice",
  });
}

/** The dialog or the step that a step of the run belongs to; none for what is inside of a call or of a step. */
function keyBegun(key: string): readonly string[] {
  const [whole] =
    /^(?:tactic\[[^\]]*\]\/)*(?:dialog\[[^\]]*\](?:\/fork\[[^\]]*\])*|fork\[[^\]]*\]|step:[^/]*)/.exec(key) ??
      [];
  const rest = whole === undefined ? undefined : key.slice(whole.length);
  return whole !== undefined && (rest === "" || /^\/turn\[\d+\]\/model$/.test(rest ?? "")) ? [whole] : [];
}
