import type { Kind } from "../kind.ts";

/** Prompts of the registry, and tactics. */
export const prompt: Kind = {
  name: "prompt",
  run: (): Promise<typeof import("./start.ts")> => import("./start.ts" as string),
};
