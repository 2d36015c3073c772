// `*.conversation-test.yml`: what a person says, what models and servers answer, and what the agent is to say. A test is one conversation,
// or several that share the slots which outlive a conversation.

import type { ConversationScope } from "../conversation/slots.ts";
import type { JsonObject } from "../core/json.ts";
import { dirname } from "../core/path.ts";
import type { Span } from "../core/source_error.ts";
import type { AgentFile } from "../parse/agent_file.ts";
import { agentTree } from "../parse/agent_tree.ts";
import { TestAgents } from "./conversation_test_agents.ts";
import { readSeen, readSlots } from "./conversation_test_expectation.ts";
import type { Expectation } from "./conversation_test_expectation.ts";
import { TestField } from "./test_field.ts";
import { readReplies } from "./conversation_test_replies.ts";
import type { RepliesByStep } from "./conversation_test_replies.ts";
import { NO_SETTINGS, readSettings, SETTING_KEYS } from "./conversation_test_settings.ts";
import type { ConversationSettings } from "./conversation_test_settings.ts";
import { readTurn } from "./conversation_test_turn.ts";
import type { TestTurn } from "./conversation_test_turn.ts";
import type { TestSource } from "./file_test.ts";

/** A test that was read. */
export interface ConversationTest {
  readonly name: string;
  readonly span: Span;
  /** One after the other, in one store. */
  readonly conversations: readonly TestConversation[];
}

/** A conversation of a test, with all that it meets. */
export interface TestConversation
  extends Omit<ConversationSettings, "agent" | "user" | "module" | "session"> {
  readonly agent: AgentFile;
  readonly scope: ConversationScope;
  /** By `destination.name`. */
  readonly slotsBefore: JsonObject;
  readonly replies: RepliesByStep;
  readonly turns: readonly TestTurn[];
  /** Behind the last turn. */
  readonly after: Expectation;
}

const OWN_KEYS = ["slots-before", "model", "turns", "slots-after", "saw-prompts", "saw-memory"];
const CONVERSATION_KEYS = [...SETTING_KEYS, ...OWN_KEYS];

/** Reads all tests of a file. @throws {ProblemsError} with everything that is wrong with it and its agents, by file, line and column */
export async function readConversationTests(source: TestSource): Promise<readonly ConversationTest[]> {
  const agents = new TestAgents(source);
  const file = (await TestField.read(source)).withKeys([...SETTING_KEYS, "tests"]);
  const list = file.at("tests").items();
  if (list.length === 0) file.at("tests").problem("Expected tests: a list of tests with name and turns");
  const folder = dirname(source.path);
  const around = await readSettings(file, { around: NO_SETTINGS, folder });
  const reading = { agents, folder, around };
  const tests = await inOrder(list, (each) => testOf(each, reading));
  file.throwProblems(agents.problems);
  return tests;
}

interface Reading {
  readonly agents: TestAgents;
  /** Of the file: absolute. */
  readonly folder: string;
  readonly around: ConversationSettings;
}

async function testOf(field: TestField, reading: Reading): Promise<ConversationTest> {
  const several = field.at("conversations");
  const test = field.withKeys(
    several.isThere ? ["name", ...SETTING_KEYS, "conversations"] : ["name", ...CONVERSATION_KEYS],
  );
  const name = test.at("name").text();
  if (name === undefined) test.problem("Expected a name: what the test shows, in a few words");
  if (several.isThere && several.items().length === 0) several.problem("Expected one conversation or more");
  const inside = { ...reading, around: await readSettings(test, reading) };
  const conversations = several.isThere
    ? await inOrder(several.items(), async (each) => {
      const around = await readSettings(each.withKeys(CONVERSATION_KEYS), inside);
      return await conversationOf(each, { ...inside, around });
    })
    : [await conversationOf(test, inside)];
  return { name: name ?? "", span: test.span, conversations: conversations.flatMap((each) => each ?? []) };
}

/** Undefined without an agent: that is told. */
async function conversationOf(
  field: TestField,
  { agents, around: { agent: named, user = "local", module = "default", session, ...around } }: Reading,
): Promise<TestConversation | undefined> {
  if (named === undefined) field.problem("Expected an agent: the *.agent.yml that is tested");
  const agent = named && await agents.find(named);
  const tree = agent === undefined ? undefined : agentTree(agent.root);
  const turns = field.at("turns").items();
  if (turns.length === 0) field.problem("Expected turns: what is said, and what is expected");
  const read = {
    ...around,
    slotsBefore: slotsOf(field.at("slots-before")),
    replies: readReplies(field.at("model"), tree),
    turns: turns.map((each, index) => readTurn(each, { tree, isFirst: index === 0 })),
    after: {
      slots: readSlots(field.at("slots-after")),
      prompts: readSeen(field.at("saw-prompts"), tree),
      memory: readSeen(field.at("saw-memory"), tree),
    },
  };
  return agent && { ...read, agent, scope: { user, module, session: session ?? agent.id } };
}

function slotsOf(field: TestField): JsonObject {
  return Object.fromEntries(field.entries().map(([key, { value = null }]) => [key, value]));
}

/** Agents are read in the order of the file, so that their problems are told in that order. */
async function inOrder<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await read(item));
  return results;
}
