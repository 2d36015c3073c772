// `orrery resume ID` of a conversation: an answer that was interrupted is finished first, then it goes on as a chat.
import { resolve } from "node:path";
import { FileError, type RunEvent, type RunJournal, type RunTrace } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { ownMessages } from "../../render/turn_texts.ts";
import { printable } from "../../render/shown_text.ts";
import { saidIn } from "../../service/talks/state.ts";
import { EXIT } from "../../service/exit_code.ts";
import { attachAt } from "../../service/input/attached.ts";
import { MessageFiles } from "../chat/lines.ts";
import { unverifiedText } from "../../service/start/settle.ts";
import { conversationInput } from "../../service/talks/agent.ts";
import { openSession } from "../../service/talks/session.ts";
import { nobody } from "../run/around.ts";
import { lastWords, resumedLines } from "../conversation/lines.ts";
import type { ConversationWork, TalkSession } from "../conversation/talk.ts";
import type { Going } from "./chat.ts";
import { holdConversation } from "../conversation/hold.ts";
import { aroundTalk, beginTalk, typistOf } from "../chat/talk.ts";
import { refusedAgent, tellingProblems } from "../conversation/agent.ts";

/** Goes on with a conversation, with the agent file as it is now; gives the exit code. @throws {FileError} when that is gone */
export async function resumeConversation(run: RunJournal, going: Omit<Going, "kept">): Promise<number> {
  const { app: { project, secrets }, journal, grants, flags, terminal } = going;
  const { id, run: { file = "" } } = run;
  const agent = await tellingProblems(await agentText(file, { root: project.root, id }), {
    file,
    project,
    terminal,
  });
  if (agent === undefined) return EXIT.usage;
  const input = conversationInput(going.input);
  const talk = beginTalk(terminal, flags, agent);
  const { stop } = talk;
  const isChat = !flags.json && flags.output === undefined;
  const typist = isChat ? await typistOf(terminal) : undefined;
  await using around = await aroundTalk(talk, { typist, secrets });
  const session = await openSession({
    id,
    agent,
    input,
    project,
    grants,
    around,
    isNew: false,
    isEphemeral: false,
    store: () => ({ journal, secrets }),
  });
  if ("problems" in session) return await refusedAgent(session, { project, terminal });
  if (session.isInterrupted) {
    const user = flags.quiet ? nobody : typist ?? await terminal.user();
    const left = await session.settle({ user, decisions: flags });
    if (left.length > 0) {
      await terminal.stderr.write(unverifiedText(id, left));
      return EXIT.failed;
    }
  }
  await session.keepGrants(id);
  if (!flags.quiet) {
    await terminal.stderr.write(printable(wordsSoFar(session, run.events, () => journal.read(run.id))));
  }
  return await holdConversation({
    ...talk,
    flags,
    place: project,
    agent,
    session,
    first: firstOf(session),
    heard: run.lastSeq,
    lines: resumedLines({
      terminal,
      stop,
      session,
      typist,
      files: new MessageFiles(attachAt({ project, grants, around })),
    }),
    isTyped: typist !== undefined,
    isChat: true,
    isKept: true,
  });
}

/** What was interrupted is finished, and what has failed is tried again. */
export function firstOf(
  { live, isInterrupted }: Pick<TalkSession, "live" | "isInterrupted">,
): ConversationWork["first"] {
  if (isInterrupted || live.status === "failed") return "retry";
  return live.turns === 0 ? "start" : "listen";
}

async function agentText(
  file: string,
  { root, id }: { readonly root: string; readonly id: string },
): Promise<string> {
  try {
    return await hostFiles({ root }).readText(resolve(root, file));
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "not-found") throw error;
    throw new FileError(
      `The agent file ${JSON.stringify(file)} of conversation ${id} is gone: put it back to go on with it; ` +
        `what was said is there: orrery show conversation ${id}`,
      { path: file, code: "not-found", cause: error },
    );
  }
}

/** What was said last, and what is known of a turn that was interrupted. */
export function wordsSoFar(
  { live, isInterrupted }: Pick<TalkSession, "live" | "isInterrupted">,
  events: readonly RunEvent[],
  trace: () => Pick<RunTrace, "steps">,
): string {
  const { log, turns } = live;
  const told = ownMessages(events).map((text) => `${text}\n`);
  const since = isInterrupted ? [...saidIn(trace(), turns + 1).map((text) => `> ${text}\n`), ...told] : [];
  const count = log.length + since.length;
  if (count === 0) return "";
  const heading = `${count} ${count === 1 ? "message" : "messages"} so far; the last:\n`;
  return heading + lastWords(log) + since.join("");
}
