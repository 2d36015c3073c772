import type { LocatedPrompt } from "../catalog/prompts/make.ts";
import { isDotpromptFile } from "../catalog/prompts/type_text.ts";
import type { JsonSchema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import { partsOf } from "../prompt/parts.ts";
import type { AnyPrompt } from "../prompt/prompt.ts";
import type { PromptInput } from "./prompt_input.ts";

/** Where the prompts of a project are defined, by path. */
export type Located = ReadonlyMap<string, LocatedPrompt>;

/** The names of the values that a prompt takes; undefined where any may be one. */
export function namesTakenBy(prompt: AnyPrompt, located: Located): readonly string[] | undefined {
  const schema = inputSchemaOf(prompt, located);
  if (schema !== undefined) {
    const isClosed = schema.additionalProperties === false && schema.patternProperties === undefined;
    return isClosed && isRecord(schema.properties) ? Object.keys(schema.properties) : undefined;
  }
  const { renderer } = partsOf(prompt);
  return renderer !== null && renderer.vars === undefined ? undefined : prompt.vars;
}

/** Values under the names that prompts have for them: marks may be written in more than one way, which differs by keyboard and file system. */
export function asNamed(
  { values, texts }: PromptInput,
  { prompts, located }: { readonly prompts: readonly AnyPrompt[]; readonly located: Located },
): PromptInput {
  const names = prompts.flatMap((prompt) => namesTakenBy(prompt, located) ?? []);
  const known = new Map(names.map((name) => [name.normalize(), name]));
  const named = (name: string): string => names.includes(name) ? name : known.get(name.normalize()) ?? name;
  return {
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [named(name), value])),
    texts: new Set(Array.from(texts, named)),
  };
}

/** What the `*.prompt` file that a prompt is, or extends, says of its arguments. */
export function inputSchemaOf(prompt: AnyPrompt, located: Located): JsonSchema | undefined {
  const own = located.get(prompt.path);
  if (own?.prompt !== prompt) return undefined; // a text of orrery.yaml, of the same path
  for (let next: LocatedPrompt | undefined = own; next !== undefined; next = baseOf(next, located)) {
    if (isDotpromptFile(next.claim)) return next.claim.value.input.schema;
  }
  return undefined;
}

/** Prompts that were made extend each other in no circle. */
function baseOf({ claim: { base } }: LocatedPrompt, located: Located): LocatedPrompt | undefined {
  return base === undefined ? undefined : located.get(base.key);
}
