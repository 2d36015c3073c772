import type { Kind } from "../kind.ts";

/** Conversations with the agent of a file. */
export const conversation = {
  name: "conversation",
  file: {
    word: "agent",
    endings: ".agent.yml, .agent.yaml",
    is: (name: string) => /\.agent\.ya?ml$/i.test(name), // conversations.md 1
    instead: "an agent is talked to: begin a conversation with it",
  },
  graph: (): Promise<typeof import("./graph.ts")> => import("./graph.ts" as string),
  show: (): Promise<typeof import("./show.ts")> => import("./show.ts" as string),
  list: (): Promise<typeof import("./look.ts")> => import("./look.ts" as string),
  check: (): Promise<typeof import("./check.ts")> => import("./check.ts" as string),
  test: (): Promise<typeof import("./test.ts")> => import("./test.ts" as string),
  forks: "turn", // what is done anew within one would be another answer to the same message
  goesOn: () => "is a conversation, which goes on with a message or with retry",
} satisfies Kind;
