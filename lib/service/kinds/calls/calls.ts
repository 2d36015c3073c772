import type { Kind } from "../kind.ts";

/** Texts of gadget calls. */
export const calls: Kind = {
  name: "calls",
  run: (): Promise<typeof import("./start.ts")> => import("./start.ts" as string),
  seen: "text",
};
