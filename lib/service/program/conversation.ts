// A conversation of a program: its options as what the conversation meets.
import { createCatalog } from "../../catalog/catalog.ts";
import {
  type AnyGadget,
  type Clock,
  type Collection,
  type Effort,
  type Journal,
  toJson,
  toJsonObject,
  type World,
} from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { workingFolder } from "../../host/paths.ts";
import { memoryJournal } from "../../journal/memory_journal.ts";
import { newRunId } from "../../journal/new_run.ts";
import { type AgentFile, AgentFileError } from "../../parse/agent/agent.ts";
import { readAgentFile } from "../../parse/agent/read.ts";
import { parsePolicyFlags } from "../../policy/policy_settings.ts";
import {
  type ConversationMeans,
  type ConversationModels,
  conversationSubRuns,
} from "../../run/conversation/work.ts";
import { httpOfFetch, type ProgramFetch } from "../../run/conversation/http_of_fetch.ts";
import {
  type Conversation,
  type ConversationHome,
  newConversation,
  storedConversation,
} from "../../run/conversation/conversation.ts";
import { builtInCatalog } from "../../project/bounded_world.ts";
import { setVariable } from "../../project/conversation_means.ts";
import { readyTools } from "../../project/document/place.ts";
import { type ConversationModelFunction, modelOfFunction } from "./model_of_function.ts";
import { conversationModels } from "../../project/models.ts";
import { isAcceptedHere, openSettings } from "../../project/project.ts";
import { createWorld } from "../../project/world.ts";
import { rootFolder } from "./root_folder.ts";

/** Where conversations, their slots and their steps are kept. */
export type Store = Journal;

/** How a conversation is held. */
export interface ConversationOptions {
  /** Answers in place of the configured models. */
  readonly model?: ConversationModelFunction;
  /** How hard models think, whatever the steps say. Default: as they say. */
  readonly effort?: Effort;
  /** Makes the requests. Default: the network, without private addresses. */
  readonly fetch?: ProgramFetch;
  /** What retrievers look in. Default: none. */
  readonly collection?: Collection;
  /** What preloaded slots come from: `{user, module, session, "user-config", "user-context-log"}`. Default: nothing. */
  readonly context?: unknown;
  /** Default: memory, gone with the program. */
  readonly store?: Store;
  /** Goes on with this conversation of the store. Default: a new one. */
  readonly id?: string;
  /** Whose slots it has. Default `local`. */
  readonly user?: string;
  /** Default `default`. */
  readonly module?: string;
  /** Default: the id of the agent. */
  readonly session?: string;
  /** Set before the first step, by `destination.name`; without a destination they are slots of the conversation. */
  readonly slots?: Readonly<Record<string, unknown>>;
  readonly limits?: {
    /** Steps that are made without waiting for the person. Default 250. */
    readonly steps?: number;
  };
  /** The variables of the environment that the file may name as `${env.NAME}`. Default: none. */
  readonly env?: readonly string[];
  /** What gadget steps and tools are looked up in. Default: the built-in gadgets, which may read the working folder. */
  readonly gadgets?: readonly AnyGadget[];
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Aborts the turn that is being made. */
  readonly signal?: AbortSignal;
}

/**
 * Opens a conversation with an agent (conversations.md). Nothing happens before its first turn; the events of a turn end with `run-end`,
 * whose `status` is `held`, `completed` or `failed`.
 *
 * @throws {ConversationError} `gone`, when the store has no conversation of this `id`
 * @throws {RangeError} for a limit that is no whole number from 1 on
 *
 * ```ts
 * import { loadAgent, openConversation } from "orrery";
 *
 * const text = `version: "0.1"
 * structure:
 *   id: greeter
 *   action:
 *     id: main
 *     chain:
 *       - { id: ask, message: { message: "Your name?", hold: true } }
 *       - { id: name, extractor: { values: [ { description: the name, target: { slot: { name: name } } } ],
 *             success: { action: continue }, fail: { action: repeat } } }
 *       - { id: greet, message: { message: "Hello {{name}}!" } }
 * `;
 * const agent = await loadAgent({ file: "greeter.agent.yml", text });
 * const conversation = await openConversation(agent, { model: () => Promise.resolve({ name: "Ana" }) });
 * for await (const _event of conversation.start());
 * console.log(conversation.status); // => held
 * for await (const event of conversation.say("I am Ana")) {
 *   if (event.type === "message") console.log(event.text); // => Hello Ana!
 * }
 * console.log(conversation.status, conversation.slots()); // => completed { "conversation.name": "Ana" }
 * ```
 */
