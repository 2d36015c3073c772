// Agents whose turns are steps of one run: what the command line runs, and what a gadget runs inside of a call.
import {
  defineError,
  didYouMeanNames,
  DivergedError,
  isRecord,
  type Json,
  type Message,
  messageOf,
  type Model,
  ModelError,
  orAborted,
  PromptError,
  type RunEvent,
  toJson,
  type Words,
} from "../../core/core.ts";
import { isPrompt, partsOf } from "../../prompt/parts.ts";
import type { AnyPrompt } from "../../prompt/prompt.ts";
import type { PromptRegistry } from "../../prompt/registry.ts";
import { shown } from "../../schema/issue.ts";
import { type Budget, BudgetError } from "../budget.ts";
import { type Answered, type DialogSource, talk } from "../dialog/dialog.ts";
import { inTurn, programJournal, ProgramOrder, turnHere } from "../replay/program_order.ts";
import { contentHash, inKey, WorkPlace } from "../replay/work_place.ts";
import type { Run, RunOptions } from "../run.ts";
import { runTactic, type Tactic } from "../tactic/tactic.ts";
import { tacticHost } from "../tactic/host.ts";
import { notedModel } from "../turn/noted_model.ts";
import { notedTools, type ToolSource } from "../turn/offered.ts";
import type { CallBounds } from "../turn/tool_round.ts";
import { endingRun, endOfError, workRun } from "../work_run.ts";
import type { Agent, AgentHost, DialogHome, Reply } from "./agent.ts";
import { AgentError } from "./call_state.ts";
import { type AgentDefinition, makeAgent, systemPromptOf } from "./make_agent.ts";

/** What agents of a run have in common. */
export interface RunAgentsOptions {
  /** What plain names of tools stand for. Default: nothing. */
  readonly tools?: ToolSource;
  /** Default: no bound. */
  readonly budget?: Budget;
  /** Before the keys of their dialogs. Default: nothing. */
  readonly keyPrefix?: string;
  /** From 0 to 1, for the random part of waits. Default `Math.random`. */
  readonly random?: () => number;
  /** Of the calls of their tools. Default: as for other calls. */
  readonly calls?: CallBounds;
  /** Something comes after a turn that failed: its failure is kept like an answer. Default false. */
  readonly keepsFailure?: boolean;
  /** Ends a wait for a provider early. */
  readonly wake?: () => AbortSignal;
}

const NO_TOOLS: ToolSource = { find: () => undefined, names: () => Promise.resolve([]) };

/** Makes the agents of a run. */
export function agentsOfRun(run: Run, options: RunAgentsOptions): AgentMaker {
  return agentsAt(new WorkPlace(run, options.keyPrefix ?? ""), options);
}

type AgentMaker = (definition: AgentDefinition, model: () => Model | Promise<Model>) => Agent;

/** With `isByContent` the order in which dialogs are opened says nothing of which they are. */
function agentsAt(
  root: WorkPlace,
  options: RunAgentsOptions & { readonly isByContent?: boolean },
): AgentMaker {
  const { run } = root;
  const { tools = NO_TOOLS, budget = {}, random = Math.random, isByContent = false } = options;
  const noted = perPlace((place) => notedTools(run, { tools, keyPrefix: place.prefix }));
  return (definition, find) => {
    const { name } = definition;
    let found: Model | Promise<Model> | undefined;
    const models = perPlace((place) =>
      notedModel(run, {
        key: place.numbered(`${place.prefix}agent[${inKey(name)}]/model`),
        find: () => found ??= find(),
      })
    );
    const world = { root, name, isByContent, toolsAt: noted, modelAt: models };
    const host: AgentHost = {
      ...options,
      random,
      budget,
      within: ({ signal }, work) => inTurn(run, { agent: name, signal, work: () => work(run) }),
      home: () => dialogHome(world),
    };
    return makeAgent(definition, host);
  };
}

