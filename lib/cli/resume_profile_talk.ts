import type { RunJournal } from "../core/journal.ts";
import { openPromptRun } from "../service/prompt/open.ts";
import { assertSamePrompt, promptRunInput } from "../service/prompt/run.ts";
import type { Going } from "./going.ts";
import { holdTalk, type Talk } from "./hold_talk.ts";
import { profileTalk } from "./profile_talk.ts";

/** Goes on with a conversation with an agent; gives the exit code. @throws {UsageError} when its system prompt has changed since */
export async function resumeProfileTalk(
  run: RunJournal,
  { here: { project, secrets }, grants, kept, input: keptInput, talk, say }: Going & {
    readonly talk: Talk;
    /** Shows what was said last. */
    readonly say: () => Promise<void>;
  },
): Promise<number> {
  const input = promptRunInput(keptInput);
  const { path, profile, model } = input;
  return await holdTalk(talk, {
    cwd: project.cwd,
    secrets,
    async begin(around) {
      const wanted = { path, profile, model, around, grants, command: "resume", isTalk: true } as const;
      const opened = await openPromptRun(project, wanted);
      if (opened === undefined) return undefined;
      assertSamePrompt(opened.found, input, run.id);
      await say();
      const prompts = () => ({ project, grants, accepted: opened.accepted });
      return profileTalk({ input, opened, kept, prompts }, talk);
    },
  });
}
