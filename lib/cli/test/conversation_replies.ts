// What models say in a test: for each step its replies, in order. Text is what is said; a mapping is the answer of a step that asks for a
// form, or a reply in the words of script files where all its keys are of those: {error: {status: 500}}.
import { extractionNames } from "../../conversation/extraction_names.ts";
import { isRecord } from "../../core/json.ts";
import { didYouMean } from "../../core/nearest.ts";
import type { Span } from "../../core/source_error.ts";
import { readReply, type ScriptReply } from "../../models/script/reply.ts";
import type { AgentStep } from "../../parse/agent/agent.ts";
import type { AgentTree } from "../../parse/agent/tree.ts";
import type { TestField } from "./field.ts";

/** The replies to the questions of each step. */
export type RepliesByStep = ReadonlyMap<
  string,
  readonly { readonly reply: ScriptReply; readonly span: Span }[]
>;

const LONG_KEYS: readonly string[] = ["text", "chunks", "object", "error", "calls"];

/** Reads `model`. @param tree absent: of an agent that cannot be read */
export function readReplies(field: TestField, tree: AgentTree | undefined): RepliesByStep {
  return new Map(
    field.entries().map(([id, list]) => {
      const step = askingStep(id, { field: list, tree });
      return [id, list.items().map((each) => ({ reply: replyOf(each, step), span: each.span }))];
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

/** Prompts and documents run in steps of the kinds gadget and run. */
const ASKING = ["llm", "validator", "extractor", "summarizer", "gadget", "run"];

function isAsking(step: AgentStep | undefined): boolean {
  return step !== undefined && ASKING.includes(step.kind);
}

function replyOf(field: TestField, step: AgentStep | undefined): ScriptReply {
  const { value = null } = field;
  if (typeof value === "string") return readReply({ text: value }, []);
  const keys = isRecord(value) ? Object.keys(value) : [];
  const isLong = keys.length > 0 && keys.every((key) => LONG_KEYS.includes(key));
  if (isLong && step !== undefined) refuseAmbiguous(field, step);
  if (!isLong && (step === undefined || hasForm(step))) return readReply({ object: value }, []);
  if (!isLong && keys.length > 0) {
    for (const key of keys.filter((each) => !LONG_KEYS.includes(each))) {
      const hint = didYouMean(key, LONG_KEYS) || ` The keys here are ${LONG_KEYS.join(", ")}.`;
      field.at(key).problem(`Unknown key ${JSON.stringify(key)}.${hint}`, "key");
    }
    return readReply({ text: "" }, []);
  }
  const reply = field.reply(readReply);
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
