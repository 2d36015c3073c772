/** Why a conversation does not take a message. */
export type ConversationErrorCode =
  | "empty" // the message is blank
  | "busy" // it is still answering, here or in another process
  | "ended" // it is completed
  | "interrupted" // its last turn was not finished: `retry()` does that
  | "nothing" // there is nothing to try again
  | "changed" // the agent file is another one, without the step at which it waits
  | "gone"; // the store has no such conversation

/**
 * A conversation does not take a message (conversations.md 2.2); nothing has changed.
 *
 * ```ts
 * import { ConversationError, loadAgent, openConversation } from "orrery";
 *
 * const text = 'version: "0.1"\nstructure:\n  id: a\n  action: { id: m, message: { message: Bye. } }\n';
 * const conversation = await openConversation(await loadAgent({ file: "a.agent.yml", text }));
 * for await (const _event of conversation.start());
 * try {
 *   for await (const _event of conversation.say("Wait!"));
 * } catch (error) {
 *   if (error instanceof ConversationError) console.log(error.code, error.message);
 *   // => ended This conversation has ended. Start a new one.
 * }
 * ```
 */
export class ConversationError extends Error {
  override readonly name = "ConversationError";
  readonly code: ConversationErrorCode;

  constructor(message: string, code: ConversationErrorCode, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** It is still answering, here or in another process. */
export function busyError(cause?: unknown): ConversationError {
  return new ConversationError("The agent is still answering; try again when it is done.", "busy", { cause });
}

/** It takes no message any more. */
export function endedError(cause?: unknown): ConversationError {
  return new ConversationError("This conversation has ended. Start a new one.", "ended", { cause });
}
