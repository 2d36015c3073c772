import { calls } from "./calls/calls.ts";
import { conversation } from "./conversation/conversation.ts";
import { ask, chat } from "./dialog/dialog.ts";
import { document } from "./document/document.ts";
import type { Kind } from "./kind.ts";
import { prompt } from "./prompt/prompt.ts";

/** Every kind there is, in the order in which a check looks at their files. */
export const KINDS: readonly Kind[] = [document, calls, conversation, prompt, ask, chat];

/** The kind of a run. */
export function kindNamed(name: string, kinds: readonly Kind[]): Kind | undefined {
  return kinds.find((kind) => kind.name === name);
}
