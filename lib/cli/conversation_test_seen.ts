// What is to be seen of a conversation, against what is.

import { canonicalJson } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { textOf } from "../core/message.ts";
import type { Message } from "../core/message.ts";
import { textDiff } from "../render/text_diff.ts";
import type { Expectation, WantedMessages, WantedSlot } from "./conversation_test_expectation.ts";
import type { SeenQuestion } from "./conversation_test_models.ts";
import { linesOf, wantedText } from "./conversation_test_shown.ts";
import type { TestFailure } from "./file_test.ts";
import { textFailure } from "./text_wanted.ts";

/** What is seen of a conversation behind a turn. */
export interface SeenConversation {
  /** By `destination.name`. */
  readonly slots: Readonly<Record<string, Json>>;
  /** What the model of a step was asked last. */
  question(step: string): SeenQuestion | undefined;
}

/** What is not as expected. @param name of the turn: `turn 2` */
export function seenFailures(
  { slots, question }: SeenConversation,
  { expected, name }: { readonly expected: readonly Expectation[]; readonly name: string },
): readonly TestFailure[] {
  const failures = expected.flatMap(({ slots: wanted, prompts, memory }) => [
    ...wanted.map((slot) => slotFailure(slots[slot.key], slot)),
    ...prompts.flatMap((each) => messagesFailures(question(each.step)?.prompts, each, "prompts")),
    ...memory.flatMap((each) => messagesFailures(question(each.step)?.memory, each, "memory")),
  ]);
  return failures.flatMap((failure) =>
    failure === undefined
      ? []
      : [{ ...failure, what: `${name}: ${failure.what}`, message: `behind ${name} ${failure.message}` }]
  );
}

function slotFailure(found: Json | undefined, { key, span, wanted }: WantedSlot): TestFailure | undefined {
  const what = `slot ${key}`;
  if ("test" in wanted) return textFailure(found === undefined ? undefined : shown(found), { what, wanted });
  const { value } = wanted;
  if (canonicalJson(found ?? null) === canonicalJson(value)) return undefined;
  const isNone = found === undefined || found === null;
  if (isNone || value === null) {
    const message = isNone ? `there is no ${what}` : `${what} is ${JSON.stringify(found)}, expected none`;
    return { what, span, message };
  }
  const [a, b] = [shown(value), shown(found)];
  if (a === b || !/\n/.test(a + b)) {
    return { what, span, message: `${what} is ${JSON.stringify(found)}, expected ${JSON.stringify(value)}` };
  }
  return { what, span, message: `${what} is another one`, diff: textDiff(a, b) };
}

function shown(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function messagesFailures(
  found: readonly Message[] | undefined,
  { step, span, messages }: WantedMessages,
  kind: "prompts" | "memory",
): readonly (TestFailure | undefined)[] {
  const what = `${kind} of step ${JSON.stringify(step)}`;
  if (found === undefined) {
    return [{ what, span, message: `step ${JSON.stringify(step)} has asked no model yet` }];
  }
  const [roles, wantedRoles] = [rolesOf(found), rolesOf(messages)];
  if (roles !== wantedRoles) {
    return [{
      what,
      span,
      message: `in the ${what} the messages are ${roles}, expected ${wantedRoles}`,
      diff: textDiff(
        linesOf(messages.map(({ role, wanted }) => `${role}: ${wantedText(wanted)}`)),
        linesOf(found.map((message) => `${message.role}: ${textOf(message)}`)),
      ),
    }];
  }
  return messages.map(({ role, wanted }, index) => {
    const message = found[index];
    const text = message === undefined ? undefined : textOf(message);
    return textFailure(text, { what: `${role} message ${index + 1} of the ${what}`, wanted });
  });
}

function rolesOf(messages: readonly { readonly role: string }[]): string {
  return messages.length === 0 ? "none" : messages.map(({ role }) => role).join(", ");
}
