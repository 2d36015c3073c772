import { slotKey, slotPath } from "../../../conversation/slots.ts";
import {
  canonicalJson,
  type Journal,
  type Json,
  type JsonObject,
  messageOf,
  type Model,
  ModelError,
  overlayFiles,
  systemClock,
  wrappedModel,
} from "../../../core/core.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { memoryJournal } from "../../../journal/memory_journal.ts";
import { newRunId } from "../../../journal/new_run.ts";
import { scriptModel } from "../../../models/script.ts";
import { type AgentTree, agentTree } from "../../../parse/agent/tree.ts";
import { boundedWorld, catalogInWorld } from "../../../project/bounded_world.ts";
import { readyTools } from "../../../project/document/place.ts";
import { projectCollection } from "../../../project/project_collection.ts";
import { textDiff } from "../../../render/text_diff.ts";
import type { ContainerCall, Containers } from "../../../run/calls/container.ts";
import { type Conversation, newConversation } from "../../../run/conversation/conversation.ts";
import { httpOfFetch, type ProgramFetch } from "../../../run/conversation/http_of_fetch.ts";
import {
  type AskedModel,
  type ConversationMeans,
  type ConversationModels,
  conversationSubRuns,
} from "../../../run/conversation/work.ts";
import { readConversationTests, type RepliesByStep, requestKey, type TestConversation } from "./test_file.ts";
import { linesOf, type TestFailure, type TestField, type TestSource } from "../../test/field.ts";
import { type TestedContainers, testedContainers, type TestProject } from "../../test/project.ts";
import type { FileTest } from "../kind.ts";

export { schema } from "./test_file.ts";

