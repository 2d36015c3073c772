import type { Catalog } from "../core/catalog.ts";
import type { RunEvent } from "../core/event.ts";
import type { AnyGadget } from "../core/gadget.ts";
import { DivergedError } from "../core/journal.ts";
import type { StepOutcome } from "../core/journal.ts";
import type { Json } from "../core/json.ts";
import type { Message } from "../core/message.ts";
import { ModelError } from "../core/model.ts";
import type { Model, ModelRequest } from "../core/model.ts";
import { messageOf } from "../core/source_error.ts";
import { completeMarkers } from "../parse/markers.ts";
import type { Markers } from "../parse/markers.ts";
import { runAskTurn } from "./ask_turn.ts";
import type { AskTurnEnd } from "./ask_turn.ts";
import type { Budget } from "./budget.ts";
import type { CallLimits } from "./call_graph.ts";
import { CallError } from "./call_error.ts";
import { ContextWindow } from "./context_window.ts";
import { findGadget } from "./find_gadget.ts";
import type { OutputContract } from "./output_contract.ts";
import type { ReplayedStep } from "./replay.ts";
import { Run } from "./run.ts";
import type { RunEnd, RunOptions } from "./run.ts";
import { ASK_POLICY } from "./turn_policy.ts";
import type { TurnPolicy } from "./turn_policy.ts";

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
export function ask(text: string, options: DialogOptions): AsyncIterable<RunEvent> {
  return dialog({ kind: "ask", next: (n) => Promise.resolve(n === 1 ? text : undefined) }, options);
}

/** Where the messages of a conversation come from. */
export interface DialogSource {
  /** The `n`th message, from 1; undefined ends the conversation. */
  next(n: number): Promise<string | undefined>;
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
  return dialog({ kind: "chat", next: (n) => source.next(n) }, options);
}

interface Dialog extends DialogSource {
  readonly kind: "ask" | "chat";
}

function dialog(source: Dialog, options: DialogOptions): AsyncIterable<RunEvent> {
  completeMarkers(options.markers);
  return { [Symbol.asyncIterator]: () => new DialogRun(source, options).start() };
}

class DialogRun {
  readonly #source: Dialog;
  readonly #options: DialogOptions;
  readonly #run: Run;
  readonly #history: Message[] = [];
  readonly #window: ContextWindow;
  /** How many messages the turns before had as their input. */
  #known = 0;
  #last: Json | undefined;

  constructor(source: Dialog, options: DialogOptions) {
    this.#source = source;
    this.#options = options;
    this.#run = new Run(options);
    this.#window = new ContextWindow({ run: this.#run, model: options.model });
    if (options.system !== undefined) {
      this.#history.push({ role: "system", content: this.#run.mask(options.system) });
    }
  }

