// Agents and their dialogs (prompts.md 8): what was said, which prompt is in force, and one turn after the other.
import {
  type DialogMessage,
  dialogMessage,
  type Effort,
  type Json,
  linkedSignal,
  messageOf,
  type Model,
  orAborted,
  PromptError,
  type RunEvent,
  toJson,
  type Words,
  wordsFrom,
} from "../../core/core.ts";
import type { ArgsList } from "../../prompt/inference.ts";
import type { AgentLimits } from "../../prompt/limits.ts";
import { isPrompt } from "../../prompt/parts.ts";
import type { AnyPrompt, Prompt, ToolRef } from "../../prompt/prompt.ts";
import { foundValue } from "../../schema/issue.ts";
import type { Budget } from "../budget.ts";
import { AgentError, type CallState, initialState, type TurnState } from "./call_state.ts";
import { type DialogEntry, DialogLog, type ForkOptions, keptInFork } from "./dialog_log.ts";
import { promptTurn, type PromptTurnEnd } from "./prompt_turn.ts";
import { placedGadget } from "../replay/work_place.ts";
import type { Run } from "../run.ts";
import { modelWithErrors } from "../turn/noted_model.ts";
import type { ToolSource } from "../turn/offered.ts";
import type { CallBounds } from "../turn/tool_round.ts";
import { runTurn } from "../turn/turn.ts";

/** A model with a character and bounds. */
export interface Agent {
  readonly name: string;
  /**
   * Begins a dialog: `args` are those of the system prompt.
   *
   * @throws {PromptError} when they do not fit it
   */
  open(args?: Readonly<Record<string, unknown>>): Dialog;
}

/** What the dialogs of an agent have of it. */
export interface AgentParts {
  readonly name: string;
  readonly effort?: Effort;
  readonly limits: AgentLimits;
  readonly modelArgs: Readonly<Record<string, unknown>>;
  readonly host: AgentHost;
}

/** Where an agent lives. */
export interface AgentHost {
  readonly random: () => number;
  readonly budget: Budget;
  /** Something comes after a turn that failed. Default false: it is asked again when the run is resumed. */
  readonly keepsFailure?: boolean;
  /** Of the calls of its tools. */
  readonly calls?: CallBounds;
  /** Ends a wait for its provider early. */
  readonly wake?: () => AbortSignal;
  /** Does the work in a run: its own, or the one that goes on. */
  within<Result>(
    options: Pick<CallOptions, "signal" | "onEvent">,
    work: (run: Run) => Promise<Result>,
  ): Promise<Result>;
  /** For a dialog that begins here and now. */
  home(): DialogHome;
}

/** Where a dialog is in its run. */
export interface DialogHome {
  readonly tools: ToolSource;
  model(): Model | Promise<Model>;
  /** Before the keys of its turns. `content` is what its first question is about, which is asked for once at most. */
  key(content: () => Json): string;
  /** For a dialog that is forked from it, here and now. */
  fork(): DialogHome;
  /** Why nothing may be said in it here and now; undefined: it may. */
  problem(): string | undefined;
  /** A turn is under way. */
  begin(): Disposable;
}

/** Homes of dialogs that are in no run: they are told apart by their number, and nothing in them is bounded by a place. */
export function numberedHomes(world: Pick<DialogHome, "tools" | "model">): () => DialogHome {
  let dialogs = 0;
  const home = (): DialogHome => {
    const key = `dialog[${++dialogs}]/`;
    return {
      ...world,
      key: () => key,
      fork: home,
      problem: () => undefined,
      begin: () => ({ [Symbol.dispose]: () => undefined }),
    };
  };
  return home;
}

/** How to make one turn. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Laid over the agent's. */
  readonly modelArgs?: Readonly<Record<string, unknown>>;
  /** Given to the gadgets. */
  readonly deps?: unknown;
  /** Hears what happens, such as the text as it comes; an agent of a run tells it to that run alone. */
  readonly onEvent?: (event: RunEvent) => void;
}

// Read off the prompt's own type: were they type parameters, a prompt that is defined in the call itself would take its types from them.

type ArgsIn<Sent> = Sent extends Prompt<string, unknown, readonly ToolRef[], infer Args> ? Args : never;

type OutputIn<Sent> = Sent extends Prompt<string, infer Output> ? Output : never;

/** The answer of one turn. */
export interface Reply<Output = unknown> {
  readonly parsed: Output;
  readonly text: string;
  readonly state: CallState;
  readonly dialog: Dialog;
}

/** A talk with an agent. Its messages only grow, and every call of a tool in it is answered. */
export class Dialog {
  /** The dialog that this one was forked from. */
  readonly parent: Dialog | null;
  readonly #parts: AgentParts;
  readonly #log: DialogLog;
  readonly #home: DialogHome;
  /** The prompt that the turn under way began with. */
  #specification: AnyPrompt | undefined;

  /** Made by {@linkcode Agent.open} and {@linkcode Dialog.fork}. */
  constructor(
    parts: AgentParts,
    { topPrompt, entries, parent, home = parts.host.home() }: {
      readonly topPrompt: AnyPrompt;
      readonly entries: readonly DialogEntry[];
      readonly parent: Dialog | null;
      /** Default: a new one of the agent's host. */
      readonly home?: DialogHome;
    },
  ) {
    this.#parts = parts;
    this.#log = new DialogLog(topPrompt, entries);
    this.#home = home;
    this.parent = parent;
  }

  /** A copy: what comes later is not in it. */
  get messages(): readonly DialogMessage[] {
    return this.#log.entries.map(({ message, prompt }) => dialogMessage(message, prompt));
  }

