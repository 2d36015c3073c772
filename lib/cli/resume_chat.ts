import type { RunJournal } from "../core/journal.ts";
import { printable } from "../render/printable.ts";
import { dialogInput } from "./dialog_input.ts";
import { beginTalk, holdTalk } from "./hold_talk.ts";
import type { Going } from "./resume.ts";

/** Goes on with a conversation: its messages so far are known to the model again, and the last ones are shown. */
export async function resumeChat(
  run: RunJournal,
  { here, grants, flags, terminal, kept }: Going,
): Promise<number> {
  const talk = beginTalk(terminal, flags);
  const { project, secrets } = here;
  const input = dialogInput(run.run.input);
  const { tools, model: name } = input;
  return await holdTalk(talk, {
    project,
    grants,
    tools,
    name,
    secrets,
    async begin() {
      if (!flags.quiet) await terminal.stderr.write(printable(lastWords(run, here)));
      return { input, kept };
    },
  });
}

function lastWords(run: RunJournal, { journal }: Going["here"]): string {
  const said = journal.read(run.id).steps.flatMap(({ kind, outcome }) =>
    kind === "ask" && outcome !== undefined && "ok" in outcome ? [outcome.ok] : []
  );
  const answer = run.events.findLast((event) => event.type === "message");
  const question = said.at(-1);
  if (typeof question !== "string") return "";
  const text = answer?.type === "message" ? `${answer.text}\n` : "";
  return `${said.length} ${
    said.length === 1 ? "message" : "messages"
  } so far; the last:\n> ${question}\n${text}`;
}
