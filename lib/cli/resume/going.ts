import type { Json, RunJournal } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { KeptRun } from "../../project/open_run.ts";
import type { RunGrants } from "../../project/trust/grants.ts";
import { isInsideCall, printable } from "../../render/shown_text.ts";
import { openPromptRun } from "../../service/prompt/open.ts";
import { assertSamePrompt, isAgentTalk, promptRunInput } from "../../service/prompt/run.ts";
import { dialogInput, openDialog } from "../../service/start/dialog.ts";
import { resumedDocument } from "../../service/start/document.ts";
import { aroundRun, type AroundRunOptions, type Interruptible, interruptible } from "../run/around.ts";
import { documentView } from "../run/document/view.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { beginTalk, holdTalk, modelTalk, profileTalk, type Talk } from "../chat/talk.ts";
import type { JournalHere } from "../here.ts";
import { performDocument } from "../run/document/once.ts";
import { performPrompt } from "../run/prompt.ts";
import { chooseView } from "../run/view.ts";

/** What a run goes on with. */
export interface Going {
  readonly here: JournalHere;
  readonly grants: RunGrants;
  readonly flags: ParsedCommand<typeof COMMANDS.resume>["flags"];
  readonly terminal: Terminal;
  readonly kept: KeptRun;
  /** What the run began with, with what the flags say now. */
  readonly input: Json;
}

/** What is around a run that goes on. */
export function aroundResumed({ terminal, flags, here }: Going, stop: Interruptible): AroundRunOptions {
  return { terminal, stop, isQuiet: flags.quiet, usesStdin: false, secrets: here.secrets };
}

/** Goes on with a conversation: its messages so far are known to the model again, and the last ones are shown. */
export async function resumeChat(run: RunJournal, going: Going): Promise<number> {
  const { here, grants, flags, terminal, kept } = going;
  const talk = beginTalk(terminal, flags);
  const { project, secrets } = here;
  const say = async () => {
    if (!flags.quiet) await terminal.stderr.write(printable(lastWords(run, here)));
  };
  if (isAgentTalk(going.input)) {
    return await resumeProfileTalk(run, { ...going, talk, say });
  }
  const input = dialogInput(going.input);
  const { tools, model: name } = input;
  return await holdTalk(talk, {
    cwd: project.cwd,
    secrets,
    async begin(around) {
      const dialog = await openDialog(project, { around, grants, tools, name });
      await say();
      return modelTalk(input, { ...dialog, kept }, talk);
    },
  });
}

function lastWords(run: RunJournal, { journal }: Going["here"]): string {
  const said = journal.read(run.id).steps.flatMap(({ kind, outcome }) =>
    kind === "ask" && outcome !== undefined && "ok" in outcome ? [outcome.ok] : []
  );
  const answer = run.events.findLast((event) => event.type === "message" && !isInsideCall(event.step));
  const question = said.at(-1);
  if (typeof question !== "string") return "";
  const text = answer?.type === "message" ? `${answer.text}\n` : "";
  return `${said.length} ${
    said.length === 1 ? "message" : "messages"
  } so far; the last:\n> ${question}\n${text}`;
}

/** Goes on with a conversation with an agent; gives the exit code. @throws {UsageError} when its system prompt has changed since */
async function resumeProfileTalk(
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
      assertSamePrompt(opened.found, input, run.id);
      await say();
      const prompts = () => ({ project, grants, accepted: opened.accepted });
      return profileTalk({ input, opened, kept, prompts }, talk);
    },
  });
}

/** Goes on with the run of a document, as the document was when it began; gives the exit code. @throws {UsageError} */
export async function resumeDocument(run: RunJournal, going: Going): Promise<number> {
  const { here: { project, secrets }, grants, flags, terminal, kept, input } = going;
  const stop = interruptible(terminal);
  const view = documentView(terminal, flags);
  await using around = await aroundRun(view, aroundResumed(going, stop));
  const resumed = await resumedDocument({ run, input, secrets }, { project, grants, around });
  const { ready, results } = resumed;
  const events = ready.events(kept.options);
  return await performDocument({
    terminal,
    flags,
    ...project,
    view,
    stop,
    results,
    kept,
    events,
  });
}

/** Goes on with the run of a prompt or a tactic; gives the exit code. @throws {UsageError} when the prompt has changed since */
export async function resumePrompt(run: RunJournal, going: Going): Promise<number> {
  const { here: { project }, grants, flags, terminal, kept } = going;
  const stop = interruptible(terminal);
  const input = promptRunInput(going.input);
  const view = chooseView(terminal, { flags, file: input.path, shownText: "interim" });
  await using around = await aroundRun(view, aroundResumed(going, stop));
  const opened = await openPromptRun(project, {
    path: input.path,
    profile: input.profile,
    model: input.model,
    around,
    grants,
    command: "resume",
  });
  assertSamePrompt(opened.found, input, run.id);
  const prompts = () => ({ project, grants, accepted: opened.accepted });
  return await performPrompt({ terminal, flags, cwd: project.cwd, view, stop, input, opened, kept, prompts });
}
