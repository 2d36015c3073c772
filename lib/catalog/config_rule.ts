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
  /** The table has the key, but this version does nothing with it. */
  readonly unused?: true;
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
export function wantedBy(rule: ConfigRule): string {
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
