import { dirname } from "node:path";
import { slotKey, slotPath } from "../../../conversation/slots.ts";
import {
  canonicalJson,
  type Collection,
  type Journal,
  type Json,
  type JsonObject,
  type Message,
  messageOf,
  overlayFiles,
  type RunEvent,
  textOf,
} from "../../../core/core.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { memoryJournal } from "../../../journal/memory_journal.ts";
import { newRunId } from "../../../journal/new_run.ts";
import { type AgentTree, agentTree } from "../../../parse/agent/tree.ts";
import { boundedWorld, catalogInWorld } from "../../../project/bounded_world.ts";
import { readyTools } from "../../../project/document/place.ts";
import { projectCollection, type ProjectCollectionOptions } from "../../../project/project_collection.ts";
import { textDiff } from "../../../render/text_diff.ts";
import type { ContainerCall, Containers } from "../../../run/calls/container.ts";
import { type ConversationMeans, conversationSubRuns } from "../../../run/conversation/work.ts";
import { httpOfFetch } from "../../../run/conversation/http_of_fetch.ts";
import {
  type Conversation,
  type ConversationStatus,
  LiveConversation,
} from "../../../run/conversation/conversation.ts";
import type { TestFailure, TestField, TestSource } from "../field.ts";
import type { FileTest } from "../test.ts";
import { testedContainers, type TestProject, type TestProjects } from "../tested.ts";
import { readConversationTests, type TestConversation } from "./file.ts";
import { TestModels, TestServer } from "./scripts.ts";

/** The tests of a `*.conversation-test.yml`. @throws {ProblemsError} */
export async function conversationTests(
  source: TestSource,
  projects: TestProjects,
): Promise<readonly FileTest[]> {
  const project = await projects.of(dirname(source.path));
  return (await readConversationTests(source)).map(({ field, conversations }) => ({
    name: field.at("name").text() ?? "",
    span: field.span,
    run: async () => {
      const store = memoryJournal();
      for (const [index, conversation] of conversations.entries()) {
        const before = conversations.length === 1 ? "" : `conversation ${index + 1}, `;
        const failures = await conversationFailures(conversation, { project, store, before });
        if (failures.length > 0) return failures;
      }
      return [];
    },
  }));
}

/** Those of the first turn that is not as expected. @param place `before`: in front of the names of its turns */
async function conversationFailures(
  conversation: TestConversation,
  { project, store, before }: {
    readonly project: TestProject;
    readonly store: Journal;
    readonly before: string;
  },
): Promise<readonly TestFailure[]> {
  const { field, agent, scope, context, maxSteps } = conversation;
  const models = new TestModels(conversation.replies);
  const server = new TestServer(conversation.answers);
  await using opened = testMeans(conversation, { project, models, server });
  const { means, containers } = opened;
  const { signal, secrets } = project;
  const live = LiveConversation.begin(newRunId(Date.now()), {
    agent,
    scope,
    context,
    given: mappingOf(field.at("slots-before")),
    journal: store,
    means,
    containers: () => Promise.resolve(containers),
    signal,
    secrets,
    maxSteps,
  });
  const turns = field.at("turns").items();
  for (const [index, turn] of turns.entries()) {
    const name = `${before}turn ${index + 1}`;
    const heard = await hearTurn(live, turn, { isFirst: index === 0 });
    const missing = [...models.missing, ...server.missing];
    if (missing.length > 0) { // all else follows from it
      const { span } = turn;
      return missing.map((text) => ({ what: `${name}: script`, span, message: `in ${name} ${text}` }));
    }
    const seen = [turn.at("slots"), ...index === turns.length - 1 ? [field.at("slots-after")] : []]
      .flatMap((slots) => slotFailures(live.slots(), slots));
    for (const [kind, key] of [["prompts", "saw-prompts"], ["memory", "saw-memory"]] as const) {
      for (const each of index === turns.length - 1 ? [turn, field] : [turn]) {
        seen.push(
          ...each.at(key).entries().flatMap(([step, wanted]) =>
            messagesFailures(models.seen(step)?.[kind], wanted, { kind, step })
          ),
        );
      }
    }
    const failures = [
      ...server.failures,
      ...turnFailures(heard, { turn, name }),
      ...seen.map((failure) => ({
        ...failure,
        what: `${name}: ${failure.what}`,
        message: `behind ${name} ${failure.message}`,
      })),
    ];
    if (failures.length > 0) return failures;
  }
  return [...models.left(), ...server.left()];
}

