import type { RunEvent } from "../core/event.ts";
import type { Terminal } from "../host/terminal.ts";
import { AskingSteps } from "../render/asking_steps.ts";
import { jsonLine } from "../render/jsonl.ts";
import { OwnTexts } from "../render/own_texts.ts";
import type { Interruptible } from "./around_run.ts";
import { RunSummary } from "../service/runs/summary.ts";
import type { MessageStream } from "./message_stream.ts";
import type { RunView } from "./run_view.ts";

/** Who hears of the turns of a conversation. */
export interface ConversationTurnsOptions {
  readonly terminal: Terminal;
  readonly view: RunView;
  readonly isJsonl: boolean;
  /** Where messages go as they come. Default: nowhere. */
  readonly messages?: MessageStream;
  readonly stop: Pick<Interruptible, "leave">;
  /** `seq` of the last event that somebody has heard of before. Default 0. */
  readonly heard?: number;
}

/** How a turn ended. */
export type TurnEnd = Extract<RunEvent, { readonly type: "run-end" }>;

/** A turn that is over. */
export interface EndedTurn {
  readonly end: TurnEnd;
  readonly summary: RunSummary;
}

/** Takes the events of turns to everybody who wants them, and keeps what is asked for later. */
export class ConversationTurns {
  readonly #options: ConversationTurnsOptions;
  readonly #said: string[] = [];
  readonly #texts = new OwnTexts();
  readonly #asking = new AskingSteps();
  #heard: number;
  #events: RunEvent[] = [];
  #last: EndedTurn | undefined;

  constructor(options: ConversationTurnsOptions) {
    this.#options = options;
    this.#heard = options.heard ?? 0;
  }

  /** What was said in all of them. */
  get said(): readonly string[] {
    return this.#said;
  }

  /** Of the last turn. */
  get events(): readonly RunEvent[] {
    return this.#events;
  }

  /** Undefined before the end of the first one. */
  get last(): EndedTurn | undefined {
    return this.#last;
  }

  /** Another conversation has taken the place of the one before: it has events of its own. */
  begunAnew(): void {
    this.#heard = 0;
  }

  /** Follows one turn to its end. What is told again of a turn that was interrupted is not shown again. */
  async follow(turn: AsyncIterable<RunEvent>): Promise<EndedTurn> {
    const { terminal, messages, stop } = this.#options;
    const summary = new RunSummary({ withCalls: false });
    let end: TurnEnd | undefined;
    this.#events = [];
    try {
      for await (const event of turn) {
        this.#events.push(event);
        summary.add(event);
        const isOwn = this.#texts.isOwn(event);
        const named = this.#asking.named(event);
        if (event.type === "message" && isOwn) this.#said.push(event.text);
        if (event.seq > this.#heard) await this.#show(event, { isOwn, named });
        if (event.type === "run-end") end = event;
        if (terminal.stdout.closed) stop.leave();
      }
    } finally {
      await messages?.end();
    }
    if (end === undefined) throw new Error("The turn has no end");
    return this.#last = { end, summary };
  }

  async #show(
    event: RunEvent,
    { isOwn, named }: { readonly isOwn: boolean; readonly named: RunEvent },
  ): Promise<void> {
    const { terminal, view, isJsonl, messages } = this.#options;
    this.#heard = event.seq;
    if (isJsonl) await terminal.stdout.write(jsonLine(event));
    await messages?.event(event, { isOwn });
    if (event.type !== "run-start" && event.type !== "run-end") await view.event(named); // of a turn only
  }
}
