import type { ConversationError } from "../run/conversation_error.ts";
import { EXIT } from "../service/exit_code.ts";

/** The exit code of a message that a conversation did not take: 2 for what the user can put right before. */
export function conversationErrorCode({ code }: ConversationError): number {
  return code === "gone" || code === "changed" || code === "empty" ? EXIT.usage : EXIT.failed;
}
