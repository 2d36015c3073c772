import {
  type AnyGadget,
  type Catalog,
  EMPTY_CATALOG,
  type Json,
  type Message,
  messageOf,
  type Model,
  ModelError,
  type ModelRequest,
  type RunEvent,
  type Words,
  wordsFrom,
} from "../../core/core.ts";
import { completeMarkers, type Markers } from "../../parse/calls/header.ts";
import { type AskTurnEnd, runAskTurn } from "./ask_turn.ts";
import type { Budget } from "../budget.ts";
import { findGadget } from "../calls/gadget.ts";
import { EffectError, takeIn } from "../effect.ts";
import type { CallLimits } from "../calls/graph.ts";
import { CallError } from "../calls/step.ts";
import { contextWindow } from "./context_window.ts";
import type { Run, RunEnd, RunOptions } from "../run.ts";
import type { OutputContract } from "../turn/answer_contract.ts";
import { ASK_POLICY, type TurnPolicy } from "../turn/turn.ts";
import { endingRun, endOfThrown } from "../work_run.ts";

/** How to talk to a model. */
export interface DialogOptions extends RunOptions {
  readonly model: Model;
  /** Default: none. */
  readonly system?: string;
  /** Names of gadgets that the model may call. Default: none. */
  readonly tools?: readonly string[];
  /** Where they are; needed with `tools`. */
  readonly catalog?: Catalog;
  /** Default: {@linkcode ASK_POLICY}. */
  readonly policy?: Partial<TurnPolicy>;
  /** What is not given is the default of the format. */
  readonly markers?: Partial<Markers>;
  readonly limits?: CallLimits;
  readonly budget?: Budget;
  /** What each answer has to be. Default: any text. */
  readonly contract?: OutputContract;
  readonly sampling?: Pick<ModelRequest, "temperature" | "topP" | "maxOutputTokens" | "stop" | "seed">;
}

/**
 * Asks a model one thing and tells what happens: its text as it comes, the calls it writes, and at last `run-end` with the answer as its
 * value (turn.md 2). Leaving the loop early aborts the run.
 *
 * `run-end` is `done` with an answer; `failed` with the reason `contract` (the value is the last text), `provider`, `config` or `permission`;
 * `stopped` with the reason `turns`, `tokens`, `cost` or `time` for a budget, or `interrupted`.
 *
 * ```ts
 * import { ask, fakeModel } from "orrery";
 *
 * const model = fakeModel(["Blue."]);
 * for await (const event of ask("Which colour has the sky?", { model })) {
 *   if (event.type === "run-end") console.log(event.status, event.value); // => done Blue.
 * }
 * ```
 */
export function ask(text: Words, options: DialogOptions): AsyncIterable<RunEvent> {
  completeMarkers(options.markers);
  return endingRun("ask", options, async (run) => await dialogRun(run, options).askOnce(text));
}

/** Where the messages of a conversation come from. */
export interface DialogSource {
  /** The `n`th message, from 1, perhaps with media; undefined ends the conversation. */
  next(n: number): Promise<Words | undefined>;
  /** The `n`th message is answered, or has no answer; in a replay too. */
  answered?(n: number): void | Promise<void>;
}

/**
 * Talks to a model over several turns in one run. A message that was said before the run was resumed is not asked for again. A turn that fails
 * is told as a `warning`, and the conversation goes on; a budget ends it.
 *
 * ```ts
 * import { chat, fakeModel } from "orrery";
 *
 * const said = ["I am Ann.", "Who am I?"];
 * const model = fakeModel(["Hello Ann.", "You are Ann."]);
 * for await (const event of chat({ next: (n) => Promise.resolve(said[n - 1]) }, { model })) {
 *   if (event.type === "message") console.log(event.text); // => Hello Ann.
 * } // => You are Ann.
 * ```
 */
export function chat(source: DialogSource, options: DialogOptions): AsyncIterable<RunEvent> {
  completeMarkers(options.markers);
  return endingRun("chat", options, async (run) => await dialogRun(run, options).hold(source));
}

