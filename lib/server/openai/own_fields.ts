import type { ChatBody } from "./chat_body.ts";
import { badField } from "./openai_problem.ts";

/** What cannot be asked of an agent, a profile, a document or a prompt: it has tools and a form of its own. @throws {HttpProblem} */
export function refuseForeignFields({ model, tools, response_format: format }: ChatBody): void {
  if (tools !== undefined && tools !== null && tools.length > 0) {
    throw badField(
      "tools",
      `${model} has tools of its own, and runs them itself; leave them out`,
      "tools_not_supported",
    );
  }
  if (format !== undefined && format !== null && format.type !== "text") {
    const text = `${model} says itself what its answer has to be; leave it out`;
    throw badField("response_format", text, "unsupported_value");
  }
}
