import { type JsonObject, toJson } from "../../core/core.ts";
import { wayTo } from "../../service/keep.ts";
import { EXIT } from "../../service/exit_code.ts";
import { conversationErrorCode } from "../report_failure.ts";
import { ConversationTalk, type ConversationWork, type TalkLive } from "./talk.ts";
import { type EndedRun, endRun, toItsEnd } from "../run/end.ts";

/** Talks until there is nothing more to say; gives the exit code. */
export async function holdConversation(work: ConversationWork): Promise<number> {
  const { terminal, view, stop, flags, place } = work;
  const way = work.isKept ? wayTo(place) : "";
  const kept = {
    get id() {
      return work.isKept ? idThere(work) : undefined;
    },
    way,
    get partialRecord() {
      return work.session.partialRecord;
    },
  };
  const ended = await toItsEnd({ terminal, view, stop, kept }, () => heldToItsEnd(work));
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
    return conversationReport(session.live, talk, flags.json);
  } finally {
    await view.end();
    session.close();
  }
}

/** As a command about it names it. */
function idThere({ session: { live }, there }: Pick<ConversationWork, "session" | "there">): string {
  return there === undefined ? live.id : `${live.id} ${there}`;
}

function statusLine(work: ConversationWork, way: string): string {
  const { session: { live: { status }, isInterrupted }, isKept } = work;
  const id = idThere(work);
  const word = isInterrupted ? "stopped" : status;
  if (!isKept) return `${word}; nothing of it is kept\n`;
  if (status === "completed") return `completed; all of it: ${way}orrery show conversation ${id}\n`;
  return `${word}; to ${status === "failed" ? "try again" : "go on"}: ${way}orrery resume ${id}\n`;
}

/**
 * What is left of a conversation when its command is over; it is read at once, since its store is closed by then.
 *
 * @param withLog for `--json`: its messages and slots too
 */
function conversationReport(
  live: TalkLive,
  { last, said, problem }: ConversationTalk,
  withLog: boolean,
): EndedRun {
  const { status = live.status === "completed" ? "completed" : "held", reason, usage, at } = last?.end ?? {};
  const value = said.length === 0 ? undefined : said.join("\n\n");
  const code = last?.summary.exitCode ?? EXIT.ok;
  const error = problem?.message ?? last?.end.error;
  const log: JsonObject = withLog ? { messages: toJson(live.log), slots: toJson(live.slots()) } : {};
  return {
    status,
    value,
    isEmpty: false,
    flags: last?.summary.flags ?? [],
    exitCode: problem === undefined ? code : Math.max(code, conversationErrorCode(problem)),
    toJson: () => ({
      run: live.id,
      kind: "conversation",
      status,
      value: value ?? null,
      error,
      reason,
      ...log,
      usage: usage ?? { input: 0, output: 0 },
      ms: at ?? 0,
    }),
  };
}
