import type { RunEvent } from "../core/event.ts";
import type { WorkPlace } from "./work_place.ts";

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

const OF_TACTIC =
  /^((?:tactic\[[^\]]*\]\/)*(?:(?:dialog|fork)\[[^\]]*\](?:\/fork\[[^\]]*\])*(?=\/turn\[\d+\]\/model$)|step:[^/]*$))/;

/** The dialog or the step that a step of the run belongs to; none for what is inside of a call or of a step. */
function keyBegun(key: string): readonly string[] {
  const [whole] = OF_TACTIC.exec(key) ?? [];
  return whole === undefined ? [] : [whole];
}
