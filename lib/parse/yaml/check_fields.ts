import { didYouMeanNames, isRecord } from "../../core/core.ts";
import { shown } from "../../schema/issue.ts";
import type { FieldPath, FrontMatterFields, LineProblem } from "./front_matter.ts";

/** What a key of a front matter may hold. */
export interface FieldRule {
  isFine(value: unknown): boolean;
  /** Of each part of a list or mapping that is fine itself. Default: every part is. */
  isFinePart?(part: unknown): boolean;
  /** What is expected, as the end of a sentence. */
  readonly wanted: string;
  /** The only ones there are, for what may be meant. */
  readonly words?: readonly string[];
}

/** The fields that can be used, and what is wrong with the others. */
export interface CheckedFields {
  /** In a list, null stands for a part that cannot be used: the others keep their places. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly problems: readonly LineProblem[];
}

/** So many mistakes are told of one file: to find the place of each takes a look through all its keys. */
export const MOST_TOLD = 100;

/** Checks every key and every value of a front matter. @param unknown what is wrong with a key that has no rule; undefined when nothing is */
export function checkFields(
  front: FrontMatterFields,
  { rules, unknown }: {
    readonly rules: ReadonlyMap<string, FieldRule>;
    readonly unknown: (key: string) => string | undefined;
  },
): CheckedFields {
  const problems: LineProblem[] = [];
  const refuse = (path: FieldPath, message: string) => {
    if (problems.length < MOST_TOLD) problems.push({ ...front.placeOf(path), message });
  };
  const fields = Object.entries(front.fields).flatMap(([key, value]) => {
    const rule = rules.get(key);
    if (rule === undefined) {
      const message = unknown(key);
      if (message !== undefined) refuse([key], message);
      return [];
    }
    const message = (found: unknown) =>
      `${key} must be ${rule.wanted}, found ${yamlFound(found)}${
        typeof found === "string" ? didYouMeanNames(found, rule.words ?? []) : ""
      }`;
    if (rule.isFine(value)) {
      return [[key, fineParts(value, rule, (at, part) => refuse([key, at], message(part)))]];
    }
    refuse([key], message(value));
    return [];
  });
  return { fields: Object.fromEntries(fields), problems };
}

/** A value in the words of YAML. */
export function yamlFound(value: unknown): string {
  return value === null
    ? "nothing"
    : Array.isArray(value)
    ? "a list"
    : isRecord(value)
    ? "a mapping"
    : shown(value);
}

function fineParts(
  value: unknown,
  { isFinePart }: FieldRule,
  refuse: (at: string | number, part: unknown) => void,
): unknown {
  if (isFinePart === undefined) return value;
  if (Array.isArray(value)) {
    return value.map((part: unknown, index) => {
      if (isFinePart(part)) return part;
      refuse(index, part);
      return null;
    });
  }
  if (!isRecord(value)) return value;
  const fine = Object.entries(value).filter(([key, part]) => {
    if (isFinePart(part)) return true;
    refuse(key, part);
    return false;
  });
  return Object.fromEntries(fine);
}

/** Text that says something. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** A list of texts. */
export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
