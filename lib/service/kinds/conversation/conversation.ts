import type { Kind } from "../kind.ts";

/** Conversations with the agent of a file. */
export const conversation: Kind = {
  name: "conversation",
  goesOn: () => "is a conversation, which goes on with a message or with retry",
};
