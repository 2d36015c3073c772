import type { User } from "../core/world.ts";

/** Nobody at all. */
export const NOBODY: User = {
  canAnswer: false,
  ask: () => Promise.reject(new Error("Nobody can be asked here")),
};
