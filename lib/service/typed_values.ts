import type { JsonSchema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import { prepareAnyType } from "../prompt/prepare_any_type.ts";
import type { AnyPrompt } from "../prompt/prompt.ts";
import { shown } from "../schema/issue.ts";
import { JsonValidator } from "../schema/json_validator.ts";
import { leafValue } from "../schema/leaf_value.ts";
import { isSchemaNode } from "../schema/schema_node.ts";
import { typeText } from "../schema/type_text.ts";
import type { NamedAs } from "./named_as.ts";
import type { PromptInput } from "./prompt_input.ts";
import { inputSchemaOf, type Located } from "./prompt_takes.ts";

/** Reads the texts among values as the schemas of `*.prompt` files want them; what cannot be read so stays, and is among the problems. */
export function typedValues(
  { values, texts }: PromptInput,
  { prompts, located, as = "flag" }: {
    readonly prompts: readonly AnyPrompt[];
    readonly located: Located;
    readonly as?: NamedAs;
  },
): { readonly values: PromptInput["values"]; readonly problems: readonly string[] } {
  const typed = new Map(Object.entries(values));
  const problems: string[] = [];
  for (const prompt of prompts) {
    const schema = inputSchemaOf(prompt, located);
    if (schema === undefined) continue;
    for (const name of texts) {
      const text = typed.get(name);
      if (typeof text !== "string") continue; // for another prompt it is something else already
      const read = typedText(text, { name, schema });
      if ("problem" in read) {
        problems.push(`${as === "flag" ? `--input ${name}` : `input.${name}`}: ${read.problem}`);
      } else typed.set(name, read.value);
    }
  }
  return { values: Object.fromEntries(typed), problems };
}

/** A text stays one wherever the schema takes it; else it is a number, a boolean, null or JSON when it is exactly that. */
function typedText(
  text: string,
  { name, schema }: { readonly name: string; readonly schema: JsonSchema },
): { readonly value: unknown } | { readonly problem: string } {
  const prepared = prepareAnyType(schema);
  if ("broken" in prepared) return { value: text }; // whoever renders the prompt says so
  const { root } = prepared;
  const property = isRecord(root.properties) && Object.hasOwn(root.properties, name)
    ? root.properties[name]
    : undefined;
  if (!isSchemaNode(property)) return { value: text };
  const validator = new JsonValidator(prepared, { size: 1 + text.length });
  if (validator.fits(property, text)) return { value: text };
  const value = leafValue(text, [property], validator);
  return validator.fits(property, value)
    ? { value }
    : { problem: `expected ${typeText(property, root)}, found ${shown(text)}` };
}
