import type { Kind } from "../kind.ts";
import { prompt } from "../prompt/prompt.ts";

/** Markdown that is run. */
export const document = {
  name: "document",
  file: {
    word: "document",
    endings: ".md",
    is: (name: string) => /\.md$/i.test(name) && !prompt.file.is(name),
    isResult: (name: string) => /\.ctx$/i.test(name),
  },
  run: (): Promise<typeof import("./start.ts")> => import("./start.ts" as string),
  graph: (): Promise<typeof import("./graph.ts")> => import("./graph.ts" as string),
  show: (): Promise<typeof import("./show.ts")> => import("./show.ts" as string),
  list: (): Promise<typeof import("./look.ts")> => import("./look.ts" as string),
  check: (): Promise<typeof import("./check.ts")> => import("./check.ts" as string),
  test: (): Promise<typeof import("./test.ts")> => import("./test.ts" as string),
  seen: "operations",
} satisfies Kind;
