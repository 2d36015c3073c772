import type { RunEvent } from "../../core/core.ts";
import type { Output, Terminal } from "../../host/terminal/terminal.ts";
import { AskingSteps, OwnTexts } from "../../render/turn_texts.ts";
import { RunSummary } from "../../service/runs/summary.ts";
import type { Interruptible } from "../run/around.ts";
import { AnswerStream, jsonLine, type RunView } from "../run/view.ts";

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
  /** What was said in all of them. */
  readonly said: string[] = [];
  readonly #texts = new OwnTexts();
  readonly #asking = new AskingSteps();
  #heard: number;
  #events: RunEvent[] = [];
  #last: EndedTurn | undefined;

  constructor(options: ConversationTurnsOptions) {
    this.#options = options;
    this.#heard = options.heard ?? 0;
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
        if (event.type === "message" && isOwn) this.said.push(event.text);
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

/** How the messages of an agent get to stdout. */
interface MessageStreamOptions {
  readonly stdout: Output;
  /** Moves out of the way while something is written. */
  readonly view: Pick<RunView, "pause" | "resume">;
  /** What stands between two messages, besides the line end. Default: nothing. */
  readonly between?: string;
}

type Delta = Extract<RunEvent, { readonly type: "text-delta" }>;
type Message = Extract<RunEvent, { readonly type: "message" }>;

/**
 * Writes what an agent says, a message at a time. A terminal gets text as it comes; everybody else only whole messages, since a step that
 * fails takes back what it had said.
 */
export class MessageStream {
  readonly #options: MessageStreamOptions;
  readonly #answer: AnswerStream;
  /** What a step has said so far of a message that is not whole. */
  #open: { readonly step: string; readonly text: string } | undefined;
  #isFirst = true;

  constructor(options: MessageStreamOptions) {
    const { stdout, view } = options;
    this.#options = options;
    this.#answer = new AnswerStream({
      stdout,
      endsLines: true,
      onBegin: () => this.#begin(),
      onEnd: () => view.resume(),
    });
  }

  /** @param isOwn of text: it is the agent's own, and not of something that a step runs */
  async event(event: RunEvent, { isOwn }: { readonly isOwn: boolean }): Promise<void> {
    if (event.type === "text-delta" || event.type === "message") {
      if (isOwn) await this.#text(event);
    } else if (event.type === "step-end") await this.#answer.end(); // what a view says of it begins a line
    else if (event.type === "run-end" || (event.type === "step-start" && event.kind === "model")) {
      await this.end(); // what was said before a call of a tool is no part of the message
    }
  }

  /** Nothing more comes of the message that is being written. */
  async end(): Promise<void> {
    this.#open = undefined;
    await this.#answer.end();
  }

  async #text(event: Delta | Message): Promise<void> {
    if (event.type === "message") await this.#message(event);
    else if (this.#options.stdout.isTerminal) await this.#delta(event);
  }

  async #delta(event: Delta): Promise<void> {
    const { step, text } = event;
    if (this.#open?.step !== step) await this.end();
    this.#open = { step, text: (this.#open?.text ?? "") + text };
    await this.#answer.event({ ...event, step: "" });
  }

  async #message({ step, text, seq, at, run }: Message): Promise<void> {
    const said = this.#open?.step === step && text.startsWith(this.#open.text) ? this.#open.text : "";
    if (said === "") await this.end();
    // In one piece: a question may be asked right behind it.
    const rest = text.slice(said.length) + (said === text || text.endsWith("\n") ? "" : "\n");
    await this.#answer.event({ type: "text-delta", step: "", text: rest, seq, at, run });
    await this.end();
  }

  async #begin(): Promise<void> {
    const { stdout, view, between = "" } = this.#options;
    await view.pause();
    if (!this.#isFirst && between !== "") await stdout.write(between);
    this.#isFirst = false;
  }
}
