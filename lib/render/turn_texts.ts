import type { RunEvent } from "../core/event.ts";
import { createRows } from "./rows.ts";

/** Text of a step, as it comes or whole. */
type TextEvent = Extract<RunEvent, { readonly type: "text-delta" | "message" }>;

/**
 * Tells what a conversation says from what is said inside of its steps. Its own text is told with the id of a step; that of a document or a
 * prompt which a step runs is told with a key, and ids may look like keys.
 */
export class OwnTexts {
  readonly #steps = new Set<string>();

  /** Whether the event is text of the conversation itself. Every event has to be shown, in order. */
  isOwn(event: RunEvent): event is TextEvent {
    if (event.type === "step-start" && event.kind === "step") this.#steps.add(event.name);
    return (event.type === "text-delta" || event.type === "message") && this.#steps.has(event.step);
  }
}

/** The whole texts among events. */
export function ownMessages(events: readonly RunEvent[]): readonly string[] {
  const texts = new OwnTexts();
  return events.flatMap((event) => texts.isOwn(event) && event.type === "message" ? [event.text] : []);
}

/** Says of a model, or a server, which step of a conversation asks it: `check-topic  script/x.yml` instead of `script/x.yml`. */
export class AskingSteps {
  readonly #rows = createRows();

  /** The event as it is shown. Every event has to be told, in order. */
  named(event: RunEvent): RunEvent {
    const row = this.#rows.take(event);
    if (row?.kind !== "model" && row?.kind !== "http") return event;
    const step = this.#rows.path(row.key).findLast(({ kind }) => kind === "step"); // the outermost is that of the agent file
    if (step === undefined) return event;
    if (event.type === "step-start") return { ...event, name: `${step.name}  ${event.name}` };
    return event.type === "usage" ? { ...event, model: `${step.name}  ${event.model}` } : event;
  }
}