export async function openConversation(
  agent: AgentFile,
  options: ConversationOptions = {},
): Promise<Conversation> {
  assertLimit(options.limits?.steps);
  const { store = memoryJournal(), user = "local", module = "default", session = agent.id } = options;
  const home: ConversationHome = {
    agent,
    journal: store,
    scope: { user, module, session },
    context: toJson(options.context ?? {}),
    given: toJsonObject(options.slots),
    means: meansOf(options),
    maxSteps: options.limits?.steps,
    effort: options.effort,
    clock: options.clock,
    signal: options.signal,
  };
  return await Promise.resolve(
    options.id !== undefined
      ? storedConversation(options.id, home)
      : newConversation(newRunId(Date.now()), home),
  );
}

/** Endless is allowed. */
function assertLimit(steps: number | undefined): void {
  if (steps === undefined || steps === Infinity || (Number.isInteger(steps) && steps >= 1)) return;
  throw new RangeError(`limits.steps must be a whole number from 1 on, found ${steps}`);
}

function meansOf(options: ConversationOptions): ConversationMeans {
  const { model, collection, gadgets } = options;
  const world = openWorld();
  return {
    models: model === undefined ? configuredModels() : modelOfFunction(model),
    http: options.fetch === undefined ? world.http : httpOfFetch(options.fetch),
    tools: readyTools(() =>
      Promise.resolve(
        gadgets === undefined ? builtInCatalog(world) : createCatalog(gadgets),
      )
    ),
    budget: {},
    calls: {},
    env: (name) => allowedVariable(name, options.env),
    ...conversationSubRuns,
    collection,
  };
}

/** @throws {Error} */
function allowedVariable(name: string, allowed: readonly string[] = []): string {
  if (allowed.includes(name)) return setVariable(name);
  throw new Error(
    `the environment variable "${name}" is not allowed: add it to the option "env" of openConversation`,
  );
}

/** The network is open, private addresses are not: they would have to be named. */
function openWorld(): World {
  const cwd = workingFolder();
  const settings = parsePolicyFlags([{ name: "allow-net", value: true }]);
  return createWorld({ root: cwd, cwd, settings });
}

function configuredModels(): ConversationModels {
  let opened: Promise<ConversationModels> | undefined;
  return { find: async (...asked) => await (await (opened ??= openModels())).find(...asked) };
}

async function openModels(): Promise<ConversationModels> {
  const project = await openSettings();
  return conversationModels({ ...project, isAccepted: await isAcceptedHere(project) });
}

/**
 * Reads an agent of conversations (conversations.md 1), as `openConversation` takes it.
 *
 * @param source a `*.agent.yml` file, as a path from the working folder or as a `file:` URL; or its text, with the name that messages give it
 * @throws {AgentFileError} with everything that is wrong with the file, {FileError} when it cannot be read
 *
 * ```ts
 * import { loadAgent } from "orrery";
 *
 * const text = `version: "0.1"
 * structure:
 *   id: hello
 *   action: { id: main, message: { message: "Hello!" } }
 * `;
 * const agent = await loadAgent({ file: "hello.agent.yml", text });
 * console.log(agent.id, agent.root.kind, agent.root.span.line); // => hello message 4
 * ```
 */
export async function loadAgent(
  source: string | URL | { readonly file: string; readonly text: string },
): Promise<AgentFile> {
  const { file, text } = typeof source === "string" || source instanceof URL ? await textOf(source) : source;
  const { agent, problems } = await readAgentFile(text, { file });
  if (agent === undefined) throw new AgentFileError(problems.filter(({ severity }) => severity === "error"));
  return agent;
}

async function textOf(source: string | URL): Promise<{ readonly file: string; readonly text: string }> {
  const path = rootFolder(source);
  const text = await hostFiles({ root: workingFolder() }).readText(path);
  return { file: typeof source === "string" ? source : path, text };
}
