import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { openSettings } from "../project/project.ts";
import { printable } from "../render/printable.ts";
import { budgetOf } from "./budget_flag.ts";
import { inputOf } from "./dialog_flags.ts";
import type { DialogInput } from "./dialog_input.ts";
import { wantedModel } from "./dialog_model.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantsOf } from "./grants.ts";
import { beginTalk, holdTalk } from "./hold_talk.ts";
import { keepDialog } from "./keep_dialog.ts";
import { replayDialog } from "./replay_dialog.ts";
import { performChat } from "./run_chat.ts";
import { wholeServers } from "./whole_servers.ts";

type ChatCommand = ParsedCommand<typeof COMMANDS.chat>;

/** `orrery chat`: talks with a model; gives the exit code. */
export async function chat({ flags }: ChatCommand, terminal: Terminal): Promise<number> {
  const cwd = workingFolder();
  const grants = grantsOf(flags);
  const budget = budgetOf(flags.budget, { command: "chat" });
  const talk = beginTalk(terminal, flags);
  if (flags.replay !== undefined) {
    const replayed = await replayDialog(flags.replay, { cwd, kind: "chat", flags });
    return await performChat({ ...talk, ...replayed, cwd });
  }
  const project = await openSettings(cwd, { cwd });
  const { tools } = flags;
  const name = wantedModel(flags.model);
  return await holdTalk(talk, {
    project,
    grants,
    tools,
    name,
    async begin({ model, catalog }, { found }) {
      const system = await systemText(flags.system, project.root);
      const input: DialogInput = {
        ...inputOf(flags, { project, budget, name, model }),
        tools: wholeServers(tools, catalog.entries),
        ...(system === "" ? {} : { system }),
      };
      const kept = await keepDialog({ kind: "chat", input }, { project, grants, found, flags });
      if (terminal.stdinIsTerminal && !flags.quiet) {
        await terminal.stderr.write(printable(`${model.id}; /help shows what there is, Ctrl-D ends\n`));
      }
      return { input, kept };
    },
  });
}

/** `AGENTS.md` of the project root is what its people want every model to know (cli.md). */
async function systemText(flag: string | undefined, root: string): Promise<string> {
  const agents = await hostFiles({ root }).readText("AGENTS.md").catch((error) => {
    if (error instanceof FileError) return "";
    throw error;
  });
  return [flag ?? "", agents.trim()].filter((text) => text !== "").join("\n\n");
}
