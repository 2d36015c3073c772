import type { User } from "../core/world.ts";

/** Who is asked where a program gave no user: every question is refused. */
export const NOBODY: User = {
  canAnswer: false,
  ask: () => Promise.reject(new Error("Nobody can be asked: the program that runs this gave no user")),
};
