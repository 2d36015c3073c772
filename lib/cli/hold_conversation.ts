import { conversationReport } from "./conversation_report.ts";
import { ConversationTalk } from "./conversation_talk.ts";
import type { ConversationWork } from "./conversation_talk.ts";
import { endRun, sayWhatIsLeft } from "./end_run.ts";
import type { EndedRun } from "./end_run.ts";
import { wayTo } from "../project/open_run.ts";

/** Talks until there is nothing more to say; gives the exit code. */
export async function holdConversation(work: ConversationWork): Promise<number> {
  const { terminal, view, stop, session, flags, place } = work;
  const way = work.isKept ? wayTo(place) : "";
  stop.onSecond(() => {
    view.abandon();
    if (work.isKept) sayWhatIsLeft(terminal, { id: session.live.id, way, partialRecord: undefined });
  });
  const ended = await heldToItsEnd(work);
  const code = await endRun(ended, {
    ...work,
    cwd: place.cwd,
    kept: undefined,
    isShown: !flags.json && flags.output === undefined,
    endsLine: true,
  });
  if (!flags.quiet && !stop.hasLeft) await terminal.stderr.write(statusLine(work, way));
  return code;
}

/** Whatever happens, its store is closed. */
async function heldToItsEnd(work: ConversationWork): Promise<EndedRun> {
  const { view, session, flags } = work;
  const talk = new ConversationTalk(work);
  try {
    await talk.hold();
    const { turns, problem } = talk;
    return conversationReport(session.live, { turns, problem, withLog: flags.json });
  } finally {
    await view.end();
    work.close(session.live.status === "completed");
  }
}

function statusLine({ session: { live, isInterrupted }, isKept }: ConversationWork, way: string): string {
  const { status, id } = live;
  const word = isInterrupted ? "stopped" : status;
  if (!isKept) return `${word}; nothing of it is kept\n`;
  if (status === "completed") return `completed; all of it: ${way}orrery show conversation ${id}\n`;
  return `${word}; to ${status === "failed" ? "try again" : "go on"}: ${way}orrery resume ${id}\n`;
}