/** What the dialogs of an agent have in common. */
interface HomeWorld {
  readonly root: WorkPlace;
  readonly name: string;
  readonly isByContent: boolean;
  toolsAt(place: WorkPlace): ToolSource;
  modelAt(place: WorkPlace): Model | Promise<Model>;
}

/** The key of a dialog that this one was forked from. */
interface ParentHome {
  readonly place: WorkPlace;
  readonly key: string | undefined;
}

const ELSEWHERE =
  "this dialog belongs to another part of the run: what a gadget or a step does inside is not done again " +
  "when the run is resumed, so it opens or forks a dialog of its own";

/**
 * Where a dialog is that begins here and now. In what runs side by side the order is chance: there a dialog is known by its agent and by
 * what it is asked first, and of equal ones any may be the other.
 */
function dialogHome(world: HomeWorld, parent?: ParentHome): DialogHome {
  const { root, name, isByContent, toolsAt, modelAt } = world;
  const place = root.here();
  const above = parent?.place === place ? parent.key : undefined;
  const base = `${above ?? place.prefix}${parent === undefined ? "dialog" : "fork"}`;
  const isNumbered = place === root && !isByContent;
  let key = isNumbered ? `${base}[${place.count(base)}]/` : undefined;
  return {
    tools: toolsAt(place),
    model: () => modelAt(place),
    key(content) {
      key ??= `${place.arrived(`${base}[${inKey(name)}:${contentHash(content())}`)}]/`;
      place.cameTo.add(key.slice(0, -1));
      return key;
    },
    fork: () => dialogHome(world, { place, key }),
    problem: () => root.here().whole === place.whole ? undefined : ELSEWHERE,
    begin: () => {
      turnHere()?.isAt(place.whole.prefix);
      return place.begin(`a turn of agent "${name}"`);
    },
  };
}

/** One for each place, made when it is first wanted there. */
function perPlace<Value>(make: (place: WorkPlace) => Value): (place: WorkPlace) => Value {
  const made = new WeakMap<WorkPlace, { readonly value: Value }>();
  return (place) => {
    const known = made.get(place) ?? { value: make(place) };
    made.set(place, known);
    return known.value;
  };
}

/** A prompt to be asked. */
export interface RunPromptOptions extends RunOptions, RunAgentsOptions {
  readonly prompt: AnyPrompt;
  readonly args: Readonly<Record<string, unknown>>;
  readonly model: Model;
  /** Who is asked. Default: nobody in particular, without a system prompt. */
  readonly agent?: AgentDefinition;
  /** For its system prompt. */
  readonly systemArgs?: Readonly<Record<string, unknown>>;
  /** The prompt is the system prompt instead of the agent's, and this is said: what holds is the contract of the prompt. */
  readonly say?: Words;
  /** The same with more than one message: the last one is answered. */
  readonly history?: readonly Message[];
}

/**
 * Asks one prompt and tells what happens; the value of `run-end` is what the answer means by the prompt's contract, and its
 * text where there is none (prompts.md 9).
 *
 * `run-end` is `failed` with the reason `contract` when no answer fits (the value is the last one), and otherwise as that of `ask`.
 *
 * ```ts
 * import { definePrompt, fakeModel, runPrompt, tags } from "orrery";
 *
 * const prompt = definePrompt({ template: "Name {thing}.", parser: tags({ requiredXmlTags: ["name"] }) });
 * const model = fakeModel(["<name>Blue</name>"]);
 * for await (const event of runPrompt({ prompt, args: { thing: "a colour" }, model })) {
 *   if (event.type === "run-end") console.log(event.status); // => done
 * }
 * ```
 */
export function runPrompt(options: RunPromptOptions): AsyncIterable<RunEvent> {
  checkPromptRun(options);
  const { prompt, args, model, systemArgs, say, history, agent = { name: prompt.path, system: "" } } =
    options;
  return workRun("prompt", options, async (run) => {
    const make = agentsOfRun(run, options);
    if (say === undefined && history === undefined) {
      return answerOf(await make(agent, () => model).open(systemArgs).ask(prompt, args), prompt);
    }
    const dialog = make({ ...agent, system: prompt, history: history ?? [] }, () => model).open(args);
    return answerOf(await (say === undefined ? dialog : dialog.say(say)).call(), prompt);
  });
}

/**
 * What an answer means by the contract of its prompt; its text where there is none.
 *
 * @throws {Error} for what is no JSON
 * @throws {ModelError} `answer`, for a text that is empty: to a dialog it is a message like any other, but no value of a run
 */
export function answerOf({ parsed, text }: Pick<Reply, "parsed" | "text">, prompt: AnyPrompt): Json {
  if (hasContract(prompt)) return valueOf(parsed, prompt);
  if (text.trim() !== "") return text;
  throw new ModelError(`prompt "${prompt.path}": the model gave an empty answer`, { code: "answer" });
}

/** Whether an answer to the prompt has to be of some form. */
export function hasContract({ parser, format }: Pick<AnyPrompt, "parser" | "format">): boolean {
  return parser !== null || format !== null;
}

function valueOf(parsed: unknown, { path }: AnyPrompt): Json {
  try {
    return toJson(parsed);
  } catch (cause) {
    const found = `what its parser gives is ${messageOf(cause)}; the value of a run is JSON`;
    throw new Error(`prompt "${path}": ${found}`, { cause });
  }
}

/** An agent that a tactic may need. */
export interface TacticAgent {
  readonly definition: AgentDefinition;
  /** Found when it is first asked. */
  model(): Model | Promise<Model>;
}

/** A tactic to be run. */
export interface RunTacticOptions extends RunOptions, RunAgentsOptions {
  readonly tactic: Tactic;
  readonly task: unknown;
  readonly prompts: PromptRegistry;
  /** By name. */
  readonly agents: ReadonlyMap<string, TacticAgent>;
  /** ms since 1970: when the run began, the first time; what `now()` gives. */
  readonly startedAt: number;
}

/** Runs a tactic and tells what happens; the value of `run-end` is its result (prompts.md 10). Its steps and turns are steps of the run. */
export function runTacticRun(options: RunTacticOptions): AsyncIterable<RunEvent> {
  const { tactic, task, prompts, agents, startedAt, journal } = options;
  const order = new ProgramOrder(journal?.events ?? []);
  const ordered = journal === undefined ? options : { ...options, journal: programJournal(journal, order) };
  return workRun("prompt", ordered, async (run) => {
    using _order = order;
    order.follow(run);
    options.replay?.keepsPace();
    const place = new WorkPlace(run, options.keyPrefix ?? "");
    const make = agentsAt(place, { ...options, isByContent: true });
    const byName = new Map(
      [...agents].map(([name, { definition, model }]) => [name, () => make(definition, model)]),
    );
    const host = tacticHost(place, { agents: byName, prompts, startedAt });
    const result = toJson(await runTactic(tactic, task, { host, signal: run.signal }) ?? null);
    await orAborted(place.idle(), run.signal);
    if (order.fault !== undefined) throw order.fault;
    tellMissed(place, order);
    return result;
  });
}

/** Tells of what a run had begun before it was resumed, and has not come to again: nothing else shows that the tactic has changed. */
function tellMissed({ run, cameTo, prefix }: WorkPlace, order: ProgramOrder): void {
  const begun = order.begunAt(prefix).map((key) => key.replace(/\/turn\[\d+\]\/model$/, ""));
  const missed = [...new Set(begun)].filter((key) => !cameTo.has(key));
  if (missed.length === 0) return;
  run.emit({
    type: "warning",
    text: `The run has not come again to what it had begun before it was resumed: ${missed.join(", ")}. ` +
      "The tactic or its prompts may have changed since, and what they do may have been done twice",
  });
}

// A prompt is looked at before its run begins: one that could not even be asked leaves no run behind, and costs nothing.

/** What is to be asked, of which nothing is known yet. */
interface WantedPromptRun {
  readonly prompt: unknown;
  readonly args?: unknown;
  /** Its system prompt is rendered too, where it is a prompt and is sent. */
  readonly agent?: { readonly system?: unknown };
  readonly systemArgs?: unknown;
  /** The prompt is the system prompt. */
  readonly say?: Words;
  /** The same: it is the system prompt. */
  readonly history?: readonly unknown[];
}

/**
 * Sees that a prompt, and the system prompt before it, can be rendered with their values. Names that a prompt does not have are told where
 * something is missing: they are what was meant.
 *
 * @throws {PromptError} `define` for what is no prompt, and `render` with a line for everything that is wrong with the values
 */
function checkPromptRun(
  { prompt, args = {}, agent, systemArgs = {}, say, history }: WantedPromptRun,
): void {
  if (!isPrompt(prompt)) {
    const hint = typeof prompt === "string"
      ? `: registry.get(${JSON.stringify(prompt)}) finds one by its path`
      : "";
    throw defineError(
      `runPrompt: prompt must be a prompt, as definePrompt makes it, found ${shown(prompt)}${hint}`,
    );
  }
  const system = say === undefined && history === undefined ? agent?.system : undefined;
  const problems = [
    ...valueProblems(prompt, args),
    ...(isPrompt(system) ? valueProblems(system, systemArgs) : []),
  ];
  if (problems.length > 0) throw new PromptError(problems.join("\n"), { code: "render" });
}

function valueProblems(prompt: AnyPrompt, args: unknown): readonly string[] {
  try {
    Reflect.apply(prompt.render, undefined, [args]);
    return [];
  } catch (error) {
    if (!(error instanceof PromptError)) throw error;
    return [...unknownNames(prompt, args), error.message];
  }
}

function unknownNames(prompt: AnyPrompt, args: unknown): readonly string[] {
  const { path, vars } = prompt;
  const { renderer } = partsOf(prompt);
  if (!isRecord(args) || renderer !== null && renderer.vars === undefined) return []; // any name may be one
  return Object.keys(args).filter((name) => !vars.includes(name)).map((name) => {
    const variable = `prompt ${JSON.stringify(path)} has no variable ${JSON.stringify(name)}`;
    if (vars.length === 0) return `${variable}: it has none`;
    const near = didYouMeanNames(name, vars);
    return `${variable}${near === "" ? "." : near} It has: ${vars.join(", ")}`;
  });
}

/** Whom to talk with. */
export interface AgentTalkOptions extends RunOptions, Omit<RunAgentsOptions, "keepsFailure"> {
  readonly agent: AgentDefinition;
  /** Of its system prompt. Default: none. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly model: Model;
}

/**
 * Talks with an agent in one run and one dialog: each message is one turn, held to the contract of its system prompt (prompts.md 8). A
 * turn that fails is told as a `warning`, and the conversation goes on; a budget, and an agent that cannot be asked at all, ends it.
 */
export function agentTalk(source: DialogSource, options: AgentTalkOptions): AsyncIterable<RunEvent> {
  const { agent, args, model } = options;
  return endingRun("chat", options, async (run) => {
    const make = agentsOfRun(run, { ...options, keepsFailure: true });
    const dialog = make(agent, () => model).open(args);
    const system = systemPromptOf(agent);
    return await talk(run, {
      source,
      async answer({ words }) {
        try {
          return { value: answerOf(await dialog.say(words).call(), system) };
        } catch (error) {
          return whatIsLeft(error, run);
        }
      },
    });
  });
}

/** @throws the error, when nothing could come after it */
function whatIsLeft(error: unknown, run: Run): Answered {
  if (error instanceof BudgetError) return { end: endOfError(error) };
  const isOver = run.signal.aborted || error instanceof DivergedError ||
    (error instanceof AgentError && error.code === "config");
  if (isOver) throw error;
  return { problem: messageOf(error) };
}
