// What models say in a test: for each step its replies, in order. Text is what is said; a mapping is the answer of a step that asks for a
// form, or a reply in the words of script files where all its keys are of those: {error: {status: 500}}.

import { extractionNames } from "../conversation/extraction_names.ts";
import { isRecord } from "../core/json.ts";
import { didYouMean } from "../core/nearest.ts";
import type { Span } from "../core/source_error.ts";
import { readReply } from "../models/script_reply.ts";
import type { ScriptReply } from "../models/script_reply.ts";
import type { AgentStep } from "../parse/agent_file.ts";
import type { AgentTree } from "../parse/agent_tree.ts";
import type { TestField } from "./test_field.ts";

/** The replies to the questions of one step. */
export interface StepReplies {
  readonly span: Span;
  readonly replies: readonly { readonly reply: ScriptReply; readonly span: Span }[];
}

/** Replies by step. */
export type RepliesByStep = ReadonlyMap<string, StepReplies>;

const LONG_KEYS = ["text", "chunks", "object", "error", "calls"] as const;

/** Reads `model`. @param tree absent: of an agent that cannot be read */
export function readReplies(field: TestField, tree: AgentTree | undefined): RepliesByStep {
  return new Map(
    field.entries().map(([id, list]) => {
      const step = askingStep(id, { field: list, tree });
      const replies = list.items().map((each) => ({ reply: replyOf(each, step), span: each.span }));
      return [id, { span: list.keySpan, replies }];
    }),
  );
}

function askingStep(
  id: string,
  { field, tree }: { readonly field: TestField; readonly tree: AgentTree | undefined },
): AgentStep | undefined {
  const step = tree?.find(id);
  if (tree === undefined || (step !== undefined && isAsking(step))) return step;
  const asking = tree.ids.filter((each) => isAsking(tree.find(each)));
  const problem = step === undefined
    ? `The agent has no step ${JSON.stringify(id)}.`
    : `Step ${JSON.stringify(id)} asks no model: it is of the kind ${step.kind}.`;
  field.problem(`${problem}${didYouMean(id, asking)}`, "key");
  return undefined;
}

function isAsking(step: AgentStep | undefined): boolean {
  switch (step?.kind) {
    case "llm":
    case "validator":
    case "extractor":
    case "summarizer":
    case "gadget": // a prompt or a document that runs in it
    case "run":
      return true;
    default:
      return false;
  }
}

function replyOf(field: TestField, step: AgentStep | undefined): ScriptReply {
  const { value = null } = field;
  if (typeof value === "string") return spoken(value);
  const isLong = isRecord(value) && isLongForm(Object.keys(value));
  if (isLong && step !== undefined) refuseAmbiguous(field, step);
  if (!isLong && (step === undefined || hasForm(step))) return readReply({ object: value }, []);
  if (!isLong && isRecord(value)) {
    field.withKeys(LONG_KEYS);
    return spoken("");
  }
  const reply = field.reply(readReply);
  const { error } = reply;
  return error === undefined ? reply : { ...reply, error: { retryAfterMs: 0, ...error } }; // a test does not wait
}

function spoken(text: string): ScriptReply {
  return readReply({ text }, []);
}

function isLongForm(keys: readonly string[]): boolean {
  return keys.length > 0 && keys.every((key) => LONG_KEYS.some((long) => long === key));
}

/** Whether an answer may be something else than text; what runs in a step may ask for a form of its own. */
function hasForm(step: AgentStep): boolean {
  if (step.kind === "llm") return step.schema !== undefined || step.prompt !== undefined;
  return step.kind !== "summarizer";
}

/** What could be an answer as well. */
function refuseAmbiguous(field: TestField, step: AgentStep): void {
  const name = answerNames(step).find((each) => each !== "object" && field.at(each).isThere);
  if (name === undefined) return;
  field.problem(
    `${JSON.stringify(name)} is a value of step ${
      JSON.stringify(step.id)
    } too: put the answer into object, as in { object: { ${name}: … } }`,
  );
}

function answerNames(step: AgentStep): readonly string[] {
  if (step.kind === "extractor") return extractionNames(step.values);
  return step.kind === "validator" ? step.goals.map(({ name }) => name) : [];
}
