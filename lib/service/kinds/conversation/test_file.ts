// `*.conversation-test.yml`: what a person says, what models and servers answer, and what the agent is to say. A test is one conversation,
// or several that share the slots which outlive a conversation. What is around one, a file, a test and a conversation may each say: the
// nearest counts.
import { dirname, join, resolve } from "node:path";
import { extractionNames } from "../../../conversation/extraction.ts";
import type { ConversationScope } from "../../../conversation/slots.ts";
import {
  didYouMean,
  FileError,
  isRecord,
  type Json,
  type JsonObject,
  messageOf,
  SourceError,
} from "../../../core/core.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { readReply, type ScriptReply } from "../../../parse/files/script.ts";
import type { AgentFile, AgentStep } from "../../../parse/agent/agent.ts";
import { readAgentFile } from "../../../parse/agent/read.ts";
import { type AgentTree, agentTree } from "../../../parse/agent/tree.ts";
import { contextFile } from "../../input/context_file.ts";
import { TestField, type TestSource } from "../../test/field.ts";
import { fileOf, list, mapping, name, ref, reply, said, text, texts, wanted } from "../../test/schema.ts";

/** A test that was read. */
export interface ConversationTest {
  readonly field: TestField;
  /** One after the other, in one store. */
  readonly conversations: readonly TestConversation[];
}

/** A conversation of a test, with all that it meets. */
export interface TestConversation {
  /** Its turns, and what is to be seen behind the last one. */
  readonly field: TestField;
  readonly agent: AgentFile;
  readonly scope: ConversationScope;
  /** What preloaded slots come from. */
  readonly context: Json;
  /** A `*.collection.yml`, absolute. Default: that of the project. */
  readonly collection?: string;
  /** In place of the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** By request: `GET https://shop.example/orders`. */
  readonly answers: ReadonlyMap<string, RequestAnswers>;
  /** Steps that are made without waiting for the person. */
  readonly maxSteps?: number;
  readonly replies: RepliesByStep;
}

/** One answer counts for every such request, a list gives each once. */
export interface RequestAnswers {
  readonly field: TestField;
  /** It is that of several conversations: none has to ask for it. */
  readonly isShared: boolean;
}

/** Reads all tests of a file. @throws {ProblemsError} with everything that is wrong with it and its agents, by file, line and column */
export async function readConversationTests(source: TestSource): Promise<readonly ConversationTest[]> {
  const file = await TestField.read(source, schema());
  const problems: SourceError[] = [];
  const findAgent = agentsOf(source, problems);
  const tests: ConversationTest[] = [];
  for (const field of file.at("tests").items()) {
    const several = field.at("conversations");
    const scopes = several.isThere ? several.items().map((each) => [each, field, file]) : [[field, file]];
    const conversations: TestConversation[] = [];
    for (const scope of scopes) {
      const conversation = await conversationOf(scope, { findAgent, folder: dirname(source.path) });
      if (conversation !== undefined) conversations.push(conversation);
    }
    tests.push({ field, conversations });
  }
  file.throwProblems(problems);
  return tests;
}

/** Undefined without an agent: that is told. @param scopes what says how it is, the nearest first: the conversation itself */
async function conversationOf(
  scopes: readonly TestField[],
  { findAgent, folder }: { readonly findAgent: FindAgent; readonly folder: string },
): Promise<TestConversation | undefined> {
  const [field] = scopes;
  if (field === undefined) return undefined;
  const nearest = (key: string): TestField | undefined =>
    scopes.map((each) => each.at(key)).find(({ isThere }) => isThere);
  const outerFirst = (key: string): readonly TestField[] => scopes.map((each) => each.at(key)).toReversed();
  const named = nearest("agent");
  if (named === undefined) field.problem("Expected an agent: the *.agent.yml that is tested");
  const agent = named && await findAgent(named);
  const tree = agent && agentTree(agent.root);
  checkTurns(field.at("turns").items(), tree);
  checkSeen(field, tree);
  const replies = readReplies(field.at("model"), tree);
  const given = nearest("context");
  const context = given === undefined ? {} : await readContext(given, folder);
  const answers = new Map(
    outerFirst("http").flatMap((http, index) =>
      http.entries().flatMap(([key, each]) => {
        const request = requestOf(key, each);
        return request === undefined ? [] : [[request, { field: each, isShared: index < scopes.length - 1 }]];
      })
    ),
  );
  const collection = nearest("collection")?.text();
  return agent && {
    field,
    agent,
    scope: {
      user: nearest("user")?.text() ?? "local",
      module: nearest("module")?.text() ?? "default",
      session: nearest("session")?.text() ?? agent.id,
    },
    context,
    collection: collection && resolve(folder, collection),
    env: Object.assign({}, ...outerFirst("env").map((env) => env.texts())),
    answers,
    maxSteps: nearest("steps")?.number(),
    replies,
  };
}

