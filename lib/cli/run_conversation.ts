// `orrery run FILE.agent.yml --say TEXT`: a conversation up to where nothing more is said.
import { dirname, resolve } from "node:path";
import { realPath } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { openSettings } from "../project/project.ts";
import { EXIT } from "../service/exit_code.ts";
import { beginConversation } from "../service/talks/open.ts";
import { aroundRun, type Interruptible } from "./around_run.ts";
import { conversationOfFlags } from "./conversation_flags.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantsOf } from "./grants.ts";
import { holdConversation } from "./hold_conversation.ts";
import { readAgent } from "./read_agent.ts";
import { refusedAgent } from "./refused_agent.ts";
import { refuseRunFlags } from "./refused_agent_flags.ts";
import { chooseView } from "./run_view.ts";

/** What the command line says. */
export interface RunConversationOptions {
  readonly flags: ParsedCommand<typeof COMMANDS.run>["flags"];
  readonly terminal: Terminal;
  readonly cwd: string;
  readonly stop: Interruptible;
}

/** Begins a conversation, says what `--say` says, and leaves it where it waits; gives the exit code. @throws {UsageError}, {FileError}, {ProblemsError} */
export async function runConversation(
  word: string,
  { flags, terminal, cwd, stop }: RunConversationOptions,
): Promise<number> {
  refuseRunFlags(flags);
  const grants = await grantsOf(flags);
  const project = await openSettings(dirname(realPath(resolve(cwd, word))), { cwd });
  const agent = await readAgent(word, { project, terminal });
  if (agent === undefined) return EXIT.usage;
  const input = await conversationOfFlags(flags, { agent: agent.id, project, command: "run" });
  const view = await chooseView(terminal, { flags, file: agent.file, shownText: "none" });
  await using around = await aroundRun(view, { terminal, stop, isQuiet: flags.quiet, usesStdin: false });
  const begun = await beginConversation({
    agent,
    input,
    project,
    grants,
    around,
    isEphemeral: flags.ephemeral,
  });
  if (!("session" in begun)) return await refusedAgent(begun, { project, terminal });
  const left = [...flags.say];
  return await holdConversation({
    ...begun,
    terminal,
    flags,
    place: project,
    view,
    stop,
    first: "start",
    lines: () => ({
      next: () => Promise.resolve(left.shift()),
      hasMore: () => Promise.resolve(left.length > 0),
    }),
    isTyped: false,
    isChat: false,
    between: "\n",
  });
}
