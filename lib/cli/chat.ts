import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { openSettings, wantedModel } from "../project/project.ts";
import { agentsText } from "../service/prompt/open.ts";
import { budgetOf } from "../service/input/budget.ts";
import { type DialogInput, openDialog } from "../service/start/dialog.ts";
import { inputOf } from "./dialog_flags.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantsOf } from "./grants.ts";
import { beginTalk, greet, holdTalk } from "./hold_talk.ts";
import { keepDialog } from "./keep_dialog.ts";
import { modelTalk } from "./model_talk.ts";
import { refuseWithoutAgent } from "./refused_agent_flags.ts";
import { replayDialog } from "./replay_dialog.ts";
import { performChat } from "./run_chat.ts";
import { wholeServers } from "./whole_servers.ts";

type ChatCommand = ParsedCommand<typeof COMMANDS.chat>;

/** `orrery chat`: talks with a model, with a profile of `orrery.yaml`, or with the agent of a file; gives the exit code. */
export async function chat({ words: [word], flags }: ChatCommand, terminal: Terminal): Promise<number> {
  const cwd = workingFolder();
  if (word !== undefined) {
    const { chatWithAgentFile }: typeof import("./chat_conversation.ts") = await import(
      "./chat_conversation.ts" as string
    );
    return await chatWithAgentFile(word, { flags, terminal, cwd });
  }
  refuseWithoutAgent(flags, { command: "chat", wanted: "orrery chat NAME.agent.yml" });
  const agents = await maybeAgents(flags, cwd);
  if (agents !== undefined) return await agents.chatWithProfile(flags, { terminal, cwd });
  const grants = await grantsOf(flags);
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
      if (dialog === undefined) return undefined;
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

/** What talks with agents; undefined where a model is talked with. @throws {UsageError} for flags that do not go together */
async function maybeAgents(
  flags: ChatCommand["flags"],
  cwd: string,
): Promise<typeof import("./chat_profile.ts") | undefined> {
  const isPlain = flags.profile === undefined && flags.replay === undefined && flags.input.length === 0 &&
    flags["input-json"] === undefined;
  if (isPlain) return undefined;
  const { refuseWithoutPrompt, refuseWithProfile, talksWithAgent }: typeof import("./ask_prompt.ts") =
    await import("./ask_prompt.ts" as string);
  if (await talksWithAgent(flags, cwd)) {
    refuseWithProfile(flags);
    return await import("./chat_profile.ts" as string);
  }
  refuseWithoutPrompt(flags, { command: "chat", wanted: "--profile NAME" });
  return undefined;
}

/** The flag, and what the people of the project want every model to know (cli.md). */
async function systemText(flag: string | undefined, root: string): Promise<string> {
  return [flag ?? "", await agentsText(root)].filter((text) => text !== "").join("\n\n");
}
