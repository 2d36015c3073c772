import { ConversationError, linkedSignal, messageOf, type RunEvent, typedPath } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { AgentFile } from "../../parse/agent/agent.ts";
import { agentTree } from "../../parse/agent/tree.ts";
import type { ProjectSettings } from "../../project/project.ts";
import { longText, printable } from "../../render/shown_text.ts";
import { AskingSteps, OwnTexts } from "../../render/turn_texts.ts";
import type { LiveConversation } from "../../run/conversation/conversation.ts";
import { RunSummary } from "../../service/runs/summary.ts";
import type { ConversationSession } from "../../service/talks/session.ts";
import type { Interruptible } from "../run/around.ts";
import { type ChatLines, type ChatStop, nextMessage } from "../chat/lines.ts";
import { type MessageStream, messageStream } from "./message_stream.ts";
import type { DeliverOptions } from "../run/end.ts";
import { jsonLine, type RunView } from "../run/view.ts";

/** A conversation as it stands, and what makes its turns. */
export type TalkLive = Pick<
  LiveConversation,
  "id" | "status" | "turns" | "log" | "slots" | "start" | "say" | "retry"
>;

/** A conversation that is held, here or at a server. */
export interface TalkSession
  extends Pick<ConversationSession, "isInterrupted" | "settle" | "back" | "close"> {
  readonly live: TalkLive;
  /** Where its record is until it is whole. Default: it has none. */
  readonly partialRecord?: string;
  turn(
    make: (live: TalkLive) => AsyncIterable<RunEvent>,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<RunEvent>;
}

/** A conversation with everything it needs. */
export interface ConversationWork {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly place: Pick<ProjectSettings, "root" | "cwd">;
  readonly view: RunView;
  /** That of a chat stops a turn alone, and hears of turns. */
  readonly stop: Interruptible & Partial<Pick<ChatStop, "answering" | "listening" | "turn">>;
  readonly agent: AgentFile;
  readonly session: TalkSession;
  /** What is done before anything is said. */
  readonly first: "start" | "retry" | "listen";
  /** `seq` of the last event that somebody has heard of before. Default 0. */
  readonly heard?: number;
  /** Gives what is said. */
  lines(talk: ConversationTalk): ChatLines;
  /** Somebody types: what goes wrong is told, and the conversation goes on. */
  readonly isTyped: boolean;
  /** A turn that fails is no end, since what is said next tries it again. */
  readonly isChat: boolean;
  /** What stands between two messages, besides the line end. Default: nothing. */
  readonly between?: string;
  /** It can be gone on with. */
  readonly isKept: boolean;
  /** What commands about it end with, where it is held at a server. Default: nothing. */
  readonly there?: string;
}

/** What the person is told of a turn that failed (conversations.md 2.12). */
const WENT_WRONG = "Something went wrong. Send a message to try again.\n";

/** What can be typed then. */
const STOPPED = "The answer was stopped: /retry finishes it, /back takes the message back\n";

/** The reasons of turns that a budget ended (turn.md 2.5). */
const BUDGETS: ReadonlySet<string> = new Set(["turns", "tokens", "cost", "time"]);

/** How a turn ended. */
interface EndedTurn {
  readonly end: Extract<RunEvent, { readonly type: "run-end" }>;
  readonly summary: RunSummary;
}

/** Both sides of a conversation: what is said, and what comes of it. */
export class ConversationTalk {
  /** What was said in all turns. */
  readonly said: string[] = [];
  /** Of the last turn. */
  events: RunEvent[] = [];
  /** Undefined before the end of the first turn. */
  last: EndedTurn | undefined;
  /** What was not taken ended it. */
  problem: ConversationError | undefined;
  readonly #work: ConversationWork;
  readonly #messages: MessageStream | undefined;
  readonly #texts = new OwnTexts();
  readonly #asking = new AskingSteps();
  #heard: number;
  /** The turn that was begun last. */
  #making: Promise<void> = Promise.resolve();

  constructor(work: ConversationWork) {
    const { terminal: { stdout }, view, flags, between, heard = 0 } = work;
    this.#work = work;
    this.#heard = heard;
    const isShown = !flags.json && !flags.jsonl && flags.output === undefined;
    if (isShown) this.#messages = messageStream({ stdout, view, between });
  }

  async hold(): Promise<void> {
    try {
      const { first, stop: { signal } } = this.#work;
      if (first !== "listen") await this.turn((live) => live[first]());
      const lines = this.#work.lines(this);
      while (!this.isOver) {
        const message = await nextMessage(lines, signal);
        if (message === undefined) return;
        await this.turn((live) => live.say(message));
      }
      const isMore = this.isCompleted && this.problem === undefined && await lines.hasMore?.() === true;
      if (isMore) await this.turn((live) => live.say("more")); // which is refused, in the words for it
    } finally {
      await this.#making; // a command that was left makes one too
    }
  }

  get isCompleted(): boolean {
    return this.#work.session.live.status === "completed";
  }

  /** Nothing more can be said. */
  get isOver(): boolean {
    const { session, stop, isTyped, isChat } = this.#work;
    if (stop.signal.aborted || this.problem !== undefined || this.isCompleted) return true;
    return session.isInterrupted ? !isTyped : session.live.status === "failed" && !isChat;
  }

  /** Takes back the last turns; another conversation takes the place of this one, with events of its own. @throws {RangeError} */
  async back(count: number): ReturnType<ConversationSession["back"]> {
    const went = await this.#work.session.back(count);
    this.#heard = 0;
    return went;
  }

  /** Makes one turn; what the conversation does not take is told. */
  async turn(make: (live: TalkLive) => AsyncIterable<RunEvent>): Promise<void> {
    const made = this.#make(make);
    this.#making = made.catch(() => undefined);
    await made;
  }

  async #make(make: (live: TalkLive) => AsyncIterable<RunEvent>): Promise<void> {
    const { session, stop, isTyped } = this.#work;
    stop.answering?.();
    using linked = linkedSignal([stop.signal, stop.turn]);
    try {
      this.last = await this.#follow(session.turn(make, linked));
      await this.#say(this.#endText(this.last.end));
    } catch (error) {
      if (!(error instanceof ConversationError)) throw error;
      if (!isTyped) this.problem = error;
      await this.#say(
        isTyped && error.code === "interrupted" ? STOPPED : `error: ${printable(messageOf(error))}\n`,
      );
    }
    stop.listening?.();
  }

  /** Follows one turn to its end. What is told again of a turn that was interrupted is not shown again. */
  async #follow(turn: AsyncIterable<RunEvent>): Promise<EndedTurn> {
    const { terminal, stop } = this.#work;
    const summary = new RunSummary({ withCalls: false });
    let end: EndedTurn["end"] | undefined;
    this.events = [];
    try {
      for await (const event of turn) {
        this.events.push(event);
        summary.add(event);
        const isOwn = this.#texts.isOwn(event);
        const named = this.#asking.named(event);
        if (event.type === "message" && isOwn) this.said.push(event.text);
        if (event.seq > this.#heard) await this.#show(event, { isOwn, named });
        if (event.type === "run-end") end = event;
        if (terminal.stdout.closed) stop.leave();
      }
    } finally {
      await this.#messages?.end();
    }
    if (end === undefined) throw new Error("The turn has no end");
    return { end, summary };
  }

  async #show(
    event: RunEvent,
    { isOwn, named }: { readonly isOwn: boolean; readonly named: RunEvent },
  ): Promise<void> {
    const { terminal, view, flags } = this.#work;
    this.#heard = event.seq;
    if (flags.jsonl) await terminal.stdout.write(jsonLine(event));
    await this.#messages?.event(event, { isOwn });
    if (event.type !== "run-start" && event.type !== "run-end") await view.event(named); // of a turn only
  }

  /** What is said of the end of a turn; empty where nothing is. */
  #endText({ status, reason = "", error = "" }: EndedTurn["end"]): string {
    const { agent, isChat, isTyped, place } = this.#work;
    if (status === "failed") {
      const text = failedTurnText({ ...agent, file: typedPath(agent.file, place) }, error);
      return printable(text) + (isChat ? WENT_WRONG : "");
    }
    if (status !== "stopped") return "";
    const budget = BUDGETS.has(reason) ? `error: ${printable(error)}; --budget gives more\n` : "";
    return budget + (isTyped ? STOPPED : "");
  }

  /** Where a view moves, it moves out of the way. */
  async #say(text: string): Promise<void> {
    if (text === "") return;
    const { terminal: { stderr }, view } = this.#work;
    await view.pause();
    await stderr.write(text);
    view.resume();
  }
}

/** What the operator is told of a turn that failed, with the place of its step (conversations.md 2.12): `support.agent.yml:12:7: error: …`. */
function failedTurnText({ file, root }: AgentFile, error: string): string {
  const [, id = ""] = /^step "([^"]+)": /.exec(error) ?? [];
  const { line, column } = agentTree(root).find(id)?.span ?? {};
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  return `${place}: error: ${longText(error)}\n`;
}
