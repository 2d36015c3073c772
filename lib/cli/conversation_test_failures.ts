// How a turn went, against what the test says of it.

import { textDiff } from "../render/text_diff.ts";
import type { HeardTurn, SaidMessage } from "./conversation_test_hear.ts";
import { linesOf, wantedText } from "./conversation_test_shown.ts";
import type { TestTurn } from "./conversation_test_turn.ts";
import type { TestFailure } from "./file_test.ts";
import type { TextWanted } from "./test_field.ts";
import { textFailure } from "./text_wanted.ts";

interface Named {
  readonly turn: TestTurn;
  /** `turn 2` */
  readonly name: string;
}

/** What is not as expected with how a turn went. */
export function turnFailures(heard: HeardTurn, named: Named): readonly TestFailure[] {
  const end = endFailure(heard, named);
  return [
    ...messageFailures(heard, named),
    ...(end === undefined ? [] : [end]),
    ...holdFailures(heard, named),
  ];
}

function messageFailures(
  { messages }: HeardTurn,
  { turn: { messages: expected }, name }: Named,
): readonly TestFailure[] {
  if (expected === undefined) return [];
  const { wanted, span } = expected;
  if (wanted.length !== messages.length) {
    return [{
      what: `${name}: messages`,
      span,
      message: `in ${name} the agent said ${countText(messages)}, expected ${wanted.length}`,
      diff: messagesDiff(messages, wanted),
    }];
  }
  return messages.flatMap(({ step, text }, index) => {
    const each = wanted[index];
    const what = `message ${index + 1} of ${name}, by step ${JSON.stringify(step)},`;
    const failure = each && textFailure(text, { what, wanted: each });
    return failure === undefined ? [] : [{ ...failure, what: `${name}: message ${index + 1}` }];
  });
}

function countText(messages: readonly SaidMessage[]): string {
  if (messages.length === 0) return "nothing";
  const steps = messages.map(({ step }) => JSON.stringify(step)).join(", ");
  return messages.length === 1
    ? `1 message (by step ${steps})`
    : `${messages.length} messages (by steps ${steps})`;
}

/** A message that was said as expected stands on both sides in the same words. */
function messagesDiff(messages: readonly SaidMessage[], wanted: readonly TextWanted[]): string {
  let next = 0;
  const expected = wanted.map((each) => {
    const at = messages.findIndex(({ text }, index) => index >= next && isAs(text, each));
    if (at === -1) return wantedText(each);
    next = at + 1;
    return messages[at]?.text ?? "";
  });
  return textDiff(linesOf(expected), linesOf(messages.map(({ text }) => text)));
}

function isAs(text: string, wanted: TextWanted): boolean {
  return textFailure(text, { what: "", wanted }) === undefined;
}

function endFailure(
  { status, error }: HeardTurn,
  { turn: { status: expected, error: wanted, span }, name }: Named,
): TestFailure | undefined {
  const why = error === undefined ? "" : `: ${error}`;
  if (expected !== undefined && expected.wanted !== status) {
    const message = `${name} ended as ${status}, expected ${expected.wanted}${why}`;
    return { what: `${name}: status`, span: expected.span, message };
  }
  if (wanted !== undefined) {
    const failure = textFailure(error, { what: `error of ${name}`, wanted });
    return failure && { ...failure, what: `${name}: error` };
  }
  if (error === undefined || expected?.wanted === "failed") return undefined;
  return { what: `${name}: error`, span, message: `${name} failed${why}` };
}

function holdFailures({ held }: HeardTurn, { turn: { hold }, name }: Named): readonly TestFailure[] {
  if (hold === undefined || hold.steps.join("\n") === held.join("\n")) return [];
  const message = `behind ${name} the conversation waits at ${stepsText(held)}, expected ${
    stepsText(hold.steps)
  }`;
  return [{ what: `${name}: hold`, span: hold.span, message }];
}

function stepsText(steps: readonly string[]): string {
  return steps.length === 0 ? "no step" : steps.map((step) => JSON.stringify(step)).join(", ");
}
