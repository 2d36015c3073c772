import type { RunJournal } from "../core/journal.ts";
import { EXIT } from "../service/exit_code.ts";
import { openPromptRun } from "../service/prompt/open.ts";
import { assertSamePrompt, promptRunInput } from "../service/prompt/run.ts";
import { aroundRun, interruptible } from "./around_run.ts";
import type { Going } from "./going.ts";
import { performPrompt } from "./perform_prompt.ts";
import { chooseView } from "./run_view.ts";

/** Goes on with the run of a prompt or a tactic; gives the exit code. @throws {UsageError} when the prompt has changed since */
export async function resumePrompt(run: RunJournal, going: Going): Promise<number> {
  const { here: { project, secrets }, grants, flags, terminal, kept } = going;
  const stop = interruptible(terminal);
  const input = promptRunInput(going.input);
  const view = await chooseView(terminal, { flags, file: input.path, shownText: "interim" });
  await using around = await aroundRun(view, {
    terminal,
    stop,
    isQuiet: flags.quiet,
    usesStdin: false,
    secrets,
  });
  const opened = await openPromptRun(project, {
    path: input.path,
    profile: input.profile,
    model: input.model,
    around,
    grants,
    command: "resume",
  });
  if (opened === undefined) return EXIT.interrupted;
  assertSamePrompt(opened.found, input, run.id);
  const prompts = () => ({ project, grants, accepted: opened.accepted });
  return await performPrompt({ terminal, flags, cwd: project.cwd, view, stop, input, opened, kept, prompts });
}
