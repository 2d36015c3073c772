import { workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { openSettings, wantedModel } from "../../project/project.ts";
import { budgetOf } from "../../service/input/budget.ts";
import { agentsText } from "../../service/prompt/open.ts";
import { type DialogInput, openDialog } from "../../service/start/dialog.ts";
import { chatWithAgentFile } from "../conversation/conversation.ts";
import { chatWithProfile } from "./profile.ts";
import { COMMANDS, type ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { beginTalk, greet, holdTalk, modelTalk, performChat } from "./talk.ts";
import { refuseFlags } from "../flags/refused.ts";
import { recordedRun } from "../run/record.ts";
import { isAgentTalk } from "../../service/prompt/run.ts";
import { inputOf, keepDialog, replayDialog, wholeServers } from "./dialog.ts";

type ChatCommand = ParsedCommand<typeof COMMANDS.chat>;

/** `orrery chat`: talks with a model, with a profile of `orrery.yaml`, or with the agent of a file; gives the exit code. */
export async function chat({ words: [word], flags }: ChatCommand, terminal: Terminal): Promise<number> {
  const cwd = workingFolder();
  if (word !== undefined) {
    return await chatWithAgentFile(word, { flags, terminal, cwd });
  }
  if (await talksWithProfile(flags, cwd)) {
    refuseFlags(
      COMMANDS.chat,
      flags,
      "--profile",
      flags.input.includes("-")
        ? [
          "--input - cannot be: stdin is where the messages come from; --input-json @FILE reads the values from a file",
        ]
        : [],
    );
    return await chatWithProfile(flags, { terminal, cwd });
  }
  refuseFlags(COMMANDS.chat, flags, "talk");
  const grants = grantsOf(flags);
  const budget = budgetOf(flags.budget, { command: "chat" });
  const talk = beginTalk(terminal, flags);
  if (flags.replay !== undefined) {
    const { input, ...means } = await replayDialog(flags.replay, { cwd, kind: "chat", flags });
    return await performChat({ ...talk, ...modelTalk(input, means, talk), cwd });
  }
  const project = await openSettings(cwd, { cwd });
  const { tools } = flags;
  const name = wantedModel(flags.model);
  const typed = { flag: flags.model, command: "chat" };
  return await holdTalk(talk, {
    cwd,
    async begin(around) {
      const dialog = await openDialog(project, { around, grants, tools, name, typed });
      const { model, catalog } = dialog;
      const system = await systemText(flags.system, project.root);
      const input: DialogInput = {
        ...inputOf(flags, { project, budget, name, model }),
        tools: wholeServers(tools, catalog.entries),
        ...(system === "" ? {} : { system }),
      };
      const { found } = around;
      const kept = await keepDialog({ kind: "chat", input }, { project, catalog, grants, found, flags });
      await greet(talk, model.id);
      return modelTalk(input, { ...dialog, kept }, talk);
    },
  });
}

/** Whether a profile is talked with: by its flag or, where that says nothing, by the record that is replayed. */
async function talksWithProfile({ profile, replay }: ChatCommand["flags"], cwd: string): Promise<boolean> {
  if (profile !== undefined) return true;
  return replay !== undefined && isAgentTalk((await recordedRun(replay, cwd)).input);
}

/** The flag, and what the people of the project want every model to know (cli.md). */
async function systemText(flag: string | undefined, root: string): Promise<string> {
  return [flag ?? "", await agentsText(root)].filter((text) => text !== "").join("\n\n");
}
