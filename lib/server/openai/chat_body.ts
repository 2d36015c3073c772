import type { FromJsonSchema } from "../../schema/input_type.ts";
import type { CHAT_REQUEST } from "./chat_schema.ts";
import { badField } from "./openai_problem.ts";

/** The body of a request, whose fields have the types that the schema says. */
export type ChatBody = FromJsonSchema<typeof CHAT_REQUEST>;

/** What is asked for and nobody here can do: left out silently, an answer would not be what it seems. @throws {HttpProblem} */
export function refuseUnsupported(body: ChatBody): void {
  const { n, logprobs, modalities, tools } = body;
  if (typeof n === "number" && n !== 1) {
    throw badField("n", `found ${n}, but one request gives one answer; leave it out`, "unsupported_value");
  }
  if (logprobs === true) {
    throw badField("logprobs", "there are no log probabilities; leave it out", "unsupported_value");
  }
  for (const [name, instead] of NOT_HERE) {
    const value = body[name];
    if (value !== undefined && value !== null) throw badField(name, instead, "unsupported_value");
  }
  const other = modalities?.find((each) => each !== "text");
  if (other !== undefined) {
    throw badField("modalities", `found ${JSON.stringify(other)}, but answers are text`, "unsupported_value");
  }
  const index = tools?.findIndex(({ type }) => type !== "function") ?? -1;
  if (index !== -1) {
    const found = JSON.stringify(tools?.[index]?.type);
    throw badField(`tools[${index}].type`, `found ${found}, expected "function"`, "unsupported_value");
  }
}

/** What would change the answer, with what to do. */
const NOT_HERE = [
  ["top_logprobs", "there are no log probabilities; leave it out"],
  ["functions", "functions are given as tools"],
  ["function_call", "what has to be called is said by tool_choice"],
  ["audio", "answers are text; leave it out"],
  ["web_search_options", "nothing is searched for the answer; leave it out, or offer a tool for it"],
] as const;
