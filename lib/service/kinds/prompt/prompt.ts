import type { Kind } from "../kind.ts";

/** Prompts of the registry, and tactics. */
export const prompt = {
  name: "prompt",
  file: {
    words: "a prompt (.prompt.md, .prompt)",
    is: (name: string) => /\.prompt(\.md)?$/.test(name),
    instead: "a prompt is named by its path",
  },
  run: (): Promise<typeof import("./start.ts")> => import("./start.ts" as string),
} satisfies Kind;