  /** The prompt in force; while a turn goes on, also what its handlers make of it. */
  get topPrompt(): AnyPrompt {
    return this.#log.topPrompt;
  }

  /** Says something of the user's own: never a template, and the prompt in force stays. */
  say(words: Words): this {
    this.#assertIdle();
    const content = wordsFrom(words);
    if (content === undefined) throw this.#misuse(`say takes text, found ${foundValue(words)}`);
    this.#log.add([{ role: "user", content }], undefined);
    return this;
  }

  /** Says what a prompt renders to, which is in force from now on. @throws {PromptError} and nothing is said */
  send<Sent extends AnyPrompt>(prompt: Sent, ...args: ArgsList<ArgsIn<Sent>>): this {
    this.#send(prompt, args[0]);
    return this;
  }

  /** Makes one turn: the model answers, with as many tools as it takes. @throws {AgentError} */
  async call<Output = unknown>(options: CallOptions = {}): Promise<Reply<Output>> {
    this.#assertIdle();
    const specification = this.#log.topPrompt;
    this.#specification = specification;
    try {
      const { parsed, text, state } = await this.#turn(options);
      return { parsed: parsed as Output, text, state, dialog: this }; // what its contract says
    } finally {
      this.#specification = undefined;
      this.#log.topPrompt = specification;
    }
  }

  /** `send` and `call` in one. */
  async ask<Sent extends AnyPrompt>(
    prompt: Sent,
    ...[args, options]: ArgsList<ArgsIn<Sent>, CallOptions>
  ): Promise<Reply<OutputIn<Sent>>> {
    this.#send(prompt, args);
    return await this.call<OutputIn<Sent>>(options);
  }

  /** Another dialog with a copy of its messages: all, or the first `keepFirst` (default 1) and the last `keepLast`. @throws {PromptError} */
  fork(options: ForkOptions = {}): Dialog {
    const entries = keptInFork(this.#log.entries, options);
    const topPrompt = this.#specification ?? this.#log.topPrompt;
    return new Dialog(this.#parts, { topPrompt, entries, parent: this, home: this.#home.fork() });
  }

  toJSON(): unknown {
    return { agent: this.#parts.name, topPrompt: this.topPrompt.path, messages: this.messages };
  }

  #send(prompt: unknown, args: unknown): void {
    this.#assertIdle();
    if (!isPrompt(prompt)) throw this.#misuse(`send takes a prompt, found ${foundValue(prompt)}`);
    this.#log.add([{ role: "user", content: renderWith(prompt, args) }], prompt);
  }

  async #turn(options: CallOptions): Promise<PromptTurnEnd> {
    const { name, effort, limits, host, modelArgs: own } = this.#parts;
    const { signal, modelArgs, deps } = options;
    return await host.within(options, async (run) => {
      using _turn = this.#home.begin();
      using linked = linkedSignal([run.signal, signal]);
      const place = this.#home.key(() => this.#content(run));
      let turn: ReturnType<typeof promptTurn> | undefined;
      try {
        turn = promptTurn({
          run,
          signal: linked.signal,
          keyPrefix: place,
          agent: name,
          model: modelWithErrors(await this.#model(linked.signal)),
          limits,
          effort,
          modelArgs: { ...own, ...modelArgs },
          tools: this.#toolsIn(run, place),
          log: this.#log,
          given: { deps, dialog: this },
          host,
        });
        return await runTurn(turn, { run, signal: linked.signal, budget: host.budget, keyPrefix: place });
      } catch (error) {
        const state = turn?.state ?? initialState(limits);
        if (error instanceof AgentError || !linked.signal.aborted) throw error;
        throw failure("the call was aborted", { name, code: "aborted", state, error });
      }
    });
  }

  /** What tells its first question from those of other dialogs. */
  #content(run: Run): Json {
    const { all, topPrompt } = this.#log;
    return toJson({ prompt: topPrompt.path, messages: all.map((message) => run.mask(message)) });
  }

  /** The tools of a turn; what they do is inside of their calls. */
  #toolsIn(run: Run, place: string): ToolSource {
    const { tools } = this.#home;
    const keyOf = (id: string): string => `${place}turn[${this.#log.asked}]/call:${id}`;
    return {
      find: (name) => tools.find(name),
      names: () => tools.names(),
      around: (gadget) => placedGadget(tools.around?.(gadget) ?? gadget, { run, keyOf }),
    };
  }

  /** @throws {AgentError} `config`, when it cannot be found; the signal's reason */
  async #model(signal: AbortSignal): Promise<Model> {
    const { name, limits } = this.#parts;
    try {
      return await orAborted(this.#home.model(), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw failure(messageOf(error), { name, code: "config", state: initialState(limits), error });
    }
  }

  #assertIdle(): void {
    const problem = this.#home.problem();
    if (problem !== undefined) throw this.#misuse(problem);
    if (this.#specification === undefined) return;
    throw this.#misuse("a turn of this dialog is under way: wait for its answer, or fork the dialog");
  }

  #misuse(problem: string): PromptError {
    return new PromptError(`agent "${this.#parts.name}": ${problem}`, { code: "define" });
  }
}

/** The types know what the arguments are; whoever has none of them is told by the prompt. */
function renderWith(prompt: AnyPrompt, args: unknown): string {
  return args === undefined ? prompt.render() : prompt.render(args as Readonly<Record<string, unknown>>);
}

function failure(
  message: string,
  { name, code, state, error }: {
    readonly name: string;
    readonly code: "aborted" | "config";
    readonly state: TurnState;
    readonly error: unknown;
  },
): AgentError {
  state.state = "failure";
  return new AgentError(`agent "${name}": ${message}`, { code, state, cause: error });
}
