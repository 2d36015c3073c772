import { defineError } from "../core/prompt_error.ts";
import { isRecord } from "../core/json.ts";
import { shown } from "../schema/issue.ts";
import { changedParts, NO_PARTS } from "./changed_parts.ts";
import { makePrompt } from "./make_prompt.ts";
import type { ArgsFor, Exact, OutputFor, Raw, ToolsFor } from "./prompt_inference.ts";
import { promptPath } from "./prompt_path.ts";
import type { AnyPrompt, Prompt, PromptDef } from "./prompt_type.ts";

/**
 * Defines a prompt (prompts.md 1): everything that one turn of an agent goes by. The types of its arguments follow from the template, when
 * that is one literal, and the type of what an answer means from `parser` or `format`.
 *
 * ```ts
 * import { definePrompt, tags } from "orrery";
 *
 * const review = definePrompt({
 *   path: "review",
 *   template: "Review {file.name} in {{braces}}. Put your verdict in <verdict>.",
 *   parser: tags({ requiredXmlTags: ["verdict"] }),
 * });
 * console.log(review({ file: { name: "a.ts" } })); // => Review a.ts in {braces}. Put your verdict in <verdict>.
 * console.log((await review.parse("<verdict>good</verdict>")).xmlTags.verdict[0]); // => good
 *
 * const brief = review.extend({ path: "review/brief", template: "Review {file} in one word." });
 * console.log(brief.vars, brief.parser === review.parser); // => [ "file" ] true
 * ```
 *
 * @throws {PromptError} `define`, when a field is wrong or unknown, `template`, when the template or a handler's text cannot be read.
 */
export function definePrompt<const Def extends PromptDef>(
  definition: Def & Exact<Def, PromptDef>,
): Prompt<Def["template"], OutputFor<Def, Raw>, ToolsFor<Def, readonly []>, ArgsFor<Def, unknown>> {
  const prompt: unknown = definedPrompt(definition);
  return prompt as ReturnType<typeof definePrompt<Def>>; // each of its fields is the definition's, or its default
}

/** A prompt of a definition of which no more is known. @throws {PromptError} `define` or `template` */
export function definedPrompt(definition: unknown): AnyPrompt {
  if (!isRecord(definition)) {
    throw defineError(`definePrompt takes an object such as { path, template }, found ${shown(definition)}`);
  }
  const { path = "", template = null } = definition;
  if (typeof path !== "string") throw defineError(`prompt path must be a string, found ${shown(path)}`);
  return makePrompt(changedParts(NO_PARTS, { ...definition, template }, promptPath(path)));
}