/** Undefined for what is no URL: that is told. */
function requestOf(key: string, field: TestField): string | undefined {
  const [method = "", url = ""] = key.trim().split(/\s+/);
  for (const answer of field.oneOrMore()) {
    const given = ["body", "events", "error"].filter((name) => answer.at(name).isThere);
    if (given.length > 1) answer.problem(`Expected one of body, events, error, found ${given.join(" and ")}`);
  }
  if (URL.canParse(url)) return requestKey(method, url);
  field.problem("Expected a method and a URL, such as GET https://shop.example/orders", "key");
  return undefined;
}

/** A request as answers are found by it; a URL is one however it is written. */
export function requestKey(method: string, url: string): string {
  return `${method.toUpperCase()} ${new URL(url).href}`;
}

/** @param tree absent: of an agent that cannot be read */
function checkTurns(turns: readonly TestField[], tree: AgentTree | undefined): void {
  for (const [index, turn] of turns.entries()) {
    const isSaid = turn.at("say").isThere;
    const retry = turn.at("retry");
    const isRetry = retry.value === true;
    if (isSaid && isRetry) retry.problem("Expected say or retry, found both", "key");
    if (index === 0 && isRetry) retry.problem("There is nothing to try again yet", "key");
    if (index > 0 && !isSaid && !isRetry) {
      turn.problem("Expected say: what the person says. Only the first turn may begin without it");
    }
    for (const step of turn.at("hold").oneOrMore()) checkStep(step.text() ?? "", step, tree);
    checkSeen(turn, tree);
  }
}

function checkSeen(field: TestField, tree: AgentTree | undefined): void {
  for (const key of Object.keys(saw)) {
    for (const [step, list] of field.at(key).entries()) checkStep(step, list, tree, "key");
  }
}

function checkStep(step: string, field: TestField, tree: AgentTree | undefined, what?: "key"): void {
  if (tree === undefined || tree.find(step) !== undefined) return;
  field.problem(`The agent has no step ${JSON.stringify(step)}.${didYouMean(step, tree.ids)}`, what);
}

/** A mapping, or a text, which names a file as `--context` does. @param folder that it is relative to */
async function readContext(field: TestField, folder: string): Promise<Json> {
  const name = field.text();
  if (name === undefined) return field.value ?? {};
  try {
    return await contextFile(name, { cwd: folder });
  } catch (error) {
    const isFile = error instanceof FileError && error.cause instanceof FileError;
    field.problem(messageOf(isFile ? error.cause : error)); // that one names no flag
    return {};
  }
}

type FindAgent = (field: TestField) => Promise<AgentFile | undefined>;

/**
 * The agents that a file of tests names relative to its folder, each read once; undefined for one that cannot be used.
 *
 * @param problems gets what is wrong with them, in their own files
 */
function agentsOf({ path, file }: TestSource, problems: SourceError[]): FindAgent {
  const agents = new Map<string, ReturnType<FindAgent>>();
  const read = async (name: string, field: TestField): ReturnType<FindAgent> => {
    try {
      const source = await hostFiles({ root: dirname(path) }).readText(name);
      const { agent, problems: found } = await readAgentFile(source, { file: join(dirname(file), name) });
      for (const { severity, file, line, column, path, message, code, hint } of found) {
        if (severity !== "error") continue;
        const span = { file, line, column };
        problems.push(new SourceError(`${path}: ${message}`, { span, source, code, hint }));
      }
      return agent;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      field.problem(error.message);
      return undefined;
    }
  };
  return async (field) => {
    const name = field.text();
    if (name === undefined) return undefined;
    const agent = agents.get(name) ?? read(name, field);
    agents.set(name, agent);
    return await agent;
  };
}

