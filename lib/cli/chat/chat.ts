import { toJson } from "../../core/core.ts";
import { workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { openApp } from "../../service/app.ts";
import { budgetOf } from "../../service/input/budget.ts";
import { promptInput } from "../../service/input/prompt_input.ts";
import { agentsText } from "../../service/kinds/prompt/open.ts";
import { isAgentTalk } from "../../service/kinds/prompt/run.ts";
import { openQuestion, readyPrompt } from "../../service/kinds/prompt/start.ts";
import { chatWithAgentFile } from "../conversation/conversation.ts";
import { COMMANDS, type ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { refuseFlags } from "../flags/parse.ts";
import { saidOfPrompt } from "../run/prompt.ts";
import { recordedRun } from "../run/record.ts";
import { beginDialog, refuseReplayed, replayDialog } from "./dialog.ts";
import { beginTalk, greet, holdTalk, performChat } from "./talk.ts";
import { modelTalk, profileTalk } from "../../service/start/chat.ts";

type ChatCommand = ParsedCommand<typeof COMMANDS.chat>;

/** `orrery chat`: talks with a model, with a profile of `orrery.yaml`, or with the agent of a file; gives the exit code. */
export async function chat({ words: [word], flags }: ChatCommand, terminal: Terminal): Promise<number> {
  const cwd = workingFolder();
  if (word !== undefined) return await chatWithAgentFile(word, { flags, terminal });
  refuseReplayed(flags, "chat");
  if (await talksWithProfile(flags, cwd)) return await chatWithProfile(flags, terminal, cwd);
  refuseFlags(COMMANDS.chat, flags, "talk");
  const grants = grantsOf(flags);
  const budget = budgetOf(flags.budget, { command: "chat" });
  const talk = beginTalk(terminal, flags);
  if (flags.replay !== undefined) {
    const { signal } = talk.stop;
    const { input, dialog, kept } = await replayDialog(flags.replay, { cwd, kind: "chat", flags, signal });
    return await performChat({ ...talk, ...modelTalk(input, { ...dialog, kept }, talk), cwd });
  }
  const app = await openApp({ grants });
  const { project } = app;
  return await holdTalk(talk, {
    project,
    grants,
    attach: flags.attach,
    async begin(around) {
      const asked = { budget, system: await systemText(flags.system, project.root) };
      const { input, dialog } = await beginDialog("chat", { project, grants, around }, { flags, asked });
      const start = { kind: "chat", input: toJson(input) };
      const kept = await app.createRun(start, flags, around.found);
      await greet(talk, dialog.model.id);
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
async function systemText(flag: string | undefined, root: string): Promise<string | undefined> {
  return [flag, await agentsText(root)].filter((text) => text).join("\n\n") || undefined;
}

/** `orrery chat --profile NAME`: talks with a profile of `orrery.yaml`; gives the exit code. */
async function chatWithProfile(
  flags: ChatCommand["flags"],
  terminal: Terminal,
  cwd: string,
): Promise<number> {
  const command = "chat";
  refuseFlags(COMMANDS.chat, flags, "--profile", flags.input.includes("-") ? [STDIN_TAKEN] : []);
  const grants = grantsOf(flags);
  const { kept: replayed, app, ...said } = await saidOfPrompt(flags, { cwd, kind: "chat", command, grants });
  const given = await promptInput(flags, { cwd, command, stdin: () => Promise.resolve("") });
  const talk = beginTalk(terminal, flags);
  const { project } = app;
  return await holdTalk(talk, {
    project,
    grants,
    attach: flags.attach,
    isReplay: replayed !== undefined,
    async begin(around) {
      const at = { project, grants, around };
      const question = await openQuestion({ ...said, path: "", given, command, isTalk: true }, at);
      if (replayed !== undefined) return profileTalk({ ...question, kept: replayed }, talk);
      const start = { ...readyPrompt(question).start, kind: "chat" };
      const kept = await app.createRun(start, flags, around.found);
      await greet(talk, `${said.profile} (${question.opened.model?.id})`);
      return profileTalk({ ...question, kept }, talk);
    },
  });
}

const STDIN_TAKEN =
  "--input - cannot be: stdin is where the messages come from; --input-json @FILE reads the values from a file";