/** The tests of a `*.conversation-test.yml`. @throws {ProblemsError} */
export async function read(source: TestSource): Promise<readonly FileTest[]> {
  return (await readConversationTests(source)).map(({ field, conversations }) => ({
    name: field.at("name").text() ?? "",
    span: field.span,
    run: async (project) => {
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
  const { field, agent, scope, context, maxSteps, replies } = conversation;
  const uses = new Uses();
  const models = scriptedModels(replies, uses);
  const sent: TestFailure[] = [];
  await using opened = testMeans(conversation, {
    project,
    models,
    send: scriptedFetch(conversation, uses, sent),
  });
  const { means, containers } = opened;
  const { signal, secrets } = project;
  const live = newConversation(newRunId(Date.now()), {
    agent,
    scope,
    context,
    given: { ...field.at("slots-before").value as JsonObject | undefined },
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
    const heard = await turnFailures(live, turn, { name, isFirst: index === 0 });
    if (uses.missing.size > 0) { // all else follows from it
      return [...uses.missing].flatMap((text) => turn.failure(`${name}: script`, `in ${name} ${text}`));
    }
    const ends = index === turns.length - 1 ? [turn, field] : [turn];
    const behind = [
      ...ends.flatMap((each) => slotFailures(live.slots(), each.at(each === turn ? "slots" : "slots-after"))),
      ...SEEN.flatMap((kind) =>
        ends.flatMap((each) =>
          each.at(`saw-${kind}`).entries().flatMap(([step, wanted]) => {
            const what = `${kind} of step ${JSON.stringify(step)}`;
            const span = wanted.keySpan;
            const found = models.seen.get(step)?.[kind];
            return found === undefined
              ? wanted.failure(what, `step ${JSON.stringify(step)} has asked no model yet`, { span })
              : wanted.messageFailures(found, { what, the: "the ", span });
          })
        )
      ),
    ].map((failure) => ({ ...failure, message: `behind ${name} ${failure.message}` }));
    const failures = [
      ...sent,
      ...[...heard, ...behind].map((failure) => ({ ...failure, what: `${name}: ${failure.what}` })),
    ];
    if (failures.length > 0) return failures;
  }
  return leftOver(conversation, uses);
}

/** What a step's model was sent the last time, of which a test may say how it was to be. */
const SEEN = ["prompts", "memory"] as const;

/** Makes a turn, and holds what came of it against what the test says; what goes wrong with it is a part of that. */
async function turnFailures(
  live: Conversation,
  turn: TestField,
  { name, isFirst }: { readonly name: string; readonly isFirst: boolean },
): Promise<readonly TestFailure[]> {
  const before = live.log.length;
  const held: string[] = [];
  let error: string | undefined;
  const say = turn.at("say").text();
  const isStart = isFirst || say === undefined;
  try {
    const events = turn.at("retry").value === true ? live.retry() : isStart ? live.start(say) : live.say(say);
    for await (const event of events) {
      if (event.type === "hold") held.push(event.step);
      if (event.type === "run-end") error = event.error;
    }
  } catch (thrown) {
    error = messageOf(thrown);
  }
  const messages = live.log.slice(before).filter(({ who }) => who === "assistant")
    .map(({ text, steps: [step = ""] }) => ({ step: JSON.stringify(step), text }));
  return [
    ...saidFailures(messages, turn.at("expect"), name),
    ...endFailures({ status: live.status, error }, turn, name),
    ...holdFailures(held, turn.at("hold"), name),
  ];
}

function saidFailures(
  messages: readonly { readonly step: string; readonly text: string }[],
  expect: TestField,
  name: string,
): readonly TestFailure[] {
  if (!expect.isThere) return [];
  const wanted = expect.oneOrMore();
  const { length } = messages;
  if (wanted.length === length) {
    return messages.flatMap(({ step, text }, index) => {
      const failures = wanted[index]?.failures(text, `message ${index + 1} of ${name}, by step ${step},`) ??
        [];
      return failures.map((failure) => ({ ...failure, what: `message ${index + 1}` }));
    });
  }
  let next = 0; // a message that was said as expected stands on both sides in the same words
  const expected = wanted.map((each) => {
    const at = messages.findIndex(({ text }, index) => index >= next && each.failures(text, "").length === 0);
    if (at === -1) return each.wantedText();
    next = at + 1;
    return messages[at]?.text ?? "";
  });
  const steps = messages.map(({ step }) => step).join(", ");
  const said = length === 0
    ? "nothing"
    : length === 1
    ? `1 message (by step ${steps})`
    : `${length} messages (by steps ${steps})`;
  return expect.failure("messages", `in ${name} the agent said ${said}, expected ${wanted.length}`, {
    span: expect.keySpan,
    diff: textDiff(linesOf(expected), linesOf(messages.map(({ text }) => text))),
  });
}

function endFailures(
  { status, error }: { readonly status: string; readonly error: string | undefined },
  turn: TestField,
  name: string,
): readonly TestFailure[] {
  const why = error === undefined ? "" : `: ${error}`;
  const expected = turn.at("status");
  if (expected.isThere && expected.value !== status) {
    return expected.failure("status", `${name} ended as ${status}, expected ${expected.text()}${why}`);
  }
  const wanted = turn.at("error");
  if (wanted.isThere) {
    return wanted.failures(error, `error of ${name}`).map((failure) => ({ ...failure, what: "error" }));
  }
  if (error === undefined || expected.value === "failed") return [];
  return turn.failure("error", `${name} failed${why}`);
}

function holdFailures(held: readonly string[], hold: TestField, name: string): readonly TestFailure[] {
  const wanted = hold.oneOrMore().map((step) => step.text() ?? "");
  if (!hold.isThere || wanted.join("\n") === held.join("\n")) return [];
  const [found, expected] = [held, wanted].map((steps) =>
    steps.map((step) => JSON.stringify(step)).join(", ") || "no step"
  );
  return hold.failure("hold", `behind ${name} the conversation waits at ${found}, expected ${expected}`);
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
    if (value === null) return field.failure(what, `there is no ${what}`);
    const [a, b] = [shown(wanted), shown(value)];
    if (wanted !== null && a !== b && /\n/.test(a + b)) {
      return field.failure(what, `${what} is another one`, { diff: textDiff(a, b) });
    }
    const expected = wanted === null ? "none" : JSON.stringify(wanted);
    return field.failure(what, `${what} is ${JSON.stringify(value)}, expected ${expected}`, { span });
  });
}

function shown(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

// What a conversation that is tested works with: scripts in place of models and of the network, no environment, and the files of the
// project, to read.

/** What a conversation works with until it is disposed of. */
interface TestMeans extends AsyncDisposable {
  readonly means: ConversationMeans;
  /** What runs prompts and documents inside of it. */
  readonly containers: Containers;
}

function testMeans(
  { agent, env, collection: named }: TestConversation,
  { project, models, send }: {
    readonly project: TestProject;
    readonly models: ScriptedModels;
    readonly send: ProgramFetch;
  },
): TestMeans {
  const { settings: { root, config } } = project;
  const files = overlayFiles(hostFiles({ root }), { root, files: {} });
  const world = boundedWorld({ root, files }, () => undefined);
  const path = named ?? config.conversations.collection;
  let collection: ReturnType<typeof projectCollection> | undefined;
  return {
    means: {
      models,
      http: httpOfFetch(send),
      tools: readyTools(async () => catalogInWorld(await project.catalog(), world)),
      budget: {},
      calls: {},
      env(name) {
        if (Object.hasOwn(env, name)) return env[name] ?? "";
        throw new Error(`the test has no environment variable ${JSON.stringify(name)}: put it into env`);
      },
      ...conversationSubRuns,
      collection: path === undefined ? undefined : {
        async search(...given) {
          collection ??= projectCollection(path, { root, files: world.files, isKept: false });
          return await (await collection).search(...given);
        },
      },
    },
    containers: stepContainers(
      agentTree(agent.root),
      (step) => testedContainers({ world: { root, files }, project, model: models.of(step) }),
    ),
    async [Symbol.asyncDispose]() {
      (await collection?.catch(() => undefined))?.[Symbol.dispose]();
    },
  };
}

/** How often each step has asked its model, and each request was sent; what was asked for and is not in the test, in words. */
class Uses {
  readonly missing = new Set<string>();
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string): void {
    this.#counts.set(name, this.of(name) + 1);
  }

  /** In words. */
  times(name: string): string {
    const count = this.of(name);
    return count === 1 ? "once" : `${count} times`;
  }
}

/** The models of a conversation that is tested: each step has its own replies, each given once, in order. */
interface ScriptedModels extends ConversationModels {
  /** The model of a step, and of all that runs in it. */
  of(step: string): Model;
  /** What the models of steps were sent the last time. */
  readonly seen: ReadonlyMap<string, Pick<AskedModel, typeof SEEN[number]>>;
}

function scriptedModels(replies: RepliesByStep, uses: Uses): ScriptedModels {
  const models = new Map<string, Model>();
  const seen = new Map<string, AskedModel>();
  const of = (step: string): Model => {
    const known = models.get(step);
    if (known !== undefined) return known;
    const own = (replies.get(step) ?? []).map(({ reply }) => reply);
    const script = scriptModel(own, { id: `script/${step}`, clock: systemClock });
    const model = wrappedModel(script, (request) => {
      if (uses.of(step) === own.length) {
        const all = own.length === 1 ? "the one reply is" : `all ${own.length} replies are`;
        const left = own.length === 0 ? "" : ` left: ${all} used`;
        const text = `step ${JSON.stringify(step)} asks its model, and there is no reply${left}`;
        uses.missing.add(text);
        throw new ModelError(text, { code: "request" });
      }
      uses.add(step);
      return script.stream(request);
    });
    models.set(step, model);
    return model;
  };
  return { of, seen, find: (_name, asked) => (seen.set(asked.step, asked), of(asked.step)) };
}

/** The network of a conversation that is tested; a request without an answer fails. @param failures gets what was sent otherwise than expected */
function scriptedFetch({ answers }: TestConversation, uses: Uses, failures: TestFailure[]): ProgramFetch {
  return async (url, { method = "GET", body } = {}) => {
    const request = requestKey(method, url);
    const known = answers.get(request)?.field;
    const used = uses.of(request);
    const answer = Array.isArray(known?.value) ? known.items()[used] : known;
    if (answer === undefined) {
      const why = used === 0
        ? "the test has no answer for it"
        : `there is no answer left: all ${used} are used`;
      uses.missing.add(`${request} was asked for, and ${why}`);
      throw new TypeError(`the test has no answer for ${request}`);
    }
    uses.add(request);
    const error = answer.at("error").text();
    if (error !== undefined) throw new TypeError(error);
    failures.push(...answer.at("sent").failures(typeof body === "string" ? body : "", `body of ${request}`));
    return await Promise.resolve(responseOf(answer));
  };
}

function responseOf(answer: TestField): Response {
  const { value: body = "" } = answer.at("body");
  const events = answer.at("events");
  const [type, text] = events.isThere
    ? ["text/event-stream", events.items().map(({ value }) => eventOf(value)).join("")]
    : typeof body === "string"
    ? ["text/plain", body]
    : ["application/json", JSON.stringify(body)];
  return new Response(text === "" ? null : text, {
    status: answer.at("status").number() ?? 200,
    headers: { "content-type": answer.at("type").text() ?? type, ...answer.at("headers").texts() },
  });
}

/** A server-sent event: its data, as text or as JSON. */
function eventOf(value: Json | undefined): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.split("\n").map((line) => `data: ${line}\n`).join("") + "\n";
}

/** The replies and answers that nobody has asked for. */
function leftOver({ replies, answers }: TestConversation, uses: Uses): readonly TestFailure[] {
  const ofModels = [...replies].flatMap(([step, own]) => {
    const used = uses.of(step);
    const count = own.length - used;
    const asked = used === 0 ? "no model" : uses.times(step);
    const left = count === 1 ? "1 reply is" : `${count} replies are`;
    return own[used]?.field
      .failure(`model ${step}`, `step ${JSON.stringify(step)} has asked ${asked}: ${left} left over`) ?? [];
  });
  const ofServers = [...answers].flatMap(([request, { field, isShared }]) => {
    const used = uses.of(request);
    const count = Array.isArray(field.value) ? field.value.length - used : used === 0 ? 1 : 0;
    if (isShared || count === 0) return [];
    const left = count === 1 ? "1 answer is" : `${count} answers are`;
    const how = used === 0 ? "not asked for" : `asked for ${uses.times(request)}, ${left} left over`;
    return field.failure(request, `${request} was ${how}`, { span: field.keySpan });
  });
  return [...ofModels, ...ofServers];
}

/** Prompts and documents that run inside of a conversation, each with what is made for the step in which it runs. */
function stepContainers(
  tree: AgentTree,
  containersOf: (step: string) => TestedContainers,
): Containers {
  const made = new Map<string, TestedContainers>();
  const find = (call: ContainerCall): TestedContainers => {
    const step = stepOf(call, tree);
    let containers = made.get(step);
    if (containers === undefined) made.set(step, containers = containersOf(step));
    return containers;
  };
  return {
    prompt: (call) => find(call).prompt(call),
    document: (call) => find(call).document(call),
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