// What models say in a test: for each step its replies, in order. Text is what is said; a mapping is the answer of a step that asks for a
// form, or a reply in the words of script files where all its keys are of those: {error: {status: 500}}.

/** The replies to the questions of each step. */
export type RepliesByStep = ReadonlyMap<
  string,
  readonly { readonly reply: ScriptReply; readonly field: TestField }[]
>;

const LONG_KEYS = Object.keys(reply);

/** Reads `model`. @param tree absent: of an agent that cannot be read */
function readReplies(field: TestField, tree: AgentTree | undefined): RepliesByStep {
  return new Map(
    field.entries().map(([id, list]) => {
      const step = askingStep(id, list, tree);
      return [id, list.items().map((field) => ({ reply: replyOf(field, step), field }))];
    }),
  );
}

function askingStep(id: string, list: TestField, tree: AgentTree | undefined): AgentStep | undefined {
  const step = tree?.find(id);
  if (tree === undefined || isAsking(step)) return step;
  const problem = step === undefined
    ? `The agent has no step ${JSON.stringify(id)}.`
    : `Step ${JSON.stringify(id)} asks no model: it is of the kind ${step.kind}.`;
  const hint = didYouMean(id, tree.ids.filter((each) => isAsking(tree.find(each))));
  list.problem(`${problem}${hint}`, "key");
  return undefined;
}

/** Prompts and documents run in steps of the kinds gadget and run. */
const ASKING = ["llm", "validator", "extractor", "summarizer", "gadget", "run"];

function isAsking(step: AgentStep | undefined): boolean {
  return step !== undefined && ASKING.includes(step.kind);
}

function replyOf(field: TestField, step: AgentStep | undefined): ScriptReply {
  const { value = null } = field;
  if (typeof value === "string") return readReply({ text: value }, () => {});
  const keys = isRecord(value) ? Object.keys(value) : [];
  const isLong = keys.length > 0 && keys.every((key) => LONG_KEYS.includes(key));
  if (isLong && step !== undefined) refuseAmbiguous(field, step);
  if (!isLong && (step === undefined || hasForm(step))) return readReply({ object: value }, () => {});
  if (!isLong && keys.length > 0) {
    for (const key of keys.filter((each) => !LONG_KEYS.includes(each))) {
      const hint = didYouMean(key, LONG_KEYS) || ` The keys here are ${LONG_KEYS.join(", ")}.`;
      field.at(key).problem(`Unknown key ${JSON.stringify(key)}.${hint}`, "key");
    }
    return readReply({ text: "" }, () => {});
  }
  const reply = field.reply();
  const { error } = reply;
  return error === undefined ? reply : { ...reply, error: { retryAfterMs: 0, ...error } }; // a test does not wait
}

/** Whether an answer may be something else than text; what runs in a step may ask for a form of its own. */
function hasForm(step: AgentStep): boolean {
  if (step.kind === "llm") return step.schema !== undefined || step.prompt !== undefined;
  return step.kind !== "summarizer";
}

/** What could be an answer as well. */
function refuseAmbiguous(field: TestField, step: AgentStep): void {
  const names = step.kind === "extractor"
    ? extractionNames(step.values)
    : step.kind === "validator"
    ? step.goals.map(({ name }) => name)
    : [];
  const name = names.find((each) => each !== "object" && field.at(each).isThere);
  if (name === undefined) return;
  field.problem(
    `${JSON.stringify(name)} is a value of step ${
      JSON.stringify(step.id)
    } too: put the answer into object, as in { object: { ${name}: … } }`,
  );
}

const anyMapping = { type: "object" };
const slots = {
  type: "object",
  description: "By destination.name; without a destination, of the conversation.",
};
const saw = {
  "saw-prompts": said(ref("seen"), "The prompts that a step's model was sent last, by step."),
  "saw-memory": said(ref("seen"), "What of the conversation a step's model was sent last, by step."),
};

