// What a client hears of a run while it waits for its result, and what it is asked.

import type { RunEvent } from "../../core/core.ts";
import { OwnTexts } from "../../render/turn_texts.ts";
import { framesOf } from "../../service/runs/reader.ts";
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
export async function hearRun(run: RunHandle, caller: ToolCaller): Promise<HeardRun> {
  const cancel = (): void => run.cancel("the client has cancelled its call");
  const hearer = new Hearer(run, caller);
  if (caller.signal.aborted) cancel();
  caller.signal.addEventListener("abort", cancel);
  try {
    for await (const frame of framesOf(run.read({ after: run.before }))) {
      if ("event" in frame) hearer.hear(frame.event);
      else if ("ask" in frame) hearer.ask(frame.ask);
      else if ("answered" in frame) hearer.answered(frame.answered);
    }
  } finally {
    caller.signal.removeEventListener("abort", cancel);
    hearer.end();
  }
  await run.ended;
  return hearer.heard;
}

class Hearer {
  readonly #run: RunHandle;
  readonly #caller: ToolCaller;
  readonly #asked = new Map<string, AbortController>();
  readonly #texts = new OwnTexts();
  readonly #messages: string[] = [];
  #call: HeardRun["call"];
  #done = 0;

  constructor(run: RunHandle, caller: ToolCaller) {
    this.#run = run;
    this.#caller = caller;
  }

  get heard(): HeardRun {
    return { messages: this.#messages, call: this.#call };
  }

  hear(event: RunEvent): void {
    if (this.#texts.isOwn(event) && event.type === "message") this.#messages.push(event.text);
    switch (event.type) {
      case "call-result":
      case "call-error":
      case "call-skip":
        if (event.step === undefined) this.#call = event;
        break;
      case "call-progress":
        this.#tell({ done: event.done, total: event.total });
        break;
      case "call-log":
        this.#tell({ message: event.text });
        this.#caller.log?.(event.text);
        break;
      case "step-start":
        if (event.kind === "step" || event.kind === "model") this.#tell({ message: event.name });
        break;
    }
  }

  ask(asked: OpenAsk): void {
    const { ask } = this.#caller;
    if (ask === undefined || this.#asked.has(asked.ask)) return;
    const stop = new AbortController();
    this.#asked.set(asked.ask, stop);
    ask(asked, stop.signal).catch(() => undefined).then((answer) => {
      if (stop.signal.aborted) return;
      const said = answer ?? (asked.kind === "permission" ? { allow: false } : undefined);
      if (said === undefined) this.#run.cancel("nobody has answered its question");
      else this.#run.answer(asked.ask, said, { by: "mcp" });
    });
  }

  answered(ask: string): void {
    this.#asked.get(ask)?.abort();
  }

  /** Nobody is asked any more. */
  end(): void {
    for (const stop of this.#asked.values()) stop.abort();
  }

  /** Each number is greater than the one before, as the protocol wants it; a message alone moves it by next to nothing. */
  #tell(
    { done = 0, ...more }: { readonly done?: number; readonly total?: number; readonly message?: string },
  ): void {
    this.#done = done > this.#done ? done : this.#done + 0.001;
    this.#caller.progress?.({ done: this.#done, ...more });
  }
}
