import type { LocatedPrompt } from "../catalog/prompts/make.ts";
import { isDotpromptFile } from "../catalog/prompts/type_text.ts";
import { isRecord } from "../core/json.ts";

/** What a prompt takes. */
export interface PromptVariables {
  readonly names: readonly string[];
  /** Those without which there is no text. */
  readonly needed: readonly string[];
}

/** The variables of a prompt; of a `*.prompt` file the arguments that its schema names. */
export function promptVariables({ prompt: { vars }, claim }: LocatedPrompt): PromptVariables {
  if (!isDotpromptFile(claim)) return { names: vars, needed: vars };
  const { schema = {}, default: defaults = {} } = claim.value.input;
  const names = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return { names, needed: names.filter((name) => required.includes(name) && !Object.hasOwn(defaults, name)) };
}
