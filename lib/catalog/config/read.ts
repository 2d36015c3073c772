import { didYouMean, isRecord, ProblemsError, SourceError } from "../../core/core.ts";
import { parseYaml, type YamlDocument } from "../../parse/yaml/yaml.ts";
import { CONFIG_TABLE, type ConfigFile } from "./table.ts";

/** What may stand at a place of `orrery.yaml`, as JSON Schema: these keywords of it, and no value or anything at all. */
export interface ConfigRule {
  readonly type?: "string" | "boolean" | "integer" | "number" | "array" | "object";
  readonly minLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly const?: string | boolean;
  readonly enum?: readonly (string | boolean)[];
  readonly items?: ConfigRule;
  /** These keys only. */
  readonly properties?: Readonly<Record<string, ConfigRule>>;
  readonly additionalProperties?: ConfigRule | false;
  /** The first rule whose shape the value has. */
  readonly anyOf?: readonly ConfigRule[];
  readonly default?: unknown;
}

/** The type of the values that a rule lets through. */
export type ConfigValue<Rule> = Rule extends { const: infer Value } ? Value
  : Rule extends { enum: readonly (infer Value)[] } ? Value
  : Rule extends { anyOf: readonly (infer Of)[] } ? ConfigValue<Of>
  : Rule extends { type: "string" } ? string
  : Rule extends { type: "boolean" } ? boolean
  : Rule extends { type: "integer" | "number" } ? number
  : Rule extends { items: infer Of } ? readonly ConfigValue<Of>[]
  : Rule extends { properties: infer Keys } ? { readonly [Key in keyof Keys]?: ConfigValue<Keys[Key]> }
  : Rule extends { additionalProperties: infer Of } ? { readonly [key: string]: ConfigValue<Of> }
  : unknown;

/** The words that a rule takes, where it takes words. */
function choicesOf({ const: only, enum: several }: ConfigRule): readonly (string | boolean)[] | undefined {
  return only === undefined ? several : [only];
}

/** What a rule wants, in words that go after "expected". */
function wantedBy(rule: ConfigRule): string {
  const choices = rule.anyOf?.map(wantedBy) ?? choicesOf(rule)?.map((value) => JSON.stringify(value));
  return choices?.join(" or ") ?? WANTED[rule.type ?? "any"](rule);
}

const WANTED = {
  any: () => "anything",
  string: () => "text",
  boolean: () => "true or false",
  array: () => "a list",
  object: () => "a mapping",
  integer: (rule: ConfigRule) => `a whole number${rangeOf(rule)}`,
  number: (rule: ConfigRule) => `a number${rangeOf(rule)}`,
};

function rangeOf({ minimum, exclusiveMinimum, maximum }: ConfigRule): string {
  const from = minimum !== undefined
    ? ` from ${minimum}`
    : exclusiveMinimum !== undefined
    ? ` above ${exclusiveMinimum}`
    : "";
  return maximum === undefined ? from : `${from}${from === "" ? " up" : ""} to ${maximum}`;
}

/** Whether a value is what the rule wants, its parts aside. */
function hasShape(value: unknown, rule: ConfigRule): boolean {
  const choices = choicesOf(rule);
  if (rule.anyOf !== undefined) return rule.anyOf.some((each) => hasShape(value, each));
  if (choices !== undefined) return choices.some((choice) => choice === value);
  switch (rule.type) {
    case undefined:
      return true;
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    case "string":
      return typeof value === "string" && value !== "";
    case "boolean":
      return typeof value === "boolean";
    default: {
      const { type, minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = rule;
      return typeof value === "number" &&
        (type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
        value >= minimum && value > exclusiveMinimum && value <= maximum;
    }
  }
}

/** One configuration file that was read. */
export interface WrittenConfig {
  readonly values: ConfigFile;
  readonly at: YamlDocument["at"];
  readonly problems: readonly SourceError[];
  /** The text, for errors that are found later. */
  readonly source?: string;
}

/** Reads and checks the text of a configuration file; `file` is its name in messages. */
export async function readConfig(text: string, file: string): Promise<WrittenConfig> {
  const nothing = { values: {}, at: () => undefined, problems: [], source: text };
  try {
    const problems: SourceError[] = [];
    const document = await parseYaml(text, { file, repeated: problems });
    if (document.value === null) return nothing;
    const refuse: Refuse = (path, message, { hint, at }) =>
      problems.push(
        new SourceError(message, { source: text, code: "E-config", span: document.at(path, at), hint }),
      );
    check(document.value, CONFIG_TABLE, { path: [], refuse });
    if (problems.length > 0) return { ...nothing, problems };
    // Just checked against the table that the type is made from.
    const values = document.value as ConfigFile;
    return { ...nothing, values, at: document.at };
  } catch (problem) {
    if (problem instanceof ProblemsError) return { ...nothing, problems: problem.problems };
    throw problem;
  }
}

type Path = readonly (string | number)[];

type Refuse = (
  path: Path,
  message: string,
  more: { readonly hint: string | undefined; readonly at?: "key" },
) => void;

/** Tells all that is wrong with a part of a configuration file. */
function check(
  value: unknown,
  rule: ConfigRule,
  { path, refuse }: { readonly path: Path; readonly refuse: Refuse },
): void {
  if (!hasShape(value, rule)) {
    const what = path.length === 0 ? "" : ` for ${path.join(".")}`;
    const hint = value === null ? "Give it a value, or remove the key." : hintFor(value, rule);
    return refuse(path, `Found ${shown(value)}${what}, expected ${wantedBy(rule)}`, { hint });
  }
  const { items, properties, additionalProperties, anyOf } = rule;
  const fitting = anyOf?.find((each) => hasShape(value, each));
  if (fitting !== undefined) return check(value, fitting, { path, refuse });
  const parts: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? [...value.entries()]
    : isRecord(value)
    ? Object.entries(value)
    : [];
  for (const [key, part] of parts) {
    const inside = [...path, key];
    const own = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
    const of = items ?? own ?? additionalProperties;
    if (of) check(part, of, { path: inside, refuse });
    else if (properties !== undefined) {
      const known = Object.keys(properties);
      const where = path.length === 0 ? "" : ` in ${path.join(".")}`;
      const message = `Unknown key ${JSON.stringify(key)}${where}.${didYouMean(String(key), known)}`;
      refuse(inside, message, { at: "key", hint: `The keys here are ${known.join(", ")}.` });
    }
  }
}

function shown(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "string") {
    return value === "" ? "empty text" : `the text ${JSON.stringify(value.slice(0, 60))}`;
  }
  return typeof value === "number" ? `the number ${value}` : String(value);
}

/** For a text that is none of the words, and for a number in quotes. */
function hintFor(value: unknown, rule: ConfigRule): string | undefined {
  if (typeof value !== "string") return undefined;
  const choices = (rule.anyOf ?? [rule]).flatMap((each) => choicesOf(each) ?? []).map(String);
  const isNumber = (rule.type === "integer" || rule.type === "number") && value.trim() !== "" &&
    Number.isFinite(Number(value));
  return didYouMean(value, choices).trim() || (isNumber ? "Write it without quotes." : undefined);
}
