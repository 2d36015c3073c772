import type { Terminal } from "../../host/terminal/terminal.ts";
import { createRun } from "../../project/open_run.ts";
import { openSettings } from "../../project/project.ts";
import { budgetOf } from "../../service/input/budget.ts";
import { checkedInput } from "../../service/input/checked_input.ts";
import { promptInput } from "../../service/input/prompt_input.ts";
import { openPromptRun } from "../../service/prompt/open.ts";
import { promptRunJson } from "../../service/prompt/run.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { beginTalk, greet, holdTalk, profileTalk } from "./talk.ts";
import { recordedPrompt, typedInput } from "../run/prompt.ts";

type ChatFlags = ParsedCommand<typeof COMMANDS.chat>["flags"];

/** `orrery chat --profile NAME`: talks with a profile of `orrery.yaml`; gives the exit code. */
export async function chatWithProfile(
  flags: ChatFlags,
  { terminal, cwd }: { readonly terminal: Terminal; readonly cwd: string },
): Promise<number> {
  const command = "chat";
  const grants = grantsOf(flags);
  const budget = budgetOf(flags.budget, { command });
  const given = await promptInput(flags, { cwd, command, stdin: () => Promise.resolve("") });
  const talk = beginTalk(terminal, flags);
  const { replay, recorded } = await recordedPrompt(flags, { cwd, kind: "chat", command });
  const profile = flags.profile ?? recorded?.profile;
  const project = await openSettings(cwd, { cwd });
  const { model, temperature } = flags;
  return await holdTalk(talk, {
    cwd,
    isReplay: replay !== undefined,
    async begin(around) {
      const wanted = { path: "", profile, model, around, grants, command, recorded, isTalk: true } as const;
      const opened = await openPromptRun(project, wanted);
      const { found, opened: { located } } = opened;
      const values = checkedInput(given, {
        prompts: found.kind === "prompt" ? [found.prompt] : [],
        located,
        command,
        isReplay: recorded !== undefined,
      });
      const prompts = () => ({ project, grants, accepted: opened.accepted });
      const asked = { path: "", say: undefined, profile, values, temperature };
      const input = typedInput(opened, { asked, budget, recorded, project, flags });
      if (replay !== undefined) return profileTalk({ input, opened, kept: undefined, replay, prompts }, talk);
      const start = { kind: "chat", file: profile ?? "", input: promptRunJson(input) };
      const kept = await createRun(start, { ...project, grants, found: around.found }, flags);
      await greet(talk, `${profile} (${opened.model?.id})`);
      return profileTalk({ input, opened, kept, prompts }, talk);
    },
  });
}
