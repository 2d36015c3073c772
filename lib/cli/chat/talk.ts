import type { Output, Terminal } from "../../host/terminal/terminal.ts";
import type { TerminalUser } from "../../host/terminal/user.ts";
import { isInsideCall, printable } from "../../render/shown_text.ts";
import type { RunEvent } from "../../core/core.ts";
import { RunSummary } from "../../service/runs/summary.ts";
import type { OpenedChat } from "../../service/start/chat.ts";
import { type AroundRun, aroundRun, type AroundRunOptions, typistAt } from "../run/around.ts";
import { endRun, toItsEnd } from "../run/end.ts";
import { answerStream, jsonLine, plainView, type RunView } from "../run/view.ts";
import { attachAt } from "../../service/input/attached.ts";
import type { StartPlace } from "../../service/start/ready_run.ts";
import {
  type ChatLines,
  ChatStop,
  MessageFiles,
  nextMessage,
  pipedMessages,
  typedMessages,
} from "./lines.ts";

/** A conversation from the moment its command was typed: it can be stopped before it begins. */
export type Talk = Pick<ChatWork, "terminal" | "flags" | "view" | "stop">;

/** How a conversation is held. */
export interface HoldTalkOptions extends Pick<StartPlace, "project" | "grants"> {
  /** Named by `--attach`. Default: none. */
  readonly attach?: readonly string[];
  /** Told what servers are given; default: it is gathered in `found`. */
  readonly secrets?: AroundRunOptions["secrets"];
  /** A record says what was said. Default false. */
  readonly isReplay?: boolean;
  /** Opens whoever is talked with, and begins or goes on. */
  begin(around: AroundRun): Promise<OpenedChat>;
}

/** Listens for Ctrl-C, and says on stderr what it does. */
export function beginTalk(
  terminal: Terminal,
  flags: ChatWork["flags"],
  { file = "chat" }: {
    /** How errors name what is talked with. */
    readonly file?: string;
  } = {},
): Talk {
  const view = plainView(terminal.stderr, { file, quiet: flags.quiet, shownText: "none" });
  const stop = new ChatStop(terminal, (text) => void terminal.stderr.write(`\n${text}\n`));
  return { terminal, flags, view, stop };
}

/** Opens what the conversation needs and talks to its end; gives the exit code. */
export async function holdTalk(
  talk: Talk,
  { project, grants, attach = [], secrets, isReplay = false, begin }: HoldTalkOptions,
): Promise<number> {
  const { terminal } = talk;
  const typist = isReplay ? undefined : await typistOf(terminal);
  await using around = await aroundTalk(talk, { typist, secrets });
  const files = new MessageFiles(attachAt({ project, grants, around }));
  await files.add(attach);
  return await performChat({ ...talk, ...await begin(around), cwd: project.cwd, typist, files });
}

/** Whoever types; undefined where messages come through a pipe. */
export async function typistOf(terminal: Terminal): Promise<TerminalUser | undefined> {
  return terminal.stdinIsTerminal ? await typistAt(terminal, { edits: true }) : undefined;
}

/** Says with whom one talks, where somebody types. */
export async function greet({ terminal, flags }: Talk, name: string): Promise<void> {
  if (!terminal.stdinIsTerminal || flags.quiet) return;
  await terminal.stderr.write(printable(`${name}; /help shows what there is, Ctrl-D ends\n`));
}

/** What is around a conversation. What a server says while somebody types would stand in the middle of their line. */
export async function aroundTalk(
  { terminal, flags, view, stop }: Talk,
  { typist, secrets }: {
    readonly typist: TerminalUser | undefined;
    readonly secrets?: AroundRunOptions["secrets"];
  },
): Promise<AroundRun> {
  const seen: RunView = typist === undefined ? view : { ...view, log: () => Promise.resolve() };
  return await aroundRun(seen, {
    terminal,
    stop,
    isQuiet: flags.quiet,
    usesStdin: false,
    typist,
    turn: () => stop.turn,
    secrets,
  });
}

/** A conversation with everything it needs. */
export interface ChatWork extends OpenedChat {
  readonly terminal: Terminal;
  readonly flags: { readonly jsonl: boolean; readonly quiet: boolean };
  readonly cwd: string;
  readonly view: RunView;
  readonly stop: ChatStop;
  /** Whoever types the messages; undefined where they come through a pipe. */
  readonly typist?: TerminalUser;
  /** Default: a record has them. */
  readonly files?: MessageFiles;
}

/** Talks until there is nothing more to say; gives the exit code. */
export async function performChat(work: ChatWork): Promise<number> {
  const { terminal, flags, view, stop, kept } = work;
  const answers = answersOf(work);
  let lines: ChatLines | undefined;
  let isShowing = false;
  // Events are taken as soon as they are told; what is left is to have written them.
  const shown = async () => {
    do await new Promise((resolve) => setTimeout(resolve, 0)); while (isShowing);
  };
  const events = work.events({
    async next() {
      await shown();
      stop.listening();
      const message = await nextMessage(lines ??= linesOf(work), stop.signal);
      if (message !== undefined) stop.answering();
      return message;
    },
    async answered() { // what was said of an answer is all there is of it
      await shown();
      await answers?.end();
    },
  });
  const known = kept.options.journal?.events.at(-1)?.seq ?? 0;
  const summary = new RunSummary({ withCalls: false });
  const ended = await toItsEnd(work, async () => {
    try {
      for await (const event of events) {
        isShowing = true;
        summary.add(event);
        if (event.seq > known) {
          if (flags.jsonl) await terminal.stdout.write(jsonLine(event));
          await answers?.event(event);
          await view.event(event);
        }
        if (terminal.stdout.closed) stop.leave();
        isShowing = false;
      }
    } finally {
      await answers?.end();
      await view.end();
    }
    return summary;
  });
  return await endRun(ended, { ...work, flags: { ...flags, json: false, output: undefined }, isShown: true });
}

/** Where the answers go; undefined where events say all of them. */
function answersOf({ terminal: { stdout, stdinIsTerminal }, flags, answers }: ChatWork) {
  if (flags.jsonl) return undefined;
  const isLast = answers.hasContract || (!stdinIsTerminal && answers.hasTools);
  return isLast ? lastAnswers(stdout) : answerStream({ stdout, endsLines: true });
}

function linesOf(
  { terminal, stop: { signal }, typist, cwd, files = new MessageFiles({ cwd }) }: ChatWork,
): ChatLines {
  if (typist === undefined) return pipedMessages(terminal, signal, files);
  return typedMessages(typist, { say: (text) => terminal.stderr.write(printable(text)), signal, files });
}

/**
 * Writes the answer of each turn when the turn is over, a line end behind it: what a model said while it called something is none, nor what
 * broke a contract and was asked for again.
 */
function lastAnswers(stdout: Output) {
  /** The last step that called something. */
  let calling: string | undefined;
  let answer: { readonly step: string; readonly text: string } | undefined;

  function event(event: RunEvent): Promise<void> {
    if (event.type === "message" && !isInsideCall(event.step)) answer = event;
    const isCall = event.type === "call-open" && event.step !== undefined && !isInsideCall(event.step);
    if (isCall) calling = event.step;
    if (answer?.step === calling) answer = undefined;
    return Promise.resolve();
  }

  /** The turn is over. */
  async function end(): Promise<void> {
    const { text } = answer ?? {};
    answer = undefined;
    if (text === undefined) return;
    const shown = stdout.isTerminal ? printable(text) : text;
    await stdout.write(shown.endsWith("\n") ? shown : `${shown}\n`);
  }

  return { event, end };
}
