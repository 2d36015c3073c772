import type { Kind } from "../kind.ts";

/** Texts of gadget calls. */
export const calls = {
  name: "calls",
  file: { word: "call file", endings: ".calls", is: (name: string) => /\.calls$/i.test(name) },
  run: (): Promise<typeof import("./start.ts")> => import("./start.ts" as string),
  graph: (): Promise<typeof import("./graph.ts")> => import("./graph.ts" as string),
  check: (): Promise<typeof import("./check.ts")> => import("./check.ts" as string),
  seen: "text",
} satisfies Kind;
