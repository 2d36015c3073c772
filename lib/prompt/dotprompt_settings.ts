import { isRecord } from "../core/json.ts";
import type { AnyPrompt } from "./prompt_type.ts";

/** What a `*.prompt` file says of its model (prompts.md 12). */
export interface DotpromptSettings {
  readonly model?: string;
  /** Temperature and the like, in the names of dotprompt. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** With which model a prompt is asked where no agent says it; a prompt of another kind of file says nothing. */
export function dotpromptSettings({ metadata }: Pick<AnyPrompt, "metadata">): DotpromptSettings {
  const { model, config } = isRecord(metadata.dotprompt) ? metadata.dotprompt : {};
  return {
    ...(typeof model === "string" && { model }),
    config: isRecord(config) ? config : {},
  };
}
