import type { RunEvent } from "../../core/core.ts";
import type { Output } from "../../host/terminal/terminal.ts";
import { answerStream, type RunView } from "../run/view.ts";

/** How the messages of an agent get to stdout. */
interface MessageStreamOptions {
  readonly stdout: Output;
  /** Moves out of the way while something is written. */
  readonly view: Pick<RunView, "pause" | "resume">;
  /** What stands between two messages, besides the line end. Default: nothing. */
  readonly between?: string;
}

type Delta = Extract<RunEvent, { readonly type: "text-delta" }>;
type Message = Extract<RunEvent, { readonly type: "message" }>;

/** The messages of an agent, written one at a time. */
export interface MessageStream {
  /** @param of.isOwn of text: it is the agent's own, and not of something that a step runs */
  event(event: RunEvent, of: { readonly isOwn: boolean }): Promise<void>;
  /** Nothing more comes of the message that is being written. */
  end(): Promise<void>;
}

/**
 * Writes what an agent says, a message at a time. A terminal gets text as it comes; everybody else only whole messages, since a step that
 * fails takes back what it had said.
 */
export function messageStream({ stdout, view, between = "" }: MessageStreamOptions): MessageStream {
  /** What a step has said so far of a message that is not whole. */
  let open: { readonly step: string; readonly text: string } | undefined;
  let isFirst = true;
  const answer = answerStream({
    stdout,
    endsLines: true,
    onBegin: begin,
    onEnd: () => view.resume(),
  });

  async function event(event: RunEvent, { isOwn }: { readonly isOwn: boolean }): Promise<void> {
    if (event.type === "text-delta") {
      if (isOwn && stdout.isTerminal) await delta(event);
    } else if (event.type === "message") {
      if (isOwn) await message(event);
    } else if (event.type === "step-end") await answer.end(); // what a view says of it begins a line
    else if (event.type === "run-end" || (event.type === "step-start" && event.kind === "model")) {
      await end(); // what was said before a call of a tool is no part of the message
    }
  }

  async function end(): Promise<void> {
    open = undefined;
    await answer.end();
  }

  async function delta(event: Delta): Promise<void> {
    const { step, text } = event;
    if (open?.step !== step) await end();
    open = { step, text: (open?.text ?? "") + text };
    await answer.event({ ...event, step: "" });
  }

  async function message({ step, text, seq, at, run }: Message): Promise<void> {
    const said = open?.step === step && text.startsWith(open.text) ? open.text : "";
    if (said === "") await end();
    // In one piece: a question may be asked right behind it.
    const rest = text.slice(said.length) + (said === text || text.endsWith("\n") ? "" : "\n");
    await answer.event({ type: "text-delta", step: "", text: rest, seq, at, run });
    await end();
  }

  async function begin(): Promise<void> {
    await view.pause();
    if (!isFirst && between !== "") await stdout.write(between);
    isFirst = false;
  }

  return { event, end };
}
