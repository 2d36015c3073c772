import type { Journal } from "../core/journal.ts";
import { memoryJournal } from "../journal/memory_journal.ts";
import { newRunId } from "../journal/new_run.ts";
import { LiveConversation } from "../run/live_conversation.ts";
import { turnFailures } from "./conversation_test_failures.ts";
import type { ConversationTest, TestConversation } from "./conversation_test_file.ts";
import { hearTurn } from "./conversation_test_hear.ts";
import { testMeans } from "./conversation_test_means.ts";
import type { TestMeans } from "./conversation_test_means.ts";
import { TestModels } from "./conversation_test_models.ts";
import { seenFailures } from "./conversation_test_seen.ts";
import { TestServer } from "./conversation_test_server.ts";
import type { TestTurn } from "./conversation_test_turn.ts";
import type { TestFailure } from "./file_test.ts";
import type { TestProject } from "./test_projects.ts";

/** Runs the conversations of a test in a store of their own, up to the first turn that is not as expected. */
export async function runConversationTest(
  { conversations }: ConversationTest,
  project: TestProject,
): Promise<readonly TestFailure[]> {
  const store = memoryJournal();
  for (const [index, conversation] of conversations.entries()) {
    const before = conversations.length === 1 ? "" : `conversation ${index + 1}, `;
    const failures = await conversationFailures(conversation, { project, store, before });
    if (failures.length > 0) return failures;
  }
  return [];
}

interface Place {
  readonly project: TestProject;
  readonly store: Journal;
  /** In front of the names of its turns. */
  readonly before: string;
}

async function conversationFailures(
  conversation: TestConversation,
  { project, store, before }: Place,
): Promise<readonly TestFailure[]> {
  const { turns, after } = conversation;
  const scripts = {
    models: new TestModels(conversation.replies),
    server: new TestServer(conversation.requests),
  };
  await using means = testMeans(conversation, { project, ...scripts });
  const live = begin(conversation, { project, store, means });
  for (const [index, turn] of turns.entries()) {
    const name = `${before}turn ${index + 1}`;
    const expected = index === turns.length - 1 ? [turn, after] : [turn];
    const failures = await failuresOfTurn(turn, { ...scripts, live, name, expected, isFirst: index === 0 });
    if (failures.length > 0) return failures;
  }
  return [...scripts.models.left(), ...scripts.server.left()];
}

function begin(
  { agent, scope, context, slotsBefore, maxSteps }: TestConversation,
  { project: { signal, secrets }, store, means: { means, containers } }: {
    readonly project: TestProject;
    readonly store: Journal;
    readonly means: TestMeans;
  },
): LiveConversation {
  return LiveConversation.begin(newRunId(Date.now()), {
    agent,
    scope,
    context,
    given: slotsBefore,
    journal: store,
    means,
    containers: () => Promise.resolve(containers),
    signal,
    secrets,
    maxSteps,
  });
}

async function failuresOfTurn(
  turn: TestTurn,
  { live, models, server, name, expected, isFirst }: {
    readonly live: LiveConversation;
    readonly models: TestModels;
    readonly server: TestServer;
    readonly name: string;
    readonly expected: Parameters<typeof seenFailures>[1]["expected"];
    readonly isFirst: boolean;
  },
): Promise<readonly TestFailure[]> {
  const heard = await hearTurn(live, turn, { isFirst });
  const missing = [...models.missing, ...server.missing];
  if (missing.length > 0) { // all else follows from it
    return missing.map((text) => ({
      what: `${name}: script`,
      span: turn.span,
      message: `in ${name} ${text}`,
    }));
  }
  const seen = { slots: live.slots(), question: (step: string) => models.seen(step) };
  return [
    ...server.failures,
    ...turnFailures(heard, { turn, name }),
    ...seenFailures(seen, { expected, name }),
  ];
}
