import type { Kind } from "../kind.ts";

/** Prompts of the registry, and tactics. */
export const prompt = {
  name: "prompt",
  file: {
    word: "prompt",
    endings: ".prompt.md, .prompt",
    is: (name: string) => /\.prompt(\.md)?$/.test(name),
    isDraft: (path: string) => /(?:^|[\\/])_/.test(path), // nobody looks for it
    isOfProject: true,
    instead: "a prompt is named by its path",
  },
  run: (): Promise<typeof import("./start.ts")> => import("./start.ts" as string),
  check: (): Promise<typeof import("./check.ts")> => import("./check.ts" as string),
} satisfies Kind;