/** What a file, a test and a conversation may each say; the nearest counts. */
const settings = {
  agent: said(text, "The *.agent.yml that is tested, relative to this file."),
  user: said(text, "Whose slots it has, as --user. Default: local."),
  module: said(text, "As --module. Default: default."),
  session: said(text, "As --session. Default: the id of the agent."),
  context: {
    description: "What preloaded slots come from, or a file with it, as --context.",
    anyOf: [
      text,
      mapping({
        user: anyMapping,
        module: anyMapping,
        session: anyMapping,
        "user-config": anyMapping,
        "user-context-log": anyMapping,
      }),
    ],
  },
  collection: said(text, "A *.collection.yml for retrievers. Default: that of the project."),
  env: said(texts, "What ${env.NAME} stands for. The environment is not read."),
  http: {
    type: "object",
    description: "What servers answer, by METHOD URL: one answer for every request, or a list, each once.",
    propertyNames: { pattern: "^(GET|POST|PUT|DELETE) \\S+$" },
    additionalProperties: { anyOf: [ref("answer"), list(ref("answer"))] },
  },
  steps: {
    type: "integer",
    minimum: 1,
    description: "How many steps may run without a hold. Default: 250.",
  },
};

const conversation = {
  "slots-before": said(slots, `Set before the first step. ${slots.description}`),
  model: {
    type: "object",
    description: "What models say: for each step its replies, in order, each once.",
    additionalProperties: list(ref("reply")),
  },
  turns: { ...list(ref("turn"), "What is said, and what is to come of it."), minItems: 1 },
  "slots-after": said(slots, `Behind the last turn. ${slots.description}`),
  ...saw,
};

/** The JSON Schema of `*.conversation-test.yml`. */
export function schema(): JsonObject {
  const conversations = {
    ...list(
      ref("conversation"),
      "Several, one after the other: what outlives a conversation is there in the next.",
    ),
    minItems: 1,
  };
  return fileOf("Tests of conversations", settings, {
    test: {
      ...mapping({ name, ...settings, ...conversation, conversations }, ["name"]),
      if: { required: ["conversations"] },
      then: { properties: Object.fromEntries(Object.keys(conversation).map((key) => [key, false])) },
      else: { required: ["turns"] },
    },
    conversation: mapping({ ...settings, ...conversation }, ["turns"]),
    turn: mapping({
      say: said(text, "What the person says. Without it the first turn begins the conversation."),
      retry: said({ type: "boolean" }, "Tries the step that failed again."),
      expect: { description: "What the agent says: all of it, in order.", anyOf: [list(wanted), wanted] },
      status: {
        enum: ["held", "completed", "failed"],
        description: "Whether it waits for the person, has come to its end, or a step failed.",
      },
      error: said(wanted, "Why it fails, or why the message is not taken."),
      hold: { description: "The step, or the steps, at which it waits.", anyOf: [text, list(text)] },
      slots: said(
        slots,
        `Behind the turn: values, null for none, or how a text is to be (contains, matches). ${slots.description}`,
      ),
      ...saw,
    }),
    reply: {
      description: "Text; the answer of a step that asks for a form; or one of the mappings of script/FILE.",
      anyOf: [text, mapping(reply), { type: ["object", "array", "number", "boolean"] }],
    },
    answer: mapping({
      status: said({ type: "integer", minimum: 200, maximum: 599 }, "Default 200."),
      type: said(text, "Content-Type. Default: by what is answered."),
      headers: said(texts, "Headers of the answer."),
      body: { description: "Text, or what is sent as JSON." },
      events: list({}, "Server-sent events: the data of each, as text or as JSON."),
      error: said(text, "There is no answer: why the connection failed. It is tried once more."),
      sent: said(wanted, "The body of the request."),
    }),
    seen: {
      type: "object",
      description: "What the model of a step was sent last: a list of ROLE: TEXT.",
      additionalProperties: list(mapping({ system: wanted, user: wanted, assistant: wanted })),
    },
  });
}
