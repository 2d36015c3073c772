import { isJsonObject } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";

/** A process said something that is no message. Nothing of what it said stands in here. */
export class MessageError extends Error {
  override readonly name = "MessageError";
}

/** As deep as the result of a gadget may be. */
const MOST_LEVELS = 500;

/** The fields of an object that came as JSON: each is read as what it has to be, and what it is not is a {@linkcode MessageError}. */
export class Fields {
  readonly #values: object;
  readonly #what: string;

  private constructor(values: object, what: string) {
    this.#values = values;
    this.#what = what;
  }

  /** @param what as errors name it */
  static of(value: unknown, what: string): Fields {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return new Fields(value, what);
    throw new MessageError(`found ${kindOf(value)} as ${what}, expected an object`);
  }

  get names(): readonly string[] {
    return Object.keys(this.#values);
  }

  text(name: string): string {
    const value = this.#get(name);
    return typeof value === "string" ? value : this.#fail(name, "a text");
  }

  maybeText(name: string): string | undefined {
    return this.#has(name) ? this.text(name) : undefined;
  }

  oneOf<Name extends string>(name: string, names: readonly Name[]): Name {
    const value = this.#get(name);
    return names.find((known) => known === value) ?? this.#fail(name, "a known name");
  }

  /** A whole number that counts exactly. */
  id(name: string): number {
    const value = this.#get(name);
    const isId = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
    return isId ? value : this.#fail(name, "a number of something");
  }

  maybeId(name: string): number | undefined {
    return this.#has(name) ? this.id(name) : undefined;
  }

  /** At least 1. */
  maybeCount(name: string): number | undefined {
    const value = this.maybeNumber(name);
    return value === undefined || value >= 1 ? value : this.#fail(name, "at least 1");
  }

  number(name: string): number {
    const value = this.#get(name);
    return typeof value === "number" && Number.isFinite(value) ? value : this.#fail(name, "a number");
  }

  maybeNumber(name: string): number | undefined {
    return this.#has(name) ? this.number(name) : undefined;
  }

  flag(name: string): boolean {
    const value = this.#get(name);
    return typeof value === "boolean" ? value : this.#fail(name, "true or false");
  }

  maybeFlag(name: string): boolean | undefined {
    return this.#has(name) ? this.flag(name) : undefined;
  }

  isTrue(name: string): boolean {
    return this.#get(name) === true;
  }

  list(name: string): readonly unknown[] {
    const value = this.#get(name);
    return Array.isArray(value) ? value : this.#fail(name, "a list");
  }

  maybeList(name: string): readonly unknown[] | undefined {
    return this.#has(name) ? this.list(name) : undefined;
  }

  texts(name: string): readonly string[] {
    return this.list(name).map((item) => typeof item === "string" ? item : this.#fail(name, "texts"));
  }

  /** What this object is when all of its fields are texts. */
  allTexts(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.names.map((name) => [name, this.text(name)]));
  }

  inside(name: string): Fields {
    return Fields.of(this.#get(name), name);
  }

  maybeInside(name: string): Fields | undefined {
    return this.#has(name) ? this.inside(name) : undefined;
  }

  maybeJson(name: string): Json | undefined {
    if (!this.#has(name)) return undefined;
    const value = this.#get(name);
    return isSoundJson(value) ? value : this.#fail(name, `JSON of at most ${MOST_LEVELS} levels`);
  }

  object(name: string): JsonObject {
    return this.maybeObject(name) ?? this.#fail(name, "an object");
  }

  maybeObject(name: string): JsonObject | undefined {
    const value = this.maybeJson(name);
    return value === undefined || isJsonObject(value) ? value : this.#fail(name, "an object");
  }

  #has(name: string): boolean {
    return Object.hasOwn(this.#values, name);
  }

  #get(name: string): unknown {
    return this.#has(name) ? Object.getOwnPropertyDescriptor(this.#values, name)?.value : undefined;
  }

  #fail(name: string, expected: string): never {
    throw new MessageError(
      `found ${kindOf(this.#get(name))} as "${name}" of ${this.#what}, expected ${expected}`,
    );
  }
}

/** A field that is there when its value is. */
export function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [name in Name]?: Value } {
  const field: { [name in Name]?: Value } = {};
  if (value !== undefined) field[name] = value;
  return field;
}

/** Whether a parsed value is one that everybody can walk through; level by level, since it may be deep. */
function isSoundJson(value: unknown): value is Json {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= MOST_LEVELS; depth++) {
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === "number" ? !Number.isFinite(item) : item === undefined) return false; // 1e999
      if (typeof item === "object" && item !== null) {
        for (const child of Object.values(item)) next.push(child);
      }
    }
    if (next.length === 0) return true;
    level = next;
  }
  return false;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
