import type { Json, JsonObject } from "../core/json.ts";
import { toJson } from "../core/json.ts";
import type { AgentPart } from "./agent_part.ts";
import type { Shape } from "./agent_shape.ts";
import { kindOf } from "./file_fields.ts";
import { printableNumber } from "./yaml_tree.ts";

/** Text as it is. */
export const TEXT: Shape<string> = {
  schema: { type: "string" },
  read: (part) =>
    typeof part.value === "string" ? part.value : refused(part, { wanted: "text", standIn: "" }),
};

/** Text that says something. */
export const NAME: Shape<string> = {
  schema: { type: "string", minLength: 1 },
  read: (part) => {
    if (part.value === "") part.refuse("must not be empty");
    return TEXT.read(part);
  },
};

/** Text with placeholders. A number or a truth value is read as it is written. */
export const TEMPLATE: Shape<string> = {
  schema: {
    type: ["string", "number", "boolean"],
    description:
      "Text with {{slot}} or {{destination.slot}} placeholders. A number or boolean is read as its text.",
  },
  read: (part) => {
    const { value } = part;
    return typeof value === "number" || typeof value === "boolean" ? part.written(value) : TEXT.read(part);
  },
};

/** `true` or `false`. */
export const FLAG: Shape<boolean> = {
  schema: { type: "boolean" },
  read: (part) =>
    typeof part.value === "boolean" ? part.value : refused(part, { wanted: "true or false", standIn: false }),
};

/** Any finite number. */
export const NUMBER: Shape<number> = {
  schema: { type: "number" },
  read: (part) => {
    const { value } = part;
    if (typeof value !== "number") return refused(part, { wanted: "a number", standIn: 0 });
    if (!Number.isFinite(value)) part.refuse("must be a finite number");
    return value;
  },
};

/** Anything that JSON can hold. */
export const ANYTHING: Shape<Json> = {
  schema: {},
  read: (part) => {
    try {
      return toJson(part.value);
    } catch (thrown) {
      if (!(thrown instanceof TypeError)) throw thrown;
      part.refuse("must hold finite numbers only"); // .nan and .inf are all that YAML has beyond JSON
      return null;
    }
  },
};

/** The same for templates: a number is printed as it is written, `3.10`. */
export const PRINTABLE: Shape<Json> = {
  schema: {},
  read: (part) => {
    const value = ANYTHING.read(part);
    return typeof value === "number" ? printableNumber(value, part.written(value)) : value;
  },
};

/** A number of a range, the ends included. */
export function numberBetween(minimum: number, maximum: number): Shape<number> {
  return {
    schema: { type: "number", minimum, maximum },
    read: (part) => {
      const value = NUMBER.read(part);
      if (value < minimum || value > maximum) part.refuse(`must be between ${minimum} and ${maximum}`);
      return value;
    },
  };
}

/** A number without a fraction. */
export function wholeNumber(minimum: number): Shape<number> {
  return {
    schema: { type: "integer", minimum },
    read: (part) => {
      const { value } = part;
      if (typeof value === "number" && Number.isSafeInteger(value) && value >= minimum) return value;
      part.refuse(`must be a whole number, ${minimum} or more`);
      return minimum;
    },
  };
}

/** One of these words. @param extensions those of Orrery, which are not told of */
export function oneOf<const Word extends string>(
  words: readonly [Word, ...Word[]],
  extensions: readonly Word[] = [],
): Shape<Word> {
  const known = [...words, ...extensions].map((word) => JSON.stringify(word)).join(", ");
  return {
    schema: wordsSchema(words, extensions),
    read: (part) => {
      const { value } = part;
      const word = [...words, ...extensions].find((each) => each === value);
      if (word !== undefined) return word;
      const found = typeof value === "string" ? JSON.stringify(value) : kindOf(value);
      part.refuse(`must be one of ${known}; found ${found}`);
      return words[0];
    },
  };
}

function wordsSchema(words: readonly string[], extensions: readonly string[]): JsonObject {
  const own = extensions.map((word) => ({ const: word, "x-extension": true }));
  return own.length === 0 ? { enum: words } : { anyOf: [{ enum: words }, ...own] };
}

/** Notes what a value is in place of what it has to be. */
export function refused<Value>(
  part: AgentPart,
  { wanted, standIn }: { readonly wanted: string; readonly standIn: Value },
): Value {
  part.refuse(`must be ${wanted}, found ${kindOf(part.value)}`);
  return standIn;
}
