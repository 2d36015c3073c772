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

/** Says of a model, or a server, which step of a conversation asks it: `check-topic  script/x.yml` instead of `script/x.yml`. */
export class AskingSteps {
  /** Steps that have begun in this turn, by key: one that a budget has stopped has ended, and asks again when its turn goes on. */
  readonly #steps = new Map<string, string>();
  /** Of what was asked and has not ended: the step, by key. */
  readonly #asked = new Map<string, string>();

  /** The event as it is shown. Every event has to be told, in order. */
  named(event: RunEvent): RunEvent {
    if (event.type === "step-start") return this.#begun(event);
    if (event.type === "step-end") this.#asked.delete(event.key);
    if (event.type === "run-start") this.#steps.clear();
    const step = event.type === "usage" ? this.#asked.get(event.step) : undefined;
    return event.type === "usage" && step !== undefined
      ? { ...event, model: both(step, event.model) }
      : event;
  }

  #begun(event: Extract<RunEvent, { readonly type: "step-start" }>): RunEvent {
    const { key, kind, name } = event;
    const step = this.#stepOf(key);
    if (kind === "step") this.#steps.set(key, name);
    if (step === undefined || (kind !== "model" && kind !== "http")) return event;
    this.#asked.set(key, step);
    return { ...event, name: both(step, name) };
  }

  /** Of steps inside of each other the outermost, which is that of the agent file. */
  #stepOf(key: string): string | undefined {
    for (const [outer, name] of this.#steps) if (key.startsWith(`${outer}/`)) return name;
    return undefined;
  }
}

function both(step: string, asked: string): string {
  return `${step}  ${asked}`;
}
