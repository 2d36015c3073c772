// What a client hears of a run while it waits for its result, and what it is asked.

import type { RunEvent } from "../../core/core.ts";
import { OwnTexts } from "../../render/turn_texts.ts";
import { framesOf } from "../../service/runs/history.ts";
import type { Answer, OpenAsk, RunHandle } from "../../service/service.ts";

/** Who called, as far as a run is concerned. */
export interface ToolCaller {
  /** Aborted when the client takes its call back. */
  readonly signal: AbortSignal;
  /** Tells how far it has come; absent: the client does not want to know. */
  readonly progress?: (
    told: { readonly done: number; readonly total?: number; readonly message?: string },
  ) => void;
  /** Takes what gadgets log. */
  readonly log?: (text: string) => void;
  /** Asks the person at the client; absent: it cannot. Undefined: no answer. */
  readonly ask?: (asked: OpenAsk, signal: AbortSignal) => Promise<Answer | undefined>;
}

/** What was seen of a run. */
export interface HeardRun {
  /** Of the call that the run itself makes; undefined where it makes none. */
  readonly call?: Extract<RunEvent, { readonly type: "call-result" | "call-error" | "call-skip" }>;
  /** What a conversation has said. */
  readonly messages: readonly string[];
}

/** Follows a run to its end. A caller that takes its call back cancels it. */
export async function hearRun(
  run: RunHandle,
  { signal, progress, log, ask }: ToolCaller,
): Promise<HeardRun> {
  const cancel = (): void => run.cancel("the client has cancelled its call");
  const asked = new Map<string, AbortController>();
  const texts = new OwnTexts();
  const messages: string[] = [];
  let call: HeardRun["call"];
  let done = 0;
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel);
  try {
    for await (const frame of framesOf(run.read({ after: run.before }))) {
      if ("event" in frame) hear(frame.event);
      else if ("ask" in frame) askPerson(frame.ask);
      else if ("answered" in frame) asked.get(frame.answered)?.abort();
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    for (const stop of asked.values()) stop.abort(); // nobody is asked any more
  }
  await run.ended;
  return { messages, call };

  function hear(event: RunEvent): void {
    if (texts.isOwn(event) && event.type === "message") messages.push(event.text);
    switch (event.type) {
      case "call-result":
      case "call-error":
      case "call-skip":
        if (event.step === undefined) call = event;
        break;
      case "call-progress":
        tell({ done: event.done, total: event.total });
        break;
      case "call-log":
        tell({ message: event.text });
        log?.(event.text);
        break;
      case "step-start":
        if (event.kind === "step" || event.kind === "model") tell({ message: event.name });
        break;
    }
  }

  /** Each number is greater than the one before, as the protocol wants it; a message alone moves it by next to nothing. */
  function tell(
    { done: now = 0, ...more }: {
      readonly done?: number;
      readonly total?: number;
      readonly message?: string;
    },
  ): void {
    done = now > done ? now : done + 0.001;
    progress?.({ done, ...more });
  }

  function askPerson(open: OpenAsk): void {
    if (ask === undefined || asked.has(open.ask)) return;
    const stop = new AbortController();
    asked.set(open.ask, stop);
    ask(open, stop.signal).catch(() => undefined).then((answer) => {
      if (stop.signal.aborted) return;
      const said = answer ?? (open.kind === "permission" ? { allow: false } : undefined);
      if (said === undefined) run.cancel("nobody has answered its question");
      else run.answer(open.ask, said, { by: "mcp" });
    });
  }
}
