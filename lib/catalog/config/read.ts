import { didYouMean, isRecord, ProblemsError, SourceError, type Span } from "../../core/core.ts";
import { parseYaml, type YamlDocument } from "../../parse/yaml/yaml.ts";
import { CONFIG_TABLE, type ConfigFile } from "./table.ts";

/** What may stand at a place of `orrery.yaml`: it drives the reading, the JSON Schema and the TypeScript types. */
export type ConfigRule =
  | { readonly kind: "text" }
  | { readonly kind: "boolean" }
  /** `above` itself is not allowed. */
  | {
    readonly kind: "number";
    readonly whole?: true;
    readonly least?: number;
    readonly above?: number;
    readonly most?: number;
  }
  | { readonly kind: "choice"; readonly values: readonly (string | boolean)[] }
  | { readonly kind: "list"; readonly of: ConfigRule }
  /** Any key. */
  | { readonly kind: "map"; readonly of: ConfigRule }
  /** These keys only. */
  | { readonly kind: "keys"; readonly keys: { readonly [key: string]: ConfigKey } }
  /** The first rule whose shape the value has. */
  | { readonly kind: "either"; readonly of: readonly ConfigRule[] }
  | { readonly kind: "any" };

/** A key, what may stand there, and what it is for. */
export type ConfigKey = ConfigRule & {
  readonly about: string;
  /** What holds without it. */
  readonly default?: string | number | boolean | readonly string[];
};

/** The type of the values that a rule lets through. */
export type ConfigValue<Rule> = Rule extends { kind: "text" } ? string
  : Rule extends { kind: "boolean" } ? boolean
  : Rule extends { kind: "number" } ? number
  : Rule extends { kind: "choice"; values: readonly (infer Choice)[] } ? Choice
  : Rule extends { kind: "list"; of: infer Of } ? readonly ConfigValue<Of>[]
  : Rule extends { kind: "map"; of: infer Of } ? { readonly [key: string]: ConfigValue<Of> }
  : Rule extends { kind: "keys"; keys: infer Keys }
    ? { readonly [Key in keyof Keys]?: ConfigValue<Keys[Key]> }
  : Rule extends { kind: "either"; of: readonly (infer Of)[] } ? ConfigValue<Of>
  : unknown;

/** What a rule wants, in words that go after "expected". */
function wantedBy(rule: ConfigRule): string {
  switch (rule.kind) {
    case "text":
      return "text";
    case "boolean":
      return "true or false";
    case "number":
      return wantedNumber(rule);
    case "choice":
      return rule.values.map((value) => JSON.stringify(value)).join(" or ");
    case "list":
      return "a list";
    case "map":
    case "keys":
      return "a mapping";
    case "either":
      return rule.of.map(wantedBy).join(" or ");
    case "any":
      return "anything";
    default:
      return rule satisfies never;
  }
}

function wantedNumber({ whole, least, above, most }: ConfigRule & { readonly kind: "number" }): string {
  const from = least !== undefined ? ` from ${least}` : above !== undefined ? ` above ${above}` : "";
  const to = most === undefined ? "" : from === "" ? ` up to ${most}` : ` to ${most}`;
  return `a ${whole ? "whole " : ""}number${from}${to}`;
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
    const repeated: SourceError[] = [];
    const document = await parseYaml(text, { file, repeated });
    if (document.value === null) return nothing;
    const checker = new Checker(document, text);
    checker.check(document.value, CONFIG_TABLE, []);
    const problems = [...repeated, ...checker.problems];
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

/** Checks a configuration document against the table: all problems at once. */
class Checker {
  readonly problems: SourceError[] = [];
  readonly #document: YamlDocument;
  readonly #source: string;

  constructor(document: YamlDocument, source: string) {
    this.#document = document;
    this.#source = source;
  }

  check(value: unknown, rule: ConfigRule, path: Path): void {
    if (!hasShape(value, rule)) return this.#wrong(value, rule, path);
    switch (rule.kind) {
      case "list":
        return (value as readonly unknown[]).forEach((item, index) =>
          this.check(item, rule.of, [...path, index])
        );
      case "map":
        return Object.entries(value as object).forEach(([key, item]) =>
          this.check(item, rule.of, [...path, key])
        );
      case "keys":
        return Object.entries(value as object).forEach(([key, item]) =>
          this.#key([...path, key], item, rule.keys)
        );
      case "either": {
        const fitting = rule.of.find((each) => hasShape(value, each));
        return fitting === undefined ? undefined : this.check(value, fitting, path);
      }
    }
  }

  #key(path: Path, value: unknown, keys: { readonly [key: string]: ConfigKey }): void {
    const name = String(path.at(-1));
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (key === undefined) return this.#unknownKey(path, Object.keys(keys));
    this.check(value, key, path);
  }

  #unknownKey(path: Path, known: readonly string[]): void {
    const name = String(path.at(-1));
    const where = path.length === 1 ? "" : ` in ${path.slice(0, -1).join(".")}`;
    const message = `Unknown key ${JSON.stringify(name)}${where}.${didYouMean(name, known)}`;
    this.#problem(message, this.#document.at(path, "key"), `The keys here are ${known.join(", ")}.`);
  }

  #wrong(value: unknown, rule: ConfigRule, path: Path): void {
    const what = path.length === 0 ? "" : ` for ${path.join(".")}`;
    const message = `Found ${shown(value)}${what}, expected ${wantedBy(rule)}`;
    const hint = value === null ? "Give it a value, or remove the key." : choiceHint(value, rule);
    this.#problem(message, this.#document.at(path), hint);
  }

  #problem(message: string, span: Span | undefined, hint: string | undefined): void {
    const options = {
      source: this.#source,
      code: "E-config",
      span,
      hint,
    };
    this.problems.push(new SourceError(message, options));
  }
}

/** Whether a value is what the rule wants, its parts aside. */
function hasShape(value: unknown, rule: ConfigRule): boolean {
  switch (rule.kind) {
    case "text":
      return typeof value === "string" && value !== "";
    case "boolean":
      return typeof value === "boolean";
    case "number":
      return typeof value === "number" && isInRange(value, rule);
    case "choice":
      return rule.values.some((choice) => choice === value);
    case "list":
      return Array.isArray(value);
    case "map":
    case "keys":
      return isRecord(value);
    case "either":
      return rule.of.some((each) => hasShape(value, each));
    case "any":
      return true;
    default:
      return rule satisfies never;
  }
}

function isInRange(
  value: number,
  { whole, least, above, most }: ConfigRule & { readonly kind: "number" },
): boolean {
  return (whole ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
    (least === undefined || value >= least) && (above === undefined || value > above) &&
    (most === undefined || value <= most);
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

function choiceHint(value: unknown, rule: ConfigRule): string | undefined {
  const rules = rule.kind === "either" ? rule.of : [rule];
  const choices = rules.flatMap((each) => each.kind === "choice" ? each.values : []).map(String);
  if (typeof value === "string") return didYouMean(value, choices).trim() || numberHint(value, rule);
  return undefined;
}

function numberHint(value: string, rule: ConfigRule): string | undefined {
  return rule.kind === "number" && value.trim() !== "" && Number.isFinite(Number(value))
    ? "Write it without quotes."
    : undefined;
}