function mappingOf({ value }: TestField): JsonObject {
  return { ...value as JsonObject | undefined };
}

/** What came of a turn. */
interface HeardTurn {
  readonly messages: readonly { readonly step: string; readonly text: string }[];
  /** Steps at which the conversation waits. */
  readonly held: readonly string[];
  readonly status: ConversationStatus;
  /** Why it failed, or was not taken. */
  readonly error?: string;
}

/** Makes a turn. What goes wrong with it is a part of what came of it. */
async function hearTurn(
  live: Conversation,
  turn: TestField,
  { isFirst }: { readonly isFirst: boolean },
): Promise<HeardTurn> {
  const before = live.log.length;
  const held: string[] = [];
  let error: string | undefined;
  try {
    for await (const event of eventsOf(live, turn, isFirst)) {
      if (event.type === "hold") held.push(event.step);
      if (event.type === "run-end") error = event.error;
    }
  } catch (thrown) {
    error = messageOf(thrown);
  }
  const said = live.log.slice(before).filter(({ who }) => who === "assistant");
  const messages = said.map(({ text, steps: [step = ""] }) => ({ step, text }));
  return { messages, held, status: live.status, error };
}

function eventsOf(live: Conversation, turn: TestField, isFirst: boolean): AsyncIterable<RunEvent> {
  if (turn.at("retry").value === true) return live.retry();
  const say = turn.at("say").text();
  return isFirst || say === undefined ? live.start(say) : live.say(say);
}

interface Named {
  readonly turn: TestField;
  /** `turn 2` */
  readonly name: string;
}

/** How a turn went, against what the test says of it. */
function turnFailures(heard: HeardTurn, named: Named): readonly TestFailure[] {
  return [...saidFailures(heard, named), ...endFailures(heard, named), ...holdFailures(heard, named)];
}

function saidFailures({ messages }: HeardTurn, { turn, name }: Named): readonly TestFailure[] {
  const expect = turn.at("expect");
  if (!expect.isThere) return [];
  const wanted = expect.oneOrMore();
  if (wanted.length === messages.length) {
    return wanted.flatMap((each, index) => {
      const { step, text } = messages[index] ?? { step: "", text: "" };
      const what = `message ${index + 1} of ${name}, by step ${JSON.stringify(step)},`;
      return each.failures(text, what).map((failure) => ({
        ...failure,
        what: `${name}: message ${index + 1}`,
      }));
    });
  }
  let next = 0; // a message that was said as expected stands on both sides in the same words
  const expected = wanted.map((each) => {
    const at = messages.findIndex(({ text }, index) => index >= next && each.failures(text, "").length === 0);
    if (at === -1) return each.wantedText();
    next = at + 1;
    return messages[at]?.text ?? "";
  });
  return [{
    what: `${name}: messages`,
    span: expect.keySpan,
    message: `in ${name} the agent said ${countText(messages)}, expected ${wanted.length}`,
    diff: textDiff(linesOf(expected), linesOf(messages.map(({ text }) => text))),
  }];
}

function countText(messages: HeardTurn["messages"]): string {
  if (messages.length === 0) return "nothing";
  const steps = messages.map(({ step }) => JSON.stringify(step)).join(", ");
  return messages.length === 1
    ? `1 message (by step ${steps})`
    : `${messages.length} messages (by steps ${steps})`;
}

