import { HttpProblem } from "../problem.ts";
import { chatMessages } from "./chat_messages.ts";
import type { ChatBody } from "./chat_body.ts";
import { badField } from "./openai_problem.ts";

/**
 * The text of the only message.
 *
 * @param options.what takes it, for errors, with its article: `A document`
 * @throws {HttpProblem} 400 `history_not_supported` where there are others
 */
export function onlyText(body: ChatBody, { what }: { readonly what: string }): string {
  const [message, ...others] = chatMessages(body.messages);
  if (message?.role !== "user" || others.length > 0) {
    throw new HttpProblem(400, "history_not_supported", {
      detail:
        `${what} takes one message of the user, and remembers nothing of others; found ${body.messages.length} messages: ` +
        `${body.messages.map(({ role }) => role).slice(0, 8).join(", ")}`,
      more: { param: "messages" },
    });
  }
  if (typeof message.content === "string") return message.content;
  throw badField("messages[0].content", `${what} takes text, and no images or files`, "unsupported_value");
}
