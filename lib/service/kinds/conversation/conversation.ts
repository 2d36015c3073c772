import { isAgentName } from "../../../parse/agent/agent.ts";
import type { Kind } from "../kind.ts";

/** Conversations with the agent of a file. */
export const conversation: Kind = {
  name: "conversation",
  file: {
    words: "an agent (.agent.yml, .agent.yaml)",
    is: isAgentName,
    instead: "an agent is talked to: begin a conversation with it",
  },
  check: (): Promise<typeof import("./check.ts")> => import("./check.ts" as string),
  goesOn: () => "is a conversation, which goes on with a message or with retry",
};