function endFailures({ status, error }: HeardTurn, { turn, name }: Named): readonly TestFailure[] {
  const why = error === undefined ? "" : `: ${error}`;
  const expected = turn.at("status");
  if (expected.isThere && expected.value !== status) {
    const message = `${name} ended as ${status}, expected ${expected.text()}${why}`;
    return [{ what: `${name}: status`, span: expected.span, message }];
  }
  const wanted = turn.at("error");
  if (wanted.isThere) {
    return wanted.failures(error, `error of ${name}`)
      .map((failure) => ({ ...failure, what: `${name}: error` }));
  }
  if (error === undefined || expected.value === "failed") return [];
  return [{ what: `${name}: error`, span: turn.span, message: `${name} failed${why}` }];
}

function holdFailures({ held }: HeardTurn, { turn, name }: Named): readonly TestFailure[] {
  const hold = turn.at("hold");
  const wanted = hold.oneOrMore().map((step) => step.text() ?? "");
  if (!hold.isThere || wanted.join("\n") === held.join("\n")) return [];
  const message = `behind ${name} the conversation waits at ${stepsText(held)}, expected ${
    stepsText(wanted)
  }`;
  return [{ what: `${name}: hold`, span: hold.span, message }];
}

function stepsText(steps: readonly string[]): string {
  return steps.length === 0 ? "no step" : steps.map((step) => JSON.stringify(step)).join(", ");
}

/** A mapping of one of `equals`, `contains` and `matches` says how a text is to be; everything else is the value. */
function slotFailures(found: Readonly<Record<string, Json>>, slots: TestField): TestFailure[] {
  return slots.entries().flatMap(([name, field]): readonly TestFailure[] => {
    const key = slotKey(slotPath(name));
    const what = `slot ${key}`;
    const value = found[key] ?? null;
    const [[test, of] = ["", field], ...others] = field.entries();
    const isTest = others.length === 0 && of.text() !== undefined && ["contains", "matches"].includes(test);
    if (isTest) return field.failures(value === null ? undefined : shown(value), what);
    const isEqual = others.length === 0 && test === "equals";
    const { value: wanted = null, span } = isEqual ? of : field;
    if (canonicalJson(value) === canonicalJson(wanted)) return [];
    if (value === null) return [{ what, span: field.span, message: `there is no ${what}` }];
    const [a, b] = [shown(wanted), shown(value)];
    if (wanted !== null && a !== b && /\n/.test(a + b)) {
      return [{ what, span: field.span, message: `${what} is another one`, diff: textDiff(a, b) }];
    }
    const expected = wanted === null ? "none" : JSON.stringify(wanted);
    return [{ what, span, message: `${what} is ${JSON.stringify(value)}, expected ${expected}` }];
  });
}

