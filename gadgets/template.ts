import {
  type FillingGadget,
  FILLS,
  type Gadget,
  onlyFields,
  placeInWords,
  ProblemsError,
  SourceError,
  spanAt,
  type World,
} from "../lib/core/core.ts";
import { followPointer } from "./_pointer.ts";

/** More are of no use to anybody, and each costs a look through the text. */
const MAX_PROBLEMS = 20;

interface Input {
  readonly template: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

const VALUE = { $ref: "#/$defs/value" };
/** Any value; of a call block the text as it was written, where a schema that says nothing would make 1.5 of "1.50". */
const VERBATIM = { minLength: 0 };

/** `Template`: text with places for values. A value is inserted as it is and never read for places again. */
export default function template(_world: World): Gadget<Input> & FillingGadget {
  return {
    [FILLS]: { text: "template", values: "values" },
    name: "Template",
    description:
      "Fills a text template: every {{name}} is replaced by the value of that name, {{a/b}} by a value inside " +
      "another. Text is inserted as it is, anything else as JSON; braces inside a value stay as they are. A name without a " +
      "value is an error. Write \\{{ for two literal braces. There are no conditions and no loops.",
    input: {
      ...onlyFields({
        template: {
          type: "string",
          description: 'The text with its places, such as "Dear {{user/name}}, …".',
        },
        values: {
          type: "object",
          description:
            "The values by name; nested objects and arrays are reached with a pointer such as {{items/0/name}}.",
          additionalProperties: VALUE,
        },
      }, ["template"]),
      $defs: { value: { ...VERBATIM, additionalProperties: VALUE, items: VALUE } },
    },
    output: { type: "string" },
    idempotent: true,
    repeatable: false,
    timeoutMs: 10_000,
    examples: [{
      input: {
        template: "Dear {{user/name}}, you owe {{sum}} EUR.",
        values: { user: { name: "Ada" }, sum: 12.5 },
      },
      comment: "Dear Ada, you owe 12.5 EUR.",
    }],
    run: ({ template, values }) => fill(template, values ?? {}),
  };
}

/** A place, its escape, or braces that are never closed. No `}` or line break in a place: so the search is linear. */
const PLACE = /\\\{\{|\{\{([^{}\n]*)\}\}|\{\{/g;

function fill(template: string, values: Readonly<Record<string, unknown>>): string {
  const problems: SourceError[] = [];
  const text = template.replace(PLACE, (whole: string, name: string | undefined, offset: number) => {
    if (whole.startsWith("\\")) return "{{";
    const found = name === undefined ? { problem: undefined } : followPointer(values, name.trim());
    if (name?.trim() && "value" in found) return asText(found.value);
    const why = "problem" in found ? found.problem : undefined;
    if (problems.length < MAX_PROBLEMS) {
      problems.push(problemAt(template, { whole, name: name?.trim(), offset, why }));
    }
    return "";
  });
  const [first] = problems;
  if (first === undefined) return text;
  throw problems.length === 1 ? first : new ProblemsError(problems);
}

function problemAt(
  template: string,
  at: {
    readonly whole: string;
    readonly name: string | undefined;
    readonly offset: number;
    readonly why: string | undefined;
  },
): SourceError {
  const { whole, name, offset, why } = at;
  const span = spanAt(template, offset, { length: whole.length });
  const place = `${whole} at ${placeInWords(template, span)}`;
  const options = { span, source: template, code: "E-template" };
  if (name === undefined) {
    const advice = "close it with }} on the same line, or write \\{{ for literal braces";
    return new SourceError(`Cannot fill template: ${place} is never closed; ${advice}`, options);
  }
  if (name === "") return new SourceError(`Cannot fill template: ${place} has no name`, options);
  return new SourceError(
    `Cannot fill template: no value for ${place}${why === undefined ? "" : ` (${why})`}`,
    options,
  );
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
