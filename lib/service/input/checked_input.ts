// The values of prompts are looked at before a run begins: one that could not even be asked leaves nothing behind.
import type { LocatedPrompt } from "../../catalog/prompts/make.ts";
import { isDotpromptFile } from "../../catalog/prompts/type_text.ts";
import {
  didYouMeanNames,
  isRecord,
  type JsonObject,
  type JsonSchema,
  PromptError,
  toJson,
} from "../../core/core.ts";
import { partsOf } from "../../prompt/parts.ts";
import { prepareAnyType } from "../../prompt/check_value.ts";
import type { AnyPrompt } from "../../prompt/prompt.ts";
import { shown } from "../../schema/issue.ts";
import { JsonValidator } from "../../schema/json_validator.ts";
import { leafValue, numberOf } from "../../schema/leaf_value.ts";
import { isSchemaNode } from "../../schema/schema_node.ts";
import { typeText } from "../../schema/describe.ts";
import { UsageError } from "../exit_code.ts";
import type { NamedAs, PromptInput, PromptInputOptions } from "./prompt_input.ts";

/** What is to be asked with the values. */
export interface CheckedInputOptions {
  /** Those that are rendered with them; none where a tactic is given whatever there is. */
  readonly prompts: readonly AnyPrompt[];
  readonly located: Located;
  readonly command: PromptInputOptions["command"];
  /** The rest of the values is in a record. Default false: then these have to be all. */
  readonly isReplay?: boolean;
  /** Where the values come from that errors name. Default `flag`. */
  readonly as?: NamedAs;
}

/**
 * The values as JSON, text read as the schema of a `*.prompt` file wants it. A JSON object may hold more than the prompts take, since it may
 * be made for others too; only where something is missing are its other names told.
 *
 * @throws {UsageError} for names of `--input` that no prompt has, for text that is not of the type that is wanted, and for everything without which a
 * prompt cannot be rendered
 */
export function checkedInput(written: PromptInput, options: CheckedInputOptions): JsonObject {
  const { command, isReplay = false } = options;
  const given = asNamed(written, options);
  const unknown = unknownNames(given, options);
  refuse(unknown.flatMap(({ name, problem }) => given.texts.has(name) ? [problem] : []), command);
  const { values, problems } = typedValues(given, options);
  refuse(problems, command);
  const unfit = isReplay ? [] : renderProblems({ ...given, values }, options);
  if (unfit.length > 0) refuse([...unknown.map(({ problem }) => problem), ...unfit], command);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toJson(value)]));
}

function refuse(problems: readonly string[], command: string): void {
  if (problems.length > 0) throw new UsageError(problems, command);
}

function unknownNames(
  { values }: PromptInput,
  { prompts, located }: CheckedInputOptions,
): readonly { readonly name: string; readonly problem: string }[] {
  const taken = prompts.map((prompt) => namesTakenBy(prompt, located));
  const known = new Set<string>();
  for (const names of taken) {
    if (names === undefined) return [];
    for (const name of names) known.add(name);
  }
  if (prompts.length === 0) return [];
  const paths = prompts.map(({ path }) => JSON.stringify(path)).join(" and ");
  const [who, they] = prompts.length === 1
    ? [`prompt ${paths} has`, "It has"]
    : [`prompts ${paths} have`, "They have"];
  const problemOf = (name: string): string => {
    const variable = `${who} no variable ${JSON.stringify(name)}`;
    if (known.size === 0) return `${variable}: ${they.toLowerCase()} none`;
    const near = didYouMeanNames(name, known);
    return `${variable}${near === "" ? "." : near} ${they}: ${[...known].join(", ")}`;
  };
  return Object.keys(values).filter((name) => !known.has(name))
    .map((name) => ({ name, problem: problemOf(name) }));
}

function renderProblems(
  given: PromptInput,
  { prompts, located, as = "flag" }: CheckedInputOptions,
): readonly string[] {
  const failures: RenderFailure[] = [];
  for (const prompt of prompts) {
    try {
      prompt.render(given.values);
    } catch (error) {
      if (!(error instanceof PromptError)) throw error;
      failures.push({ prompt, message: error.message });
    }
  }
  return [...failures.map(({ message }) => message), ...renderHints(failures, { given, located, as })];
}

/** A prompt that cannot be rendered, and what it says. */
interface RenderFailure {
  readonly prompt: AnyPrompt;
  readonly message: string;
}

/** What to type so that prompts can be rendered. */
function renderHints(
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

/** Where the prompts of a project are defined, by path. */
type Located = ReadonlyMap<string, LocatedPrompt>;

/** The names of the values that a prompt takes; undefined where any may be one. */
function namesTakenBy(prompt: AnyPrompt, located: Located): readonly string[] | undefined {
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
function inputSchemaOf(prompt: AnyPrompt, located: Located): JsonSchema | undefined {
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