function shown(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The messages that the model of a step was sent last, against those that it is to see. */
function messagesFailures(
  found: readonly Message[] | undefined,
  list: TestField,
  { kind, step }: { readonly kind: string; readonly step: string },
): readonly TestFailure[] {
  const what = `${kind} of step ${JSON.stringify(step)}`;
  const span = list.keySpan;
  if (found === undefined) {
    return [{ what, span, message: `step ${JSON.stringify(step)} has asked no model yet` }];
  }
  const wanted = list.items().flatMap((message) => message.entries());
  const roles = found.map(({ role }) => role).join(", ") || "none";
  const wantedRoles = wanted.map(([role]) => role).join(", ") || "none";
  if (roles !== wantedRoles) {
    return [{
      what,
      span,
      message: `in the ${what} the messages are ${roles}, expected ${wantedRoles}`,
      diff: textDiff(
        linesOf(wanted.map(([role, text]) => `${role}: ${text.wantedText()}`)),
        linesOf(found.map((message) => `${message.role}: ${textOf(message)}`)),
      ),
    }];
  }
  return wanted.flatMap(([role, text], index) => {
    const message = found[index];
    const said = message && textOf(message);
    return text.failures(said, `${role} message ${index + 1} of the ${what}`);
  });
}

/** Texts as the lines of a difference. */
function linesOf(texts: readonly string[]): string {
  return texts.map((text) => `${text.trimEnd()}\n`).join("");
}

// What a conversation that is tested works with: scripts in place of models and of the network, no environment, and the files of the
// project, to read.

/** What a conversation works with until it is disposed of. */
interface TestMeans extends AsyncDisposable {
  readonly means: ConversationMeans;
  /** What runs prompts and documents inside of it. */
  readonly containers: Containers;
}

/** Makes it. */
function testMeans(
  { agent, env, collection: named }: TestConversation,
  { project, models, server }: {
    readonly project: TestProject;
    readonly models: TestModels;
    readonly server: TestServer;
  },
): TestMeans {
  const { settings: { root, config } } = project;
  const files = overlayFiles(hostFiles({ root }), { root, files: {} });
  const world = boundedWorld({ root, files }, () => undefined);
  const tested = { world: { root, files }, project };
  const path = named ?? config.conversations.collection;
  const collection = path === undefined ? undefined : new TestCollection(path, { root, files: world.files });
  return {
    means: {
      models,
      http: httpOfFetch(server.fetch),
      tools: readyTools(async () => catalogInWorld(await project.catalog(), world)),
      budget: {},
      calls: {},
      env: (name) => valueOf(env, name),
      ...conversationSubRuns,
      collection,
    },
    containers: stepContainers(
      agentTree(agent.root),
      (step) => testedContainers({ ...tested, model: models.of(step) }),
    ),
    async [Symbol.asyncDispose]() {
      await collection?.[Symbol.asyncDispose]();
    },
  };
}

function valueOf(env: Readonly<Record<string, string>>, name: string): string {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined) return value;
  throw new Error(`the test has no environment variable ${JSON.stringify(name)}: put it into env`);
}

/** A collection whose index is in memory; it is opened with the first search. */
class TestCollection implements Collection, AsyncDisposable {
  readonly #path: string;
  readonly #options: Pick<ProjectCollectionOptions, "root" | "files">;
  #opened: Promise<Collection & Disposable> | undefined;

  /** @param path of a `*.collection.yml`: absolute */
  constructor(path: string, options: Pick<ProjectCollectionOptions, "root" | "files">) {
    this.#path = path;
    this.#options = options;
  }

  async search(...given: Parameters<Collection["search"]>): ReturnType<Collection["search"]> {
    const opened = await (this.#opened ??= projectCollection(this.#path, {
      ...this.#options,
      isKept: false,
    }));
    return await opened.search(...given);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#opened?.catch(() => undefined))?.[Symbol.dispose]();
  }
}

/** Prompts and documents that run inside of a conversation, each with what is made for the step in which it runs. */
function stepContainers(
  tree: AgentTree,
  containersOf: (step: string) => Containers,
): Containers {
  const made = new Map<string, Containers>();
  const find = (call: ContainerCall): Containers => {
    const step = stepOf(call, tree);
    let containers = made.get(step);
    if (containers === undefined) made.set(step, containers = containersOf(step));
    return containers;
  };
  return {
    prompt: (call) => needed(find(call).prompt)(call),
    document: (call) => needed(find(call).document)(call),
  };
}

/** The keys of what is done in a step begin with its place: `main/ask#2/`. */
function stepOf({ keyPrefix }: ContainerCall, tree: AgentTree): string {
  const places = tree.ids.map((id) => ({ id, place: tree.path(id).map((step) => step.id).join("/") }));
  const around = places.filter(({ place }) =>
    keyPrefix.startsWith(place) && /^(?:#\d+)?\//.test(keyPrefix.slice(place.length))
  );
  const [step] = around.sort((a, b) => b.place.length - a.place.length);
  if (step === undefined) throw new Error(`${JSON.stringify(keyPrefix)} is in no step`);
  return step.id;
}

function needed<Contained>(contained: Contained | undefined): Contained {
  if (contained === undefined) throw new Error("nothing can be run inside of this conversation");
  return contained;
}
