import type { Kind } from "../kind.ts";

/** Questions to a model. */
export const ask: Kind = {
  name: "ask",
  run: (): Promise<typeof import("./start.ts")> => import("./start.ts" as string),
};

/** Talks with a model. */
export const chat: Kind = {
  name: "chat",
  goesOn: (id) => `is a chat at a terminal, which goes on there: orrery resume ${id}`,
};
