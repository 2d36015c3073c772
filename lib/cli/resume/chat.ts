import { type Journal, type Json, type RunJournal, splitWords, wordsFrom } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { KeptRun } from "../../service/keep.ts";
import type { RunGrants } from "../../project/trust/grants.ts";
import { isInsideCall, printable } from "../../render/shown_text.ts";
import type { Kind } from "../../service/kinds/kind.ts";
import { isAgentTalk } from "../../service/kinds/prompt/run.ts";
import { dialogInput, openDialog } from "../../service/kinds/dialog/start.ts";
import { sameQuestion } from "../../service/kinds/prompt/start.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { beginTalk, holdTalk, type Talk } from "../chat/talk.ts";
import type { App } from "../../service/app.ts";
import { modelTalk, profileTalk } from "../../service/start/chat.ts";

/** What a run goes on with. */
export interface Going {
  readonly app: App;
  readonly journal: Journal;
  readonly grants: RunGrants;
  readonly flags: ParsedCommand<typeof COMMANDS.resume>["flags"];
  readonly terminal: Terminal;
  readonly kept: KeptRun;
  readonly kinds: readonly Kind[];
  /** What the run began with, with what the flags say now. */
  readonly input: Json;
}

/** Goes on with a conversation: its messages so far are known to the model again, and the last ones are shown. */
export async function resumeChat(run: RunJournal, going: Going): Promise<number> {
  const { app: { project, secrets }, grants, flags, terminal, kept } = going;
  const talk = beginTalk(terminal, flags);
  const say = async () => {
    if (!flags.quiet) await terminal.stderr.write(printable(lastWords(run, going)));
  };
  if (isAgentTalk(going.input)) {
    return await resumeProfileTalk(run, { ...going, talk, say });
  }
  const input = dialogInput(going.input);
  const { tools, model: name } = input;
  return await holdTalk(talk, {
    project,
    grants,
    secrets,
    async begin(around) {
      const dialog = await openDialog({ project, grants, around }, { tools, name });
      await say();
      return modelTalk(input, { ...dialog, kept }, talk);
    },
  });
}

function lastWords(run: RunJournal, { journal }: Pick<Going, "journal">): string {
  const said = journal.read(run.id).steps.flatMap(({ kind, outcome }) =>
    kind === "ask" && outcome !== undefined && "ok" in outcome ? [outcome.ok] : []
  );
  const answer = run.events.findLast((event) => event.type === "message" && !isInsideCall(event.step));
  const question = wordsFrom(said.at(-1));
  if (question === undefined) return "";
  const text = answer?.type === "message" ? `${answer.text}\n` : "";
  return `${said.length} ${said.length === 1 ? "message" : "messages"} so far; the last:\n> ${
    splitWords(question).text
  }\n${text}`;
}

/** Goes on with a conversation with an agent; gives the exit code. @throws {UsageError} when its system prompt has changed since */
async function resumeProfileTalk(
  run: RunJournal,
  { app: { project, secrets }, grants, kept, input, talk, say }: Going & {
    readonly talk: Talk;
    /** Shows what was said last. */
    readonly say: () => Promise<void>;
  },
): Promise<number> {
  const { id } = run;
  return await holdTalk(talk, {
    project,
    grants,
    secrets,
    async begin(around) {
      const at = { project, grants, around };
      const question = await sameQuestion({ id, run: { ...run.run, input } }, at, { isTalk: true });
      await say();
      return profileTalk({ ...question, kept }, talk);
    },
  });
}
