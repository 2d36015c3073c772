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
  withoutMedia,
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
export interface RunConversation {
  readonly before: RunBefore | undefined;
  readonly isWaiting: boolean;
  tell(event: RunEvent): void;
  save(save: ConversationSave): void;
  messages(range: MessageRange): readonly LogEntry[];
  slots(scope: SlotScope): Readonly<Record<string, Json>>;
  /** Writes what waits, behind the events that were told; inside a commit. Default usage: what those tell. */
  put(moment: RunMoment, usage: string | undefined): void;
  /** What was put is durable. */
  kept(): void;
}

/** @param options what it is kept with */
export function runConversation(options: RunConversationOptions): RunConversation {
  let waiting: WaitingSave[] = [];
  const { id, store: { conversations }, mask, newest, events = [] } = options;
  const before: RunBefore | undefined = newest && runBefore(newest);
  /** In the store, as `messageCount` are. */
  let turnCount: number = newest?.n ?? 0;
  let messageCount: number = newest?.messages ?? 0;
  let usage: Usage = before?.usage ?? { input: 0, output: 0 };
  for (const event of events) tell(event);

  function tell(event: RunEvent): void {
    if (event.type === "usage") usage = addUsage(usage, event);
  }

  function save({ state, messages, slots }: ConversationSave): void {
    assertNext(messages, messageCount + waiting.reduce((sum, { messages }) => sum + messages.length, 0));
    waiting.push({
      state: JSON.stringify(mask(state)),
      messages: messages.map(({ n, who, text, steps, media }) => ({
        n,
        who,
        text: mask(text),
        steps: mask([...steps]),
        ...(media !== undefined && { media: mask(withoutMedia(media)) }),
      })),
      slots: slots.map(({ name, value, ...scope }) => ({
        scope: scopeText(scope, mask),
        name: mask(name),
        value: JSON.stringify(mask(value)),
      })),
    });
  }

  function messages({ from = 1, last = Infinity }: MessageRange): readonly LogEntry[] {
    const most = Math.max(0, Math.floor(last));
    const all = waiting.flatMap(({ messages }) => messages).filter(({ n }) => n >= from);
    const newest = all.slice(Math.max(0, all.length - most));
    const left = most - newest.length;
    if (left === 0) return newest;
    const range = { from, ...(left === Infinity ? {} : { last: left }) };
    return [...parsedMessages(conversations.messages(id, range)), ...newest];
  }

  function slots(scope: SlotScope): Readonly<Record<string, Json>> {
    const text = scopeText(scope, mask);
    const unwritten = waiting.flatMap(({ slots }) => slots).filter((slot) => slot.scope === text);
    return slotValues([...conversations.slots(text), ...unwritten]);
  }

  function put(moment: RunMoment, checked: string | undefined): void {
    let [n, total] = [turnCount, messageCount];
    for (const { state, messages, slots } of waiting) {
      total += messages.length;
      conversations.addCheckpoint(id, {
        n: ++n,
        state,
        messages: total,
        usage: checked ?? JSON.stringify(usage),
        ...moment,
      });
      for (const message of messages) {
        conversations.addMessage(id, { n: message.n, message: JSON.stringify(message) });
      }
      for (const slot of slots) conversations.putSlot(slot);
    }
  }

  function kept(): void {
    turnCount += waiting.length;
    for (const { messages } of waiting) messageCount += messages.length;
    waiting = [];
  }

  function assertNext(messages: readonly LogEntry[], length: number): void {
    const index = messages.findIndex(({ n }, index) => n !== length + index + 1);
    const wrong = messages[index];
    if (wrong === undefined) return;
    throw new Error(
      `Message ${wrong.n} does not go on where the log of run "${id}" ends: expected message ${
        length + index + 1
      }`,
    );
  }

  return {
    before,
    get isWaiting() {
      return waiting.length > 0;
    },
    tell,
    save,
    messages,
    slots,
    put,
    kept,
  };
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
