import type { Kind } from "../kind.ts";

/** Markdown that is run. */
export const document: Kind = {
  name: "document",
  run: (): Promise<typeof import("./ready.ts")> => import("./ready.ts" as string),
  seen: "operations",
};
