// What a model says of the goals of a validator (conversations.md 2.8): `{<name>: {decision, explanation}}`, or the decision alone.
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { ConversationGoal } from "../parse/agent/agent.ts";

/** What a model says of one goal. */
export interface Verdict {
  readonly decision: boolean;
  /** Absent: it gave none. */
  readonly explanation?: string;
}

/** The verdicts by goal, without those that were not given; or what is wrong with them. */
export type Verdicts = { readonly value: ReadonlyMap<string, Verdict> } | { readonly why: string };

type Goals = readonly Pick<ConversationGoal, "name">[];

/** The form of the answer, as JSON Schema. */
export function verdictForm(goals: Goals): JsonObject {
  const verdict: JsonObject = {
    type: "object",
    properties: {
      decision: { type: "boolean", description: "Whether the goal is reached." },
      explanation: { type: "string", description: "Why, in one sentence." },
    },
    required: ["decision", "explanation"],
    additionalProperties: false,
  };
  return {
    type: "object",
    properties: Object.fromEntries(goals.map(({ name }) => [name, verdict])),
    required: goals.map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Reads an answer. Never throws. */
export function readVerdicts(goals: Goals, answer: JsonObject): Verdicts {
  const verdicts = new Map<string, Verdict>();
  for (const { name } of goals) {
    const given = Object.hasOwn(answer, name) ? answer[name] : undefined;
    const verdict = verdictOf(given);
    if (verdict === "wrong") {
      return { why: `"${name}" is not an object with "decision", true or false, and "explanation", a text` };
    }
    if (verdict !== undefined) verdicts.set(name, verdict);
  }
  return { value: verdicts };
}

function verdictOf(given: Json | undefined): Verdict | "wrong" | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === "boolean") return { decision: given };
  if (!isJsonObject(given)) return "wrong";
  const { decision, explanation } = given;
  if (decision === undefined || decision === null) return undefined;
  if (typeof decision !== "boolean") return "wrong";
  return { decision, ...(typeof explanation === "string" && explanation.trim() !== "" && { explanation }) };
}
