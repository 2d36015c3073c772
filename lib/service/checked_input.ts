// The values of prompts are looked at before a run begins: one that could not even be asked leaves nothing behind.
import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { type JsonObject, toJson } from "../core/json.ts";
import { PromptError } from "../core/prompt_error.ts";
import type { AnyPrompt } from "../prompt/prompt.ts";
import { numberOf } from "../schema/leaf_value.ts";
import { UsageError } from "./exit_code.ts";
import type { NamedAs } from "./named_as.ts";
import type { PromptInput, PromptInputOptions } from "./prompt_input.ts";
import { asNamed, inputSchemaOf, type Located, namesTakenBy } from "./prompt_takes.ts";
import { typedValues } from "./typed_values.ts";

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
  if (problems.length > 0) throw new UsageError(problems, { command });
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
