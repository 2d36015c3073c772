import type { RunEvent } from "../../core/core.ts";
import type { Output } from "../../host/terminal/terminal.ts";
import { type AnswerStream, answerStream, type RunView } from "../run/view.ts";

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
    this.#answer = answerStream({
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
