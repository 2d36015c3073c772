// A run of a server as a run that goes on here: its events are drawn by the same views, its questions are asked at this terminal.
import { type JournalStatus, linkedSignal, messageOf, type RunEvent, type User } from "../../core/core.ts";
import { workingFolder } from "../../host/paths.ts";
import type { Frame, OpenAsk, RunState } from "../../service/service.ts";
import { performRun, type RunWork } from "../run/perform.ts";
import type { Interruptible } from "../run/around.ts";
import type { RunView } from "../run/view.ts";
import { type ServerClient, ServerError, type StartedRun } from "./client.ts";

/** Who follows a run of a server. */
export interface FollowThere {
  readonly client: ServerClient;
  readonly view: Pick<RunView, "notice" | "abandon">;
  /** Answers what the run asks about. */
  readonly user: User;
}

/** Where a run of a server is shown. */
export interface WorkThere extends FollowThere, Omit<RunWork, "place" | "kept"> {
  readonly view: RunView;
  /** How messages name what is run. */
  readonly file: string;
}

/** Follows a run to its end and delivers its result, as of a run of this process; gives the exit code. */
export async function performThere(
  { id, body }: StartedRun,
  work: WorkThere,
): Promise<number> {
  const { client, terminal, view, stop, file } = work;
  const { kind, shows = { endsLine: kind === "document" } } = await client.run(id);
  const cwd = workingFolder();
  let status: JournalStatus | undefined;
  async function* events(): AsyncGenerator<RunEvent> {
    stop.onSecond(() => {
      view.abandon();
      terminal.stderr.writeNow(leftText(id, client));
    });
    using _cancelling = cancelling(id, work);
    let isEnded = false;
    for await (const event of eventsOf(client.frames(id, { body }), { ...work, id, stop })) {
      yield event;
      isEnded ||= event.type === "run-end";
    }
    const state = await client.run(id).catch(() => undefined);
    if (!isEnded) throw endless(state);
    status = state === undefined || state.status === "completed" ? undefined : state.status;
  }
  return await performRun({ start: { kind, file, input: null }, shows, events }, {
    ...work,
    place: { root: cwd, cwd },
    allowBy: "start orrery serve there with",
    kept: {
      options: {},
      id: `${id} ${client.flag}`,
      way: "",
      partialRecord: undefined,
      close: () => status,
    },
  });
}

/** It ended without saying how: whoever had it could not go on. */
function endless(state: RunState | undefined): ServerError {
  return new ServerError(state?.error ?? "The run has ended there, and not told how", { code: "failed" });
}

/** What is said where the process ends before the run there has. */
function leftText(id: string, { url, flag }: ServerClient): string {
  return `${url} was told to stop ${id}, and may not have done so yet; to follow it, or to go on: orrery resume ${id} ${flag}\n`;
}

/** As long as it is there, Ctrl-C stops the run of the server, which then tells its end. */
export function cancelling(
  id: string,
  { client, view, stop: { signal } }: Pick<FollowThere, "client" | "view"> & {
    readonly stop: Pick<Interruptible, "signal">;
  },
): Disposable {
  const cancel = () =>
    void client.cancel(id, messageOf(signal.reason)).catch((error) => view.notice(messageOf(error)));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", cancel) };
}

/** The events among what a run tells; what it asks is asked meanwhile. */
export async function* eventsOf(
  frames: AsyncIterable<Frame>,
  at: FollowThere & { readonly id: string; readonly stop: Pick<Interruptible, "signal"> },
): AsyncGenerator<RunEvent> {
  const { client, view, user, id, stop } = at;
  const over = new AbortController();
  /** Those that were told, with what ends the question. */
  const open = new Map<string, AbortController>();
  const ask = async (asked: OpenAsk, answered: AbortSignal): Promise<void> => {
    if (!user.canAnswer) {
      return await view.notice(`it waits for an answer, which nobody can give here: ${asked.question}`);
    }
    using linked = linkedSignal([answered, over.signal, stop.signal]);
    try {
      const answer = await answerOf(asked, user, linked.signal);
      if (!linked.signal.aborted) await client.answer(id, asked.ask, answer);
    } catch (error) {
      if (linked.signal.aborted) return; // it was answered elsewhere, or waits for nothing any more
      await view.notice(`${messageOf(error)}; the run is stopped`);
      await client.cancel(id, `${asked.question}: ${messageOf(error)}`);
    }
  };
  try {
    for await (const frame of frames) {
      if ("event" in frame) yield frame.event;
      else if ("gap" in frame) await view.notice(`events up to ${frame.gap} are not held there any more`);
      else if ("answered" in frame) open.get(frame.answered)?.abort();
      else if (!open.has(frame.ask.ask)) { // it is told again to a connection that is made again
        const answered = new AbortController();
        open.set(frame.ask.ask, answered);
        ask(frame.ask, answered.signal).catch((error) => view.notice(messageOf(error)));
      }
    }
  } finally {
    over.abort();
  }
}

/** What the person says. @throws where nobody answers a question */
async function answerOf({ kind, question, choices }: OpenAsk, user: User, signal: AbortSignal) {
  if (kind === "question") return { text: await user.ask(question, { choices, signal }) };
  try {
    const text = await user.ask(question, { choices: ["yes", "no"], signal });
    return { allow: /^y(es)?$/i.test(text.trim()) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { allow: false }; // whoever closes the terminal has not said yes
  }
}
