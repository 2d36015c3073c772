import type { Kind } from "../kind.ts";

/** Texts of gadget calls. */
export const calls: Kind = {
  name: "calls",
  file: { words: "a call file (.calls)", is: (name) => /\.calls$/i.test(name) },
  run: (): Promise<typeof import("./start.ts")> => import("./start.ts" as string),
  check: (): Promise<typeof import("./check.ts")> => import("./check.ts" as string),
  seen: "text",
};
