import type { Terminal } from "../host/terminal.ts";
import type { TerminalUser } from "../host/terminal_user.ts";
import type { ProjectSettings } from "../project/project.ts";
import { aroundRun } from "./around_run.ts";
import type { AroundRun, AroundRunOptions } from "./around_run.ts";
import { ChatStop } from "./chat_stop.ts";
import { EXIT } from "./exit_code.ts";
import { openDialog } from "./open_dialog.ts";
import type { OpenDialogOptions, OpenedDialog } from "./open_dialog.ts";
import { plainView } from "./plain_view.ts";
import { performChat } from "./run_chat.ts";
import type { ChatWork } from "./run_chat.ts";
import type { RunView } from "./run_view.ts";
import { typistAt } from "./user_behind.ts";

/** A conversation from the moment its command was typed: it can be stopped before it begins. */
export type Talk = Pick<ChatWork, "terminal" | "flags" | "view" | "stop">;

/** How a conversation is held. */
export interface HoldTalkOptions extends Omit<OpenDialogOptions, "around"> {
  readonly project: ProjectSettings;
  /** Told what servers are given; default: it is gathered in `found`. */
  readonly secrets?: AroundRunOptions["secrets"];
  /** Begins or goes on, when there is a model to talk with. */
  begin(dialog: OpenedDialog, around: AroundRun): Promise<Pick<ChatWork, "input" | "kept">>;
}

/** Listens for Ctrl-C, and says on stderr what it does. */
export function beginTalk(terminal: Terminal, flags: ChatWork["flags"]): Talk {
  const view = plainView(terminal.stderr, { file: "chat", quiet: flags.quiet, shownText: "none" });
  const stop = new ChatStop(terminal, (text) => void terminal.stderr.write(`\n${text}\n`));
  return { terminal, flags, view, stop };
}

/** Opens what the conversation needs and talks to its end; gives the exit code. */
export async function holdTalk(
  talk: Talk,
  { project, grants, tools, name, secrets, begin }: HoldTalkOptions,
): Promise<number> {
  const { terminal } = talk;
  const typist = terminal.stdinIsTerminal ? await typistAt(terminal) : undefined;
  await using around = await aroundTalk(talk, { typist, secrets });
  const dialog = await openDialog(project, { around, grants, tools, name });
  if (dialog === undefined) return EXIT.interrupted;
  const begun = await begin(dialog, around);
  return await performChat({ ...talk, ...dialog, ...begun, cwd: project.cwd, typist });
}

/** What a server says while somebody types would stand in the middle of their line. */
async function aroundTalk(
  { terminal, flags, view, stop }: Talk,
  { typist, secrets }: {
    readonly typist: TerminalUser | undefined;
    readonly secrets: AroundRunOptions["secrets"];
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
    ...(secrets && { secrets }),
  });
}
