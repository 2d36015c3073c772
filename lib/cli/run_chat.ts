import type { RunEvent } from "../core/event.ts";
import type { Output, Terminal } from "../host/terminal.ts";
import type { TerminalUser } from "../host/terminal_user.ts";
import type { KeptRun } from "../project/open_run.ts";
import { jsonLine } from "../render/jsonl.ts";
import { isInsideCall, printable } from "../render/shown_text.ts";
import type { DialogSource } from "../run/dialog.ts";
import { RunSummary } from "../service/runs/summary.ts";
import { AnswerStream } from "./answer_stream.ts";
import { type ChatLines, pipedMessages, typedMessages } from "./chat_lines.ts";
import type { ChatStop } from "./chat_stop.ts";
import { endRun, namingRecord, sayWhatIsLeft } from "./end_run.ts";
import type { RunView } from "./run_view.ts";

/** A conversation with everything it needs. */
export interface ChatWork {
  readonly terminal: Terminal;
  readonly flags: { readonly jsonl: boolean; readonly quiet: boolean };
  readonly cwd: string;
  readonly view: RunView;
  readonly stop: ChatStop;
  readonly kept: KeptRun | undefined;
  /** Whoever types the messages; undefined where they come through a pipe. */
  readonly typist?: TerminalUser;
  /** What may stand before an answer that is one. */
  readonly answers: { readonly hasTools: boolean; readonly hasContract: boolean };
  /** Talks with whoever answers. */
  events(source: DialogSource): AsyncIterable<RunEvent>;
}

/** Talks until there is nothing more to say; gives the exit code. */
export async function performChat(work: ChatWork): Promise<number> {
  const { terminal, view, stop, kept, flags } = work;
  stop.onSecond(() => {
    view.abandon();
    sayWhatIsLeft(terminal, kept);
  });
  const talk = new Talk(work);
  const events = work.events({ next: () => talk.next(), answered: () => talk.answered() });
  const summary = await namingRecord(kept, { terminal, work: () => talk.follow(events) });
  return await endRun(summary, {
    ...work,
    flags: { ...flags, json: false, output: undefined },
    isShown: true,
  });
}

/** Both sides of a conversation: what is typed, and what is shown of the answers. */
class Talk {
  readonly #work: ChatWork;
  readonly #answers: AnswerStream | LastAnswers | undefined;
  #lines: ChatLines | undefined;
  #isShowing = false;

  constructor(work: ChatWork) {
    const { terminal: { stdout, stdinIsTerminal }, flags, answers: { hasTools, hasContract } } = work;
    this.#work = work;
    if (flags.jsonl) this.#answers = undefined;
    else if (hasContract || (!stdinIsTerminal && hasTools)) this.#answers = new LastAnswers(stdout);
    else this.#answers = new AnswerStream({ stdout, endsLines: true });
  }

  /** The next message: asked for when everything that was told is on the screen. */
  async next(): Promise<string | undefined> {
    const { stop } = this.#work;
    await this.#shown();
    stop.listening();
    const left = Promise.withResolvers<undefined>();
    const onAbort = () => left.resolve(undefined);
    stop.signal.addEventListener("abort", onAbort, { once: true });
    this.#lines ??= this.#open();
    const message = stop.signal.aborted ? undefined : await Promise.race([this.#lines.next(), left.promise]);
    stop.signal.removeEventListener("abort", onAbort);
    if (message !== undefined) stop.answering();
    return message;
  }

  /** What was said of an answer is all there is of it. */
  async answered(): Promise<void> {
    await this.#shown();
    await this.#answers?.end();
  }

  async follow(events: AsyncIterable<RunEvent>): Promise<RunSummary> {
    const { terminal, view, flags, kept, stop } = this.#work;
    const summary = new RunSummary({ withCalls: false });
    const known = kept?.options.journal?.events.at(-1)?.seq ?? 0;
    try {
      for await (const event of events) {
        this.#isShowing = true;
        summary.add(event);
        if (event.seq > known) {
          if (flags.jsonl) await terminal.stdout.write(jsonLine(event));
          await this.#answers?.event(event);
          await view.event(event);
        }
        if (terminal.stdout.closed) stop.leave();
        this.#isShowing = false;
      }
    } finally {
      await this.#answers?.end();
      await view.end();
    }
    return summary;
  }

  #open(): ChatLines {
    const { terminal, stop, typist } = this.#work;
    if (typist === undefined) return pipedMessages(terminal, stop.signal);
    const say = (text: string) => terminal.stderr.write(printable(text));
    return typedMessages(typist, { say, signal: stop.signal });
  }

  /** Events are taken as soon as they are told; what is left is to have written them. */
  async #shown(): Promise<void> {
    do await new Promise((resolve) => setTimeout(resolve, 0)); while (this.#isShowing);
  }
}

/**
 * Writes the answer of each turn when the turn is over, a line end behind it: what a model said while it called something is none, nor what
 * broke a contract and was asked for again.
 */
class LastAnswers {
  readonly #stdout: Output;
  /** The last step that called something. */
  #calling: string | undefined;
  #answer: { readonly step: string; readonly text: string } | undefined;

  constructor(stdout: Output) {
    this.#stdout = stdout;
  }

  event(event: RunEvent): Promise<void> {
    if (event.type === "message" && !isInsideCall(event.step)) this.#answer = event;
    const isCall = event.type === "call-open" && event.step !== undefined && !isInsideCall(event.step);
    if (isCall) this.#calling = event.step;
    if (this.#answer?.step === this.#calling) this.#answer = undefined;
    return Promise.resolve();
  }

  /** The turn is over. */
  async end(): Promise<void> {
    const { text } = this.#answer ?? {};
    this.#answer = undefined;
    if (text === undefined) return;
    const shown = this.#stdout.isTerminal ? printable(text) : text;
    await this.#stdout.write(shown.endsWith("\n") ? shown : `${shown}\n`);
  }
}
