import { calls } from "./calls/calls.ts";
import { conversation } from "./conversation/conversation.ts";
import { basename } from "node:path";
import { ask, chat } from "./dialog/dialog.ts";
import { document } from "./document/document.ts";
import type { Kind } from "./kind.ts";
import { prompt } from "./prompt/prompt.ts";

/** Every kind there is, in the order in which a check looks at their files. */
export const KINDS: readonly Kind[] = [document, calls, conversation, prompt, ask, chat];

/** The kind of a file, by its name. */
export function kindOfFile(path: string, kinds: readonly Kind[]): Kind | undefined {
  return kinds.find(({ file }) => file?.is(basename(path)));
}

/** What a file may be, in words. */
export function eitherOf(kinds: readonly Kind[]): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
    kinds.flatMap(({ file }) => file?.words ?? []),
  );
}

/** The kind of a run. */
export function kindNamed(name: string, kinds: readonly Kind[]): Kind | undefined {
  return kinds.find((kind) => kind.name === name);
}
