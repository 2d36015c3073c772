import type { AnyPrompt } from "../prompt/prompt_type.ts";
import { numberOf } from "../schema/leaf_value.ts";
import type { NamedAs } from "./named_as.ts";
import type { PromptInput } from "./prompt_input.ts";
import { inputSchemaOf } from "./prompt_takes.ts";
import type { Located } from "./prompt_takes.ts";

/** A prompt that cannot be rendered, and what it says. */
export interface RenderFailure {
  readonly prompt: AnyPrompt;
  readonly message: string;
}

/** What to type so that prompts can be rendered. */
export function renderHints(
  failures: readonly RenderFailure[],
  { given, located, as }: { readonly given: PromptInput; readonly located: Located; readonly as: NamedAs },
): readonly string[] {
  const missing = new Set(failures.flatMap((failure) => missingNames(failure, { given, located })));
  const words = as === "flag"
    ? [...missing].map((name) => `--input ${asWord(`${name}=VALUE`)}`).join(" ")
    : [...missing].map((name) => `input.${name}`).join(", ");
  return [
    ...(missing.size === 0
      ? []
      : [`give ${missing.size === 1 ? "it" : "them"} ${as === "flag" ? "with" : "as"} ${words}`]),
    ...failures.flatMap(({ message }) => typeHint(message, given)),
  ];
}

function missingNames(
  { prompt, message }: RenderFailure,
  { given: { values }, located }: { readonly given: PromptInput; readonly located: Located },
): readonly string[] {
  const schema = inputSchemaOf(prompt, located);
  if (schema === undefined) {
    return prompt.vars.filter((name) => !Object.hasOwn(values, name) || values[name] === undefined);
  }
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const lines = message.split("\n");
  return required.map(String).filter((name) => lines.includes(`- ${name}: is required`));
}

/** A field of a template that wanted something else than the text it got. */
const WANTED =
  /\{([^{}.[\]!:]+)[^{}]*\}?.*: (?:format spec .* needs a (number), got string|no ("[^"]*") in \{)/;

function typeHint(message: string, { values, texts }: PromptInput): readonly string[] {
  const [, name = "", number, key] = WANTED.exec(message) ?? [];
  const text = values[name];
  if (!texts.has(name) || typeof text !== "string") return [];
  const [what, value] = number === undefined
    ? ["an object", `{${key}: "..."}`]
    : ["a number", String(numberOf(text) ?? 1.5)];
  const json = `{${JSON.stringify(name)}: ${value}}`;
  return [`--input gives text; give ${what} with --input-json ${asWord(json)}`];
}

/** As a shell reads it as one word. */
function asWord(text: string): string {
  return /^[\p{L}\p{M}\p{N}_=-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
