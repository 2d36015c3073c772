import {
  addUsage,
  type Checkpoint,
  type ConversationSave,
  type Json,
  type LogEntry,
  type MessageRange,
  type RunEvent,
  type SlotScope,
  type Usage,
} from "../core/core.ts";
import type { CheckpointMark, CheckpointRow, JournalSettings, JournalStore, SlotRow } from "./store.ts";

/** Where a run is when something of it is committed. */
export type RunMoment = Pick<CheckpointMark, "ticks" | "elapsedMs" | "seenSeq" | "seenAt">;

/** What lies before the events of a run that was opened. */
export interface RunBefore {
  readonly checkpoint: Checkpoint;
  readonly seq: number;
  /** ms of the run's own time. */
  readonly at: number;
  readonly usage: Usage;
}

/** What it is kept with. */
export interface RunConversationOptions {
  /** Of the run. */
  readonly id: string;
  readonly store: Pick<JournalStore, "conversations">;
  readonly mask: JournalSettings["mask"];
  /** Its newest checkpoint, and the events told behind that; neither for a new run. */
  readonly newest?: CheckpointRow;
  readonly events?: readonly RunEvent[];
}

interface WaitingSave {
  /** JSON. */
  readonly state: string;
  readonly messages: readonly LogEntry[];
  readonly slots: readonly SlotRow[];
}

/** What makes a run a conversation: what it reads of that in the store, and what waits to be written with the next commit. */
export class RunConversation {
  readonly before: RunBefore | undefined;
  readonly #options: RunConversationOptions;
  /** In the store, as `#messages` are. */
  #turns: number;
  #messages: number;
  #usage: Usage;
  #waiting: WaitingSave[] = [];

  constructor(options: RunConversationOptions) {
    const { newest, events = [] } = options;
    this.#options = options;
    this.before = newest && runBefore(newest);
    this.#turns = newest?.n ?? 0;
    this.#messages = newest?.messages ?? 0;
    this.#usage = this.before?.usage ?? { input: 0, output: 0 };
    for (const event of events) this.tell(event);
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  tell(event: RunEvent): void {
    if (event.type === "usage") this.#usage = addUsage(this.#usage, event);
  }

  save({ state, messages, slots }: ConversationSave): void {
    const { mask } = this.#options;
    const waiting = this.#waiting.reduce((sum, { messages }) => sum + messages.length, 0);
    this.#assertNext(messages, this.#messages + waiting);
    this.#waiting.push({
      state: JSON.stringify(mask(state)),
      messages: messages.map(({ n, who, text, steps }) => ({
        n,
        who,
        text: mask(text),
        steps: mask([...steps]),
      })),
      slots: slots.map(({ name, value, ...scope }) => ({
        scope: scopeText(scope, mask),
        name: mask(name),
        value: JSON.stringify(mask(value)),
      })),
    });
  }

  messages({ from = 1, last = Infinity }: MessageRange): readonly LogEntry[] {
    const { id, store } = this.#options;
    const most = Math.max(0, Math.floor(last));
    const all = this.#waiting.flatMap(({ messages }) => messages).filter(({ n }) => n >= from);
    const waiting = all.slice(Math.max(0, all.length - most));
    const left = most - waiting.length;
    if (left === 0) return waiting;
    const range = { from, ...(left === Infinity ? {} : { last: left }) };
    return [...parsedMessages(store.conversations.messages(id, range)), ...waiting];
  }

  slots(scope: SlotScope): Readonly<Record<string, Json>> {
    const { store, mask } = this.#options;
    const text = scopeText(scope, mask);
    const waiting = this.#waiting.flatMap(({ slots }) => slots).filter((slot) => slot.scope === text);
    return slotValues([...store.conversations.slots(text), ...waiting]);
  }

  /** Writes what waits, behind the events that were told; inside a commit. */
  put(moment: RunMoment, usage: string | undefined): void {
    const { id, store: { conversations } } = this.#options;
    let [n, total] = [this.#turns, this.#messages];
    for (const { state, messages, slots } of this.#waiting) {
      total += messages.length;
      const used = usage ?? JSON.stringify(this.#usage);
      conversations.addCheckpoint(id, { n: ++n, state, messages: total, usage: used, ...moment });
      for (const message of messages) {
        conversations.addMessage(id, { n: message.n, message: JSON.stringify(message) });
      }
      for (const slot of slots) conversations.putSlot(slot);
    }
  }

  /** What was put is durable. */
  kept(): void {
    this.#turns += this.#waiting.length;
    for (const { messages } of this.#waiting) this.#messages += messages.length;
    this.#waiting = [];
  }

  #assertNext(messages: readonly LogEntry[], length: number): void {
    const index = messages.findIndex(({ n }, index) => n !== length + index + 1);
    const wrong = messages[index];
    if (wrong === undefined) return;
    throw new Error(
      `Message ${wrong.n} does not go on where the log of run "${this.#options.id}" ends: expected message ${
        length + index + 1
      }`,
    );
  }
}

/** Whose slots, as one text: what is absent is no name. */
export function scopeText({ user, module, session }: SlotScope, mask: JournalSettings["mask"]): string {
  return JSON.stringify(mask([user, module ?? null, session ?? null]));
}

/** The values by name; the last one of a name counts. */
export function slotValues(rows: readonly SlotRow[]): Readonly<Record<string, Json>> {
  return Object.fromEntries(rows.map(({ name, value }): [string, Json] => [name, JSON.parse(value)]));
}

/** Messages as the store has them. */
export function parsedMessages(texts: readonly string[]): readonly LogEntry[] {
  return JSON.parse(`[${texts.join(",")}]`);
}

function runBefore({ n, messages, state, seenSeq, seenAt, usage }: CheckpointRow): RunBefore {
  return {
    checkpoint: { n, messages, state: JSON.parse(state) },
    seq: seenSeq,
    at: seenAt,
    usage: JSON.parse(usage),
  };
}
