import type { RunEvent } from "../core/event.ts";

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
