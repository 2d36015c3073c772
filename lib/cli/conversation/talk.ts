import { linkedSignal, messageOf, type RunEvent, typedPath } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { AgentFile } from "../../parse/agent/agent.ts";
import { agentTree } from "../../parse/agent/tree.ts";
import type { ProjectSettings } from "../../project/project.ts";
import { longText, printable } from "../../render/shown_text.ts";
import { ConversationError } from "../../run/conversation/work.ts";
import type { LiveConversation } from "../../run/conversation/conversation.ts";
import type { ConversationSession } from "../../service/talks/session.ts";
import type { Interruptible } from "../run/around.ts";
import type { ChatLines, ChatStop } from "../chat/lines.ts";
import { ConversationTurns, type EndedTurn, MessageStream } from "./turns.ts";
import type { DeliverOptions } from "../run/end.ts";
import type { RunView } from "../run/view.ts";

/** A conversation with everything it needs. */
export interface ConversationWork {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly place: Pick<ProjectSettings, "root" | "cwd">;
  readonly view: RunView;
  /** That of a chat stops a turn alone, and hears of turns. */
  readonly stop: Interruptible & Partial<Pick<ChatStop, "answering" | "listening" | "turn">>;
  readonly agent: AgentFile;
  readonly session: ConversationSession;
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
  /** Puts away what it is held with, when the conversation has come to its end or not. */
  close(isCompleted: boolean): void;
}

/** What the person is told of a turn that failed (conversations.md 2.12). */
const WENT_WRONG = "Something went wrong. Send a message to try again.\n";

/** What can be typed then. */
const STOPPED = "The answer was stopped: /retry finishes it, /back takes the message back\n";

/** The reasons of turns that a budget ended (turn.md 2.5). */
const BUDGETS: ReadonlySet<string> = new Set(["turns", "tokens", "cost", "time"]);

/** Both sides of a conversation: what is said, and what comes of it. */
export class ConversationTalk {
  readonly #work: ConversationWork;
  readonly turns: ConversationTurns;
  /** The turn that was begun last. */
  #making: Promise<void> = Promise.resolve();
  /** What was not taken ended it. */
  #problem: ConversationError | undefined;

  constructor(work: ConversationWork) {
    const { terminal, view, flags, stop, heard, between } = work;
    const isShown = !flags.json && !flags.jsonl && flags.output === undefined;
    this.#work = work;
    this.turns = new ConversationTurns({
      terminal,
      view,
      stop,
      isJsonl: flags.jsonl,
      ...(isShown && {
        messages: new MessageStream({
          stdout: terminal.stdout,
          view,
          between,
        }),
      }),
      heard,
    });
  }

  get problem(): ConversationError | undefined {
    return this.#problem;
  }

  async hold(): Promise<void> {
    try {
      await this.#hold();
    } finally {
      await this.#making; // a command that was left makes one too
    }
  }

  async #hold(): Promise<void> {
    const { first } = this.#work;
    if (first === "start") await this.turn((live) => live.start());
    if (first === "retry") await this.turn((live) => live.retry());
    const lines = this.#work.lines(this);
    while (!this.isOver) {
      const message = await this.#next(lines);
      if (message === undefined) return;
      await this.turn((live) => live.say(message));
    }
    const isMore = this.isCompleted && this.#problem === undefined && await lines.hasMore?.() === true;
    if (isMore) await this.turn((live) => live.say("more")); // which is refused, in the words for it
  }

  get isCompleted(): boolean {
    return this.#work.session.live.status === "completed";
  }

  /** Nothing more can be said. */
  get isOver(): boolean {
    const { session, stop, isTyped, isChat } = this.#work;
    if (stop.signal.aborted || this.#problem !== undefined || this.isCompleted) return true;
    return session.isInterrupted ? !isTyped : session.live.status === "failed" && !isChat;
  }

  /** Makes one turn; what the conversation does not take is told. */
  async turn(make: (live: LiveConversation) => AsyncIterable<RunEvent>): Promise<void> {
    const made = this.#make(make);
    this.#making = made.catch(() => undefined);
    await made;
  }

  async #make(make: (live: LiveConversation) => AsyncIterable<RunEvent>): Promise<void> {
    const { session, stop, isTyped } = this.#work;
    stop.answering?.();
    using linked = linkedSignal([stop.signal, stop.turn]);
    try {
      await this.#tell(await this.turns.follow(session.turn(make, linked)));
    } catch (error) {
      if (!(error instanceof ConversationError)) throw error;
      if (!isTyped) this.#problem = error;
      await this.#say(
        isTyped && error.code === "interrupted" ? STOPPED : `error: ${printable(messageOf(error))}\n`,
      );
    }
    stop.listening?.();
  }

  async #tell({ end }: EndedTurn): Promise<void> {
    const { agent, isChat, isTyped, place } = this.#work;
    if (end.status === "failed") {
      await this.#say(
        printable(failedTurnText({ ...agent, file: typedPath(agent.file, place) }, end.error ?? "")) +
          (isChat ? WENT_WRONG : ""),
      );
    }
    if (end.status === "stopped" && BUDGETS.has(end.reason ?? "")) {
      await this.#say(`error: ${printable(end.error ?? "")}; --budget gives more\n`);
    }
    if (end.status === "stopped" && isTyped) await this.#say(STOPPED);
  }

  /** Where a view moves, it moves out of the way. */
  async #say(text: string): Promise<void> {
    const { terminal: { stderr }, view } = this.#work;
    await view.pause();
    await stderr.write(text);
    view.resume();
  }

  async #next(lines: ChatLines): Promise<string | undefined> {
    const { stop: { signal } } = this.#work;
    const left = Promise.withResolvers<undefined>();
    const onAbort = () => left.resolve(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return signal.aborted ? undefined : await Promise.race([lines.next(), left.promise]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}

/** What the operator is told of a turn that failed, with the place of its step (conversations.md 2.12): `support.agent.yml:12:7: error: …`. */
function failedTurnText({ file, root }: AgentFile, error: string): string {
  const [, id = ""] = /^step "([^"]+)": /.exec(error) ?? [];
  const { line, column } = agentTree(root).find(id)?.span ?? {};
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  return `${place}: error: ${longText(error)}\n`;
}
