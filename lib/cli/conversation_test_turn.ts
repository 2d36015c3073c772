import type { Span } from "../core/source_error.ts";
import { didYouMean } from "../core/nearest.ts";
import type { AgentTree } from "../parse/agent_tree.ts";
import { readSeen, readSlots } from "./conversation_test_expectation.ts";
import type { Expectation } from "./conversation_test_expectation.ts";
import type { TestField } from "./test_field.ts";
import type { TextWanted } from "./test_field.ts";

/** A turn of a test, and what is to come of it; what is absent is not looked at. */
export interface TestTurn extends Expectation {
  readonly span: Span;
  /** Absent: the conversation begins without a message, or the step that failed is tried again. */
  readonly say?: string;
  readonly isRetry: boolean;
  /** What the agent is to say: all of it, in order. */
  readonly messages?: { readonly span: Span; readonly wanted: readonly TextWanted[] };
  readonly status?: { readonly wanted: EndStatus; readonly span: Span };
  /** Why it fails, or is not taken. */
  readonly error?: TextWanted;
  /** The steps at which it waits. */
  readonly hold?: { readonly steps: readonly string[]; readonly span: Span };
}

/** How a turn can end. */
export type EndStatus = (typeof STATUSES)[number];

const STATUSES = ["held", "completed", "failed"] as const;
const TURN_KEYS = [
  "say",
  "retry",
  "expect",
  "status",
  "error",
  "hold",
  "slots",
  "saw-prompts",
  "saw-memory",
];

/** Reads a turn. @param options `tree` absent: of an agent that cannot be read */
export function readTurn(
  field: TestField,
  { tree, isFirst }: { readonly tree: AgentTree | undefined; readonly isFirst: boolean },
): TestTurn {
  const turn = field.withKeys(TURN_KEYS);
  const say = turn.at("say").text();
  const isRetry = turn.at("retry").isTrue();
  refuseBegin(turn, { isFirst, isRetry });
  const status = turn.at("status").choice(STATUSES);
  const error = turn.at("error").wanted();
  const messages = turn.at("expect");
  const hold = turn.at("hold");
  return {
    span: turn.span,
    isRetry,
    slots: readSlots(turn.at("slots")),
    prompts: readSeen(turn.at("saw-prompts"), tree),
    memory: readSeen(turn.at("saw-memory"), tree),
    say,
    status: status && { wanted: status, span: turn.at("status").span },
    error,
    ...(messages.isThere && {
      messages: {
        span: messages.keySpan,
        wanted: messages.oneOrMore().flatMap((each) => each.wanted() ?? []),
      },
    }),
    ...(hold.isThere && {
      hold: { span: hold.span, steps: hold.oneOrMore().map((each) => stepOf(each, tree)) },
    }),
  };
}

function refuseBegin(
  turn: TestField,
  { isFirst, isRetry }: { readonly isFirst: boolean; readonly isRetry: boolean },
): void {
  const isSaid = turn.at("say").isThere;
  if (isSaid && isRetry) turn.at("retry").problem("Expected say or retry, found both", "key");
  if (isFirst && isRetry) turn.at("retry").problem("There is nothing to try again yet", "key");
  if (isFirst || isSaid || isRetry) return;
  turn.problem("Expected say: what the person says. Only the first turn may begin without it");
}

function stepOf(field: TestField, tree: AgentTree | undefined): string {
  const id = field.text() ?? "";
  if (field.isThere && tree !== undefined && tree.find(id) === undefined) {
    field.problem(`The agent has no step ${JSON.stringify(id)}.${didYouMean(id, tree.ids)}`);
  }
  return id;
}
