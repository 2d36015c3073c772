import { slotProblem } from "../conversation/slot_problem.ts";
import type { Json } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { parseJsonPath } from "../schema/json_path.ts";

/** Picks from an answer: the one value, a list of several, undefined for none. */
export type PickValue = (value: Json) => { readonly ok: Json | undefined } | { readonly problem: string };

/** Reads a response-path (conversations.md 2.10). @throws {Error} when it is no JSONPath */
export function readResponsePath(path: string): PickValue {
  const parsed = parseJsonPath(path);
  if ("problem" in parsed) {
    throw new Error(`response-path ${JSON.stringify(path)} is not a valid JSONPath: ${parsed.problem}`);
  }
  return (value) => {
    try {
      const nodes = parsed.ok.select(value);
      const found = nodes.length > 1 ? nodes : nodes[0];
      const problem = found === undefined ? undefined : slotProblem(found);
      if (problem === undefined) return { ok: found };
      return { problem: `what the response-path ${JSON.stringify(path)} selects has ${problem}` };
    } catch (error) {
      return { problem: `the response-path ${JSON.stringify(path)}: ${messageOf(error)}` };
    }
  };
}