/** The questions of a run to one model. */
function dialogRun(run: Run, options: DialogOptions) {
  const history: Message[] = [];
  /** How many messages the turns before had as their input. */
  let known = 0;
  const window = contextWindow({ run, model: options.model });
  if (options.system !== undefined) {
    history.push({ role: "system", content: run.mask(options.system) });
  }

  async function askOnce(words: Words): Promise<RunEnd> {
    const gadgets = await offeredGadgets();
    history.push({ role: "user", content: run.mask(words) });
    return (await turn({ keyPrefix: "", keepsFailure: false }, gadgets)).end;
  }

  async function hold(source: DialogSource): Promise<RunEnd> {
    const gadgets = await offeredGadgets();
    return await talk(run, {
      source,
      answer: async ({ n, words }) => {
        const before = history.length;
        history.push({ role: "user", content: words });
        const { end, messages } = await turn({ keyPrefix: `say[${n}]/`, keepsFailure: true }, gadgets);
        if (end.reason === "config" && messages.length === 0) history.length = before; // it was never sent, such as a picture that the model does not take
        else history.push(...messages);
        known = history.length;
        const { status, value = null, error = "" } = end;
        if (status === "done") return { value };
        return status === "stopped" ? { end } : { problem: error };
      },
    });
  }

  async function turn(
    place: { readonly keyPrefix: string; readonly keepsFailure: boolean },
    gadgets: readonly AnyGadget[],
  ): Promise<AskTurnEnd> {
    const { model, catalog = EMPTY_CATALOG, policy, markers, limits = {}, budget = {}, contract, sampling } =
      options;
    return await runAskTurn({
      ...place,
      run,
      window,
      model,
      messages: [...history],
      known,
      gadgets,
      catalog: offered(catalog, gadgets),
      policy: { ...ASK_POLICY, ...policy },
      markers: completeMarkers(markers),
      limits,
      budget,
      contract,
      sampling,
    });
  }

  /** @throws {ModelError} `config`, for a name that is no gadget: before the model is asked. */
  async function offeredGadgets(): Promise<readonly AnyGadget[]> {
    const { tools = [], catalog = EMPTY_CATALOG } = options;
    const found = await Promise.all(tools.map((name) => findGadget(catalog, { name, run })));
    return found.map((gadget) => {
      if (!(gadget instanceof CallError)) return gadget;
      const { error, code } = gadget.failure;
      throw new ModelError(error, { code: code === "not-trusted" ? "permission" : "config" });
    });
  }

  return { askOnce, hold };
}

/** A model calls what it was offered, whatever else there is. */
function offered(catalog: Catalog, gadgets: readonly AnyGadget[]): Catalog {
  const names = new Set(gadgets.map(({ name }) => name));
  const entries = catalog.entries.filter(({ name }) => names.has(name));
  return { entries, maybeFind: (name) => names.has(name) ? catalog.maybeFind(name) : undefined };
}

// Both sides of a conversation, whoever answers in it.

/** What came of a message. */
export type Answered =
  | { readonly value: Json }
  /** There is no answer: that is told, and the conversation goes on. */
  | { readonly problem: string }
  /** The conversation is over. */
  | { readonly end: RunEnd };

/** A message that is to be answered. */
interface Said {
  /** From 1. */
  readonly n: number;
  readonly words: Words;
}

/**
 * Hears one message after the other and has each answered, until there is none; the value is the last answer. A message that was said
 * before the run was resumed is not asked for again. What is thrown ends the conversation.
 */
export async function talk(
  run: Run,
  { source, answer }: { readonly source: DialogSource; answer(said: Said): Promise<Answered> },
): Promise<RunEnd> {
  let last: { readonly value?: Json } = {};
  try {
    for (let n = 1;; n++) {
      const words = await hear(run, { source, n });
      if (words === undefined) return { status: "done", ...last, keepAs: "held" }; // it can be gone on with
      const answered = await answer({ n, words });
      if ("end" in answered) return answered.end;
      if ("value" in answered) last = { value: answered.value };
      else run.emit({ type: "warning", text: answered.problem });
      await source.answered?.(n);
    }
  } catch (error) {
    const end = endOfThrown(error, run);
    return end.reason === "interrupted" ? { ...end, ...last } : end;
  }
}

const NEVER = new AbortController().signal;

async function hear(
  run: Run,
  { source, n }: { readonly source: DialogSource; readonly n: number },
): Promise<Words | undefined> {
  const said = await takeIn(run, {
    key: `say[${n}]`,
    kind: "ask",
    name: "user",
    signal: NEVER, // whoever is asked gives nothing when the run is aborted
    async perform() {
      try {
        return await source.next(n);
      } catch (cause) {
        throw new EffectError({ message: messageOf(cause) }, { isKept: false, cause });
      }
    },
  });
  return said === undefined ? undefined : wordsFrom(said);
}
