import type { Terminal } from "../host/terminal.ts";
import type { TerminalUser } from "../host/terminal_user.ts";
import { aroundRun, typistAt } from "./around_run.ts";
import type { AroundRun, AroundRunOptions } from "./around_run.ts";
import { ChatStop } from "./chat_stop.ts";
import { EXIT } from "../service/exit_code.ts";
import { plainView } from "./run_view.ts";
import { performChat } from "./run_chat.ts";
import type { ChatWork } from "./run_chat.ts";
import type { RunView } from "./run_view.ts";

/** A conversation from the moment its command was typed: it can be stopped before it begins. */
export type Talk = Pick<ChatWork, "terminal" | "flags" | "view" | "stop">;

/** How a conversation is held. */
export interface HoldTalkOptions {
  readonly cwd: string;
  /** Told what servers are given; default: it is gathered in `found`. */
  readonly secrets?: AroundRunOptions["secrets"];
  /** A record says what was said. Default false. */
  readonly isReplay?: boolean;
  /** Opens whoever is talked with, and begins or goes on; undefined when Ctrl-C came first. */
  begin(around: AroundRun): Promise<Pick<ChatWork, "events" | "answers" | "kept"> | undefined>;
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
  { cwd, secrets, isReplay = false, begin }: HoldTalkOptions,
): Promise<number> {
  const { terminal } = talk;
  const typist = isReplay ? undefined : await typistOf(terminal);
  await using around = await aroundTalk(talk, { typist, secrets });
  const begun = await begin(around);
  if (begun === undefined) return EXIT.interrupted;
  return await performChat({ ...talk, ...begun, cwd, typist });
}

/** Whoever types; undefined where messages come through a pipe. */
export async function typistOf(terminal: Terminal): Promise<TerminalUser | undefined> {
  return terminal.stdinIsTerminal ? await typistAt(terminal, { edits: true }) : undefined;
}

/** Says with whom one talks, where somebody types. */
export async function greet({ terminal, flags }: Talk, name: string): Promise<void> {
  if (!terminal.stdinIsTerminal || flags.quiet) return;
  const { printable }: typeof import("../render/shown_text.ts") = await import(
    "../render/shown_text.ts" as string
  );
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
