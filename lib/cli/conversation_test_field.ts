import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import type { Span } from "../core/source_error.ts";
import type { FieldPath, TestFields, TextWanted } from "./test_fields.ts";

/** A value of a file of tests, with its place. What is wrong with it is told to its file, and read as if it were not there. */
export class TestField {
  readonly value: Json | undefined;
  readonly #fields: TestFields;
  readonly #path: FieldPath;

  private constructor(fields: TestFields, path: FieldPath, value: Json | undefined) {
    this.#fields = fields;
    this.#path = path;
    this.value = value;
  }

  /** All of a file. */
  static root(fields: TestFields): TestField {
    return new TestField(fields, [], fields.value);
  }

  get isThere(): boolean {
    return this.value !== undefined;
  }

  /** Of the value, or of what it would be in. */
  get span(): Span {
    return this.#fields.spanOf(this.#path);
  }

  get keySpan(): Span {
    return this.#fields.spanOf(this.#path, "key");
  }

  problem(message: string, what: "key" | "value" = "value"): void {
    this.#fields.problem(this.#path, message, what);
  }

  /** A mapping with these keys and no others: the same field, to ask for what is at them. */
  withKeys(keys: readonly string[]): TestField {
    this.#fields.mapping(this.value, this.#path, keys);
    return this;
  }

  /** What is at a key or an index; without a value where nothing is. */
  at(key: string | number): TestField {
    const { value } = this;
    const path = [...this.#path, key];
    if (Array.isArray(value)) return new TestField(this.#fields, path, value[Number(key)]);
    const isIn = value !== undefined && isJsonObject(value) && Object.hasOwn(value, key);
    return new TestField(this.#fields, path, isIn ? value[key] : undefined);
  }

  /** What is deeper in it. */
  below(path: FieldPath): TestField {
    return path.reduce((field: TestField, key) => field.at(key), this);
  }

  /** The fields of a mapping whose keys are anything. */
  entries(): readonly (readonly [key: string, field: TestField])[] {
    const mapping = this.#fields.mapping(this.value, this.#path);
    return Object.keys(mapping).map((key) => [key, this.at(key)]);
  }

  items(): readonly TestField[] {
    return this.#fields.list(this.value, this.#path).map((_item, index) => this.at(index));
  }

  /** A list, or its only item alone. */
  oneOrMore(): readonly TestField[] {
    return Array.isArray(this.value) ? this.items() : this.isThere ? [this] : [];
  }

  text(): string | undefined {
    return this.#fields.text(this.value, this.#path);
  }

  /** A mapping of texts; a number or a truth value is its text. */
  texts(): Readonly<Record<string, string>> {
    return this.#fields.texts(this.value, this.#path);
  }

  choice<Choice extends string | number>(choices: readonly Choice[]): Choice | undefined {
    return this.#fields.choice(this.value, this.#path, choices);
  }

  wholeNumber({ from, to = Infinity }: { readonly from: number; readonly to?: number }): number | undefined {
    const { value } = this;
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= from && value <= to) {
      return value;
    }
    const range = to === Infinity ? `from ${from}` : `from ${from} to ${to}`;
    this.problem(`Expected a whole number ${range}, found ${JSON.stringify(value)}`);
    return undefined;
  }

  /** `true`; absent and false are the same. */
  isTrue(): boolean {
    const { value = false } = this;
    if (typeof value !== "boolean") this.problem(`Expected true, found ${JSON.stringify(value)}`);
    return value === true;
  }

  /** A text that is to be equal, or a mapping with one of `equals`, `contains` and `matches`. */
  wanted(): TextWanted | undefined {
    return this.#fields.wanted(this.value, this.#path);
  }
}