  start(): AsyncIterator<RunEvent> {
    this.#run.start(this.#source.kind, undefined);
    this.#run.waits();
    this.#talk().catch((error): RunEnd => this.#thrown(error))
      .then((end) => this.#run.end(end))
      .catch((error) => this.#run.events.fail(error));
    return this.#run.events;
  }

  async #talk(): Promise<RunEnd> {
    const gadgets = await this.#gadgets();
    for (let n = 1;; n++) {
      const text = await this.#hear(n);
      if (text === undefined) return this.#left();
      this.#history.push({ role: "user", content: text });
      const end = await this.#turn(n, gadgets);
      this.#history.push(...end.messages);
      this.#known = this.#history.length;
      if (end.status === "answer") this.#last = end.value;
      const over = this.#source.kind === "ask" || end.status === "budget";
      if (over) return endOf(end);
      if (end.status !== "answer") {
        this.#run.emit({ type: "warning", text: messageOf(end.error) });
      }
    }
  }

  /** A conversation can be gone on with: it is held, not over. */
  #left(): RunEnd {
    return { status: "done", ...(this.#last === undefined ? {} : { value: this.#last }), keepAs: "held" };
  }

  async #hear(n: number): Promise<string | undefined> {
    if (this.#source.kind === "ask") return this.#run.mask(await this.#source.next(n));
    const key = `say[${n}]`;
    const begun = this.#run.begin({ key, kind: "ask", name: "user", input: null, idempotent: true });
    if (begun.do === "answer") return textOf(begun.outcome);
    if (begun.do === "replay") return await replayed(begun.step);
    const said = await this.#source.next(n);
    if (said === undefined) {
      this.#run.part(key, null); // only a record needs to know: a resumed talk asks again
      return undefined;
    }
    const text = this.#run.mask(said);
    this.#run.finish(key, { ok: text });
    return text;
  }

  async #turn(n: number, gadgets: readonly AnyGadget[]): Promise<AskTurnEnd> {
    const { model, catalog = EMPTY_CATALOG, policy, markers, limits = {}, budget = {}, contract, sampling } =
      this.#options;
    return await runAskTurn({
      run: this.#run,
      window: this.#window,
      keepsFailure: this.#source.kind === "chat",
      keyPrefix: this.#source.kind === "ask" ? "" : `say[${n}]/`,
      model,
      messages: [...this.#history],
      known: this.#known,
      gadgets,
      catalog: offered(catalog, gadgets),
      policy: { ...ASK_POLICY, ...policy },
      markers: completeMarkers(markers),
      limits,
      budget,
      ...(contract === undefined ? {} : { contract }),
      ...(sampling === undefined ? {} : { sampling }),
    });
  }

  /** @throws {ModelError} `config`, for a name that is no gadget: before the model is asked. */
  async #gadgets(): Promise<readonly AnyGadget[]> {
    const { tools = [], catalog = EMPTY_CATALOG } = this.#options;
    const found = await Promise.all(tools.map((name) => findGadget(catalog, { name, run: this.#run })));
    return found.map((gadget) => {
      if (!(gadget instanceof CallError)) return gadget;
      const { error, code } = gadget.failure;
      throw new ModelError(error, { code: code === "not-trusted" ? "permission" : "config" });
    });
  }

  #thrown(error: unknown): RunEnd {
    if (error instanceof DivergedError) {
      return { status: "failed", error: error.message, reason: "diverged", keepAs: "stopped" };
    }
    if (this.#run.signal.aborted) {
      return {
        status: "stopped",
        reason: "interrupted",
        ...(this.#last === undefined ? {} : { value: this.#last }),
      };
    }
    if (error instanceof ModelError) {
      return { status: "failed", error: error.message, reason: reasonOf(error) };
    }
    return { status: "failed", error: messageOf(error) };
  }
}

function textOf(outcome: StepOutcome): string | undefined {
  return "ok" in outcome && typeof outcome.ok === "string" ? outcome.ok : undefined;
}

/** A part instead of an outcome: nothing more was said. */
async function replayed({ parts, outcome }: ReplayedStep): Promise<string | undefined> {
  for await (const _end of parts) return undefined;
  return textOf(await outcome);
}

const EMPTY_CATALOG: Catalog = { entries: [], maybeFind: () => undefined };

/** A model calls what it was offered, whatever else there is. */
function offered(catalog: Catalog, gadgets: readonly AnyGadget[]): Catalog {
  const names = new Set(gadgets.map(({ name }) => name));
  const entries = catalog.entries.filter(({ name }) => names.has(name));
  return { entries, maybeFind: (name) => names.has(name) ? catalog.maybeFind(name) : undefined };
}

function endOf(end: AskTurnEnd): RunEnd {
  switch (end.status) {
    case "answer":
      return { status: "done", value: end.value };
    case "contract":
      return { status: "failed", reason: "contract", error: end.error, value: end.text };
    case "budget":
      return {
        status: "stopped",
        reason: end.reason,
        error: end.error,
        ...(end.text !== "" && { value: end.text }),
      };
    case "model":
      return {
        status: "failed",
        reason: reasonOf(end.error),
        error: end.error.message,
        ...(end.text !== "" && { value: end.text }),
        keepAs: "stopped",
      };
    default:
      return end satisfies never;
  }
}

function reasonOf({ code }: ModelError): string {
  return code === "config"
    ? "config"
    : code === "permission"
    ? "permission"
    : code === "timeout"
    ? "timeout"
    : "provider";
}
