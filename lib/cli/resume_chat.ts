import type { RunJournal } from "../core/journal.ts";
import { isInsideCall, printable } from "../render/shown_text.ts";
import { dialogInput, openDialog } from "../service/start/dialog.ts";
import { isAgentTalk } from "../service/prompt/run.ts";
import type { Going } from "./going.ts";
import { beginTalk, holdTalk } from "./hold_talk.ts";
import { modelTalk } from "./model_talk.ts";

/** Goes on with a conversation: its messages so far are known to the model again, and the last ones are shown. */
export async function resumeChat(run: RunJournal, going: Going): Promise<number> {
  const { here, grants, flags, terminal, kept } = going;
  const talk = beginTalk(terminal, flags);
  const { project, secrets } = here;
  const say = async () => {
    if (!flags.quiet) await terminal.stderr.write(printable(lastWords(run, here)));
  };
  if (isAgentTalk(going.input)) {
    const { resumeProfileTalk }: typeof import("./resume_profile_talk.ts") = await import(
      "./resume_profile_talk.ts" as string
    );
    return await resumeProfileTalk(run, { ...going, talk, say });
  }
  const input = dialogInput(going.input);
  const { tools, model: name } = input;
  return await holdTalk(talk, {
    cwd: project.cwd,
    secrets,
    async begin(around) {
      const dialog = await openDialog(project, { around, grants, tools, name });
      if (dialog === undefined) return undefined;
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
