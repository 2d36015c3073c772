// What may stand in a file is said once, as a shape: the value with its TypeScript type, what is wrong with a file, and the JSON Schema for
// editors are all made of it.

import {
  isRecord,
  type Json,
  type JsonObject,
  nearestName,
  orMeant,
  type Span,
  toJson,
} from "../../core/core.ts";

/** The way to a part of a file: keys, and numbers of items from 0. */
export type FilePath = readonly (string | number)[];

const PLAIN_KEY = /^[^\s.[\]"]+$/;

/** `structure.action.chain[1].flow`; `file` for the whole file. */
export function pathText(path: FilePath): string {
  const text = path.map((part) =>
    typeof part === "string" && PLAIN_KEY.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`
  ).join("");
  return text === "" ? "file" : text.replace(/^\./, "");
}

/** What is told of a part of a file. */
export interface Finding {
  readonly message: string;
  /** Something that is deprecated is a warning, everything else an error. Default: `value`. */
  readonly kind?: "value" | "unknown-key" | "missing" | "json-path" | "deprecated";
  readonly hint?: string;
  /** Where to look: the value (the default) or its key, or a key inside it. */
  readonly at?: "value" | "key" | { readonly key: string };
}

/** A file that is being read. */
export interface FileReading {
  /** Notes what is wrong. */
  tell(path: FilePath, finding: Finding): void;
  /** A scalar as it is written, so that 1.10 stays 1.10; undefined for other values, and where an alias stands. */
  written(path: FilePath): string | undefined;
  /** Where the key of a part stands; of an item of a list, where it begins. */
  span(path: FilePath): Span;
}

/** A part of a file, and the way to it. Of a part without a reading nothing is told: it is not there, which has been said. */
export class FilePart {
  constructor(readonly value: unknown, readonly path: FilePath, readonly reading?: FileReading) {}

  /** What stands at a key; undefined when nothing does. */
  child(key: string): FilePart | undefined {
    const { value } = this;
    return isRecord(value) && Object.hasOwn(value, key)
      ? new FilePart(value[key], [...this.path, key], this.reading)
      : undefined;
  }

  /** Of a mapping; none of anything else. */
  get keys(): readonly string[] {
    return isRecord(this.value) ? Object.keys(this.value) : [];
  }

  /** Of a list; none of anything else. */
  get items(): readonly FilePart[] {
    const items: readonly unknown[] = Array.isArray(this.value) ? this.value : [];
    return items.map((item, index) => new FilePart(item, [...this.path, index], this.reading));
  }

  /** Notes that it is not what it has to be. */
  refuse(message: string, more: Omit<Finding, "message"> = {}): void {
    this.reading?.tell(this.path, { ...more, message });
  }

  /** The same of its key, or of what it has to have. */
  refuseKey(message: string, kind?: Finding["kind"]): void {
    this.refuse(message, { at: "key", kind });
  }

  /** As it is written in the file. */
  get written(): string {
    return this.reading?.written(this.path) ?? String(this.value);
  }
}

const NO_PART = new FilePart(undefined, []);

/** What is to be known of a key besides its value. */
export interface About {
  /** For editors. */
  readonly description?: string;
  /** Orrery's own: not named where the keys of the format are listed (conversations.md 3). */
  readonly isExtension?: boolean;
  /** What to do in place of it. */
  readonly deprecated?: string;
  /** A key that is written where this one is meant. */
  readonly mistakenFor?: string;
  /** What is said when it is missing. Default: that it is required. */
  readonly missing?: string;
}

/** What a value has to be. */
export class Shape<Value> {
  /**
   * @param read of a value that is not it, it notes what is wrong and gives a stand-in: of a file with an error nothing is used
   * @param absent what is meant when nothing is there; undefined when something has to be
   */
  constructor(
    readonly schema: JsonObject,
    readonly read: (part: FilePart) => Value,
    readonly about: About = {},
    readonly absent?: { readonly value: Value },
  ) {}

  /** A key with this value need not be there. */
  get optional(): Shape<Value | undefined> {
    return new Shape<Value | undefined>(this.schema, this.read, this.about, { value: undefined });
  }

  /** A key with this value need not be there, and means this then. */
  or(value: Value & Json): Shape<Value> {
    return new Shape(
      isRecord(value) || Array.isArray(value) ? this.schema : { ...this.schema, default: value },
      this.read,
      this.about,
      { value },
    );
  }

  /** Says what a key is for. */
  for(about: About): Shape<Value> {
    const { description, isExtension, deprecated } = about;
    const text = description ?? deprecated;
    const schema = {
      ...this.schema,
      ...(text === undefined ? {} : { description: text }),
      ...(deprecated === undefined ? {} : { deprecated: true }),
      ...(isExtension ? { "x-extension": true } : {}),
    };
    return new Shape(schema, this.read, about, this.absent);
  }

  /** Makes something else of the value. */
  to<Other>(make: (value: Value, part: FilePart) => Other): Shape<Other> {
    const absent = this.absent && { value: make(this.absent.value, NO_PART) };
    return new Shape(this.schema, (part) => make(this.read(part), part), this.about, absent);
  }

  /** Looks closer at a value of the right type. @param schema what JSON Schema can say of it */
  check(look: (value: Value, part: FilePart) => void, schema: JsonObject = {}): Shape<Value> {
    const read = (part: FilePart) => {
      const value = this.read(part);
      if (Object.is(value, part.value)) look(value, part);
      return value;
    };
    return new Shape({ ...this.schema, ...schema }, read, this.about, this.absent);
  }
}

function scalar<Value>(
  schema: JsonObject,
  wanted: string,
  fits: (value: unknown) => value is Value,
  standIn: Value,
): Shape<Value> {
  const read = ({ value }: FilePart) => fits(value) ? value : undefined;
  return new Shape(schema, (part) => read(part) ?? refused(part, wanted, standIn));
}

/** A value in the words of these messages. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "a mapping";
  return typeof value === "string" ? "text" : typeof value === "boolean" ? "true or false" : "a number";
}

function quotedOrKind(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : kindOf(value);
}

/** The version of a file, without which nobody knows what the rest means. */
export const VERSION = new Shape({ const: "0.1" }, (part) => {
  const { value } = part;
  if (typeof value === "number") part.refuse('must be the text "0.1"; put it in quotes');
  else if (value !== "0.1") part.refuse(`must be the text "0.1", found ${quotedOrKind(value)}`);
  return "0.1";
});

/** Notes what a value is in place of what it has to be. */
function refused<Value>(part: FilePart, wanted: string, standIn: Value): Value {
  part.refuse(`must be ${wanted}, found ${kindOf(part.value)}`);
  return standIn;
}

/** Text as it is. */
export const TEXT: Shape<string> = scalar(
  { type: "string" },
  "text",
  (value) => typeof value === "string",
  "",
);

/** Text that says something. */
export const NAME: Shape<string> = TEXT.check((name, part) => {
  if (name === "") part.refuse("must not be empty");
}, { minLength: 1 });

/** `true` or `false`. */
export const FLAG: Shape<boolean> = scalar(
  { type: "boolean" },
  "true or false",
  (value) => typeof value === "boolean",
  false,
);

/** Any finite number. */
export const NUMBER: Shape<number> = scalar(
  { type: "number" },
  "a number",
  (value) => typeof value === "number",
  0,
)
  .check((value, part) => {
    if (!Number.isFinite(value)) part.refuse("must be a finite number");
  });

/** A number of a range, the ends included. */
export function numberBetween(minimum: number, maximum: number): Shape<number> {
  return NUMBER.check((value, part) => {
    if (value < minimum || value > maximum) part.refuse(`must be between ${minimum} and ${maximum}`);
  }, { minimum, maximum });
}

/** A number without a fraction. */
export function wholeNumber(minimum: number): Shape<number> {
  return new Shape({ type: "integer", minimum }, (part) => {
    const { value } = part;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= minimum) return value;
    part.refuse(`must be a whole number, ${minimum} or more`);
    return minimum;
  });
}

/** Anything that JSON can hold. */
export const ANYTHING: Shape<Json> = new Shape({}, (part) => {
  try {
    return toJson(part.value);
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    part.refuse("must hold finite numbers only"); // .nan and .inf are all that YAML has beyond JSON
    return null;
  }
});

/** One of these words. @param extensions those of Orrery, which the JSON Schema marks */
export function oneOf<const Word extends string>(
  words: readonly [Word, ...Word[]],
  extensions: readonly Word[] = [],
): Shape<Word> {
  const all = [...words, ...extensions];
  const own = extensions.map((word) => ({ const: word, "x-extension": true }));
  return new Shape(own.length === 0 ? { enum: words } : { anyOf: [{ enum: words }, ...own] }, (part) => {
    const { value } = part;
    const word = all.find((each) => each === value);
    if (word !== undefined) return word;
    const near = typeof value === "string" ? orMeant(nearestName(value, all)) : "";
    part.refuse(`must be one of ${inWords(all, ", ")}; found ${quotedOrKind(value)}${near}`);
    return words[0];
  });
}

/** A list of equal things; `twice` is told of an item that has the `keyOf` of an earlier one, unless that is `""`. */
export function listOf<Item>(
  item: Shape<Item>,
  { isFilled = false, keyOf, twice }: {
    /** Default: it may be empty. */
    readonly isFilled?: boolean;
    readonly keyOf?: (item: Item) => string;
    readonly twice?: (part: FilePart, key: string, first: FilePart) => void;
  } = {},
): Shape<readonly Item[]> {
  const schema = { type: "array", items: item.schema, ...(isFilled ? { minItems: 1 } : {}) };
  return new Shape<readonly Item[]>(schema, (part) => {
    if (!Array.isArray(part.value)) return refused(part, "a list", []);
    if (isFilled && part.value.length === 0) part.refuse("must not be empty");
    const seen = new Map<string, FilePart>();
    return part.items.map((each) => {
      const value = item.read(each);
      const key = keyOf?.(value) ?? "";
      const first = seen.get(key);
      if (first === undefined) seen.set(key, each);
      else if (key !== "") twice?.(each, key, first);
      return value;
    });
  });
}

/** The same for a key that may have nothing behind it. */
export function orNothing<Value>({ schema, read, about }: Shape<Value>): Shape<Value | undefined> {
  return new Shape<Value | undefined>(
    schema,
    (part) => part.value === null ? undefined : read(part),
    about,
    { value: undefined },
  );
}

/** A mapping whose keys are the author's own. */
export function mapOf<Value>(
  value: Shape<Value>,
  { isFilled = false }: { readonly isFilled?: boolean } = {},
): Shape<Readonly<Record<string, Value>>> {
  const inside: JsonObject = Object.keys(value.schema).length === 0
    ? {}
    : { additionalProperties: value.schema };
  const schema: JsonObject = { type: "object", ...inside, ...(isFilled ? { minProperties: 1 } : {}) };
  return new Shape<Readonly<Record<string, Value>>>(schema, (part) => {
    if (!isRecord(part.value)) return refused(part, "a mapping", {});
    if (isFilled && part.keys.length === 0) part.refuse("must not be empty");
    return Object.fromEntries(part.keys.map((key) => [key, value.read(part.child(key) ?? NO_PART)]));
  });
}

/** What stands at the keys of a mapping. */
export type Fields = Readonly<Record<string, Shape<unknown>>>;

type Camel<Key> = Key extends `${infer Word}-${infer Rest}` ? `${Word}${Capitalize<Camel<Rest>>}` : Key;

/** The value of a mapping: `memory-limit` is `memoryLimit`. */
export type Values<Of extends Fields> = {
  readonly [Key in keyof Of as Camel<Key>]: Of[Key] extends Shape<infer Value> ? Value : never;
};

/** What the keys of a mapping have to be together. */
export interface MappingRule {
  /** What the JSON Schema can say of it. */
  readonly schema?: JsonObject;
  check(part: FilePart, mapping: {
    readonly what: string;
    readonly fields: Fields;
    /** Some key of it is not known: what seems to be missing may be just that, and has been told. */
    readonly hasUnknown: boolean;
  }): void;
}

/**
 * A mapping with fixed keys.
 *
 * @param what as messages call it: `"llm"`, `a step`
 * @param notMapping what is said of a value that is none; default: that it must be one
 */
export function mapping<const Of extends Fields>(
  what: string,
  fields: Of,
  { rules = [], isOpen = false, tellsAll = false, notMapping }: {
    /** Other keys are left alone. */
    readonly isOpen?: boolean;
    /** A key that is likely misspelt is told as missing too. */
    readonly tellsAll?: boolean;
    readonly rules?: readonly MappingRule[];
    readonly notMapping?: (value: unknown) => string | undefined;
  } = {},
): Shape<Values<Of>> {
  const entries = Object.entries(fields);
  const schema = {
    type: "object",
    properties: Object.fromEntries(entries.map(([key, { schema }]) => [key, schema])),
    required: entries.flatMap(([key, { absent }]) => absent === undefined ? [key] : []),
    additionalProperties: isOpen,
    ...rules.reduce<JsonObject>((all, { schema }) => ({ ...all, ...schema }), {}),
  };
  return new Shape(schema, (part) => {
    const { value } = part;
    if (isRecord(value)) {
      const hasUnknown = checkKeys(part, { what, fields, isOpen, tellsAll });
      for (const rule of rules) rule.check(part, { what, fields, hasUnknown });
    } else {
      part.refuse(notMapping?.(value) ?? `must be a mapping, found ${kindOf(value)}`);
    }
    const values = entries.map(([key, field]) => {
      const child = part.child(key);
      const isAbsent = child === undefined && field.absent !== undefined;
      return [camel(key), isAbsent ? field.absent?.value : field.read(child ?? NO_PART)];
    });
    return Object.fromEntries(values) as Values<Of>;
  });
}

/** `memory-limit` as a name: `memoryLimit`. */
export function camel(key: string): string {
  return key.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Tells keys that are not known, missing or deprecated. */
function checkKeys(
  part: FilePart,
  { what, fields, isOpen, tellsAll }: {
    readonly what: string;
    readonly fields: Fields;
    readonly isOpen: boolean;
    readonly tellsAll: boolean;
  },
): boolean {
  const unknown = isOpen ? [] : part.keys.filter((key) => !Object.hasOwn(fields, key));
  const meant = unknown.map((key) => {
    const [mistaken] = Object.entries(fields).find(([, { about }]) => about.mistakenFor === key) ?? [];
    const near = mistaken ?? nearestName(key, Object.keys(fields));
    part.refuse(`unknown key ${JSON.stringify(key)} in ${what}${orMeant(near)}`, {
      kind: "unknown-key",
      at: { key },
    });
    return near;
  });
  for (const [key, { absent, about: { missing, deprecated } }] of Object.entries(fields)) {
    if (part.child(key) === undefined) {
      if (absent !== undefined || !tellsAll && meant.includes(key)) continue;
      part.refuseKey(missing ?? `${JSON.stringify(key)} is required in ${what}`, "missing");
    } else if (deprecated !== undefined) {
      const message = `${JSON.stringify(key)} is deprecated`;
      part.child(key)?.refuse(message, { kind: "deprecated", at: "key", hint: deprecated });
    }
  }
  return unknown.length > 0;
}

/** A mapping with exactly one of these keys: the value that stands there. */
export function oneKeyOf<Value>(
  what: string,
  fields: Readonly<Record<string, Shape<Value>>>,
  standIn: Value,
): Shape<Value> {
  const optional = Object.entries(fields).map(([key, shape]) => [key, shape.optional] as const);
  const shape: Shape<Readonly<Record<string, Value | undefined>>> = mapping(
    what,
    Object.fromEntries(optional),
    { rules: [EXACTLY_ONE] },
  );
  return shape.to((values) => Object.values(values).find((value) => value !== undefined) ?? standIn);
}

const EXACTLY_ONE: MappingRule = {
  schema: { minProperties: 1, maxProperties: 1 },
  check: (part, { what, fields, hasUnknown }) => {
    const found = part.keys.filter((key) => Object.hasOwn(fields, key));
    if (found.length === 1 || (found.length === 0 && hasUnknown)) return;
    const isNone = found.length === 0;
    const words = isNone ? "" : `; found ${inWords(found)}`;
    part.refuseKey(
      `${what} needs exactly one of ${keysOfFormat(fields)}${words}`,
      isNone ? "missing" : "value",
    );
  },
};

/** The keys of the format itself, as a message lists them. */
export function keysOfFormat(fields: Fields): string {
  return inWords(Object.keys(fields).filter((key) => !fields[key]?.about.isExtension), ", ");
}

/** `"a", "b" and "c"` */
export function inWords(keys: readonly string[], last = " and "): string {
  const words = keys.map((key) => JSON.stringify(key));
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")}${last}${words.at(-1)}`;
}
