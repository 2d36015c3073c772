import type { DocumentMapping } from "./document_mapping.ts";
import type { DocumentProblem } from "./document_node.ts";
import type { Reference, ToolChoice } from "./operation_fields.ts";
import { PARAMETERS } from "./operation_table.ts";
import { notText, type Part } from "./part.ts";
import { readReferences } from "./references.ts";
import { readToolChoice } from "./tool_choice.ts";

const MOST_SHOWN = 60;
const MOST_TOLD = 100;

/**
 * Reads typed values from a mapping and keeps what is wrong with them, in the texts of documents.md 4. Every method gives
 * undefined where there is nothing, and where what there is cannot be used.
 */
export class ParameterReader {
  readonly problems: DocumentProblem[] = [];
  readonly #mapping: DocumentMapping;
  readonly #told = new Set<string>();

  constructor(mapping: DocumentMapping) {
    this.#mapping = mapping;
  }

  /** Whether a key is there, with whatever value. */
  has(key: string): boolean {
    return this.#mapping.values.has(key);
  }

  /** What a key has, null and empty text too. */
  written(key: string): unknown {
    return this.#mapping.values.get(key);
  }

  /** What a key has, whatever it is; an empty value is a problem. */
  value(key: string): unknown {
    const value = this.written(key);
    return value === null || value === "" ? this.refuse(key, `${key} is empty`) : value;
  }

  /** Text that is not only blanks. */
  text(key: string): string | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    if (typeof value !== "string") return this.refuse(key, notText(key, value));
    return value.trim() === "" ? this.refuse(key, `${key} is empty`) : value;
  }

  /** One of some words. */
  word<Word extends string>(key: string, words: readonly Word[]): Word | undefined {
    const value = this.value(key);
    const found = words.find((word) => word === value);
    if (value === undefined || found !== undefined) return found;
    const wanted = [words.slice(0, -1).join(", "), ...words.slice(-1)].join(" or ");
    return this.refuse(key, `${key} must be ${wanted}, not ${this.#shown(key, value)}`);
  }

  /** True or false. */
  flag(key: string): boolean | undefined {
    const value = this.value(key);
    if (value === undefined || typeof value === "boolean") return value;
    return this.refuse(key, `${key} must be true or false`);
  }

  /** A number. @param wanted what is expected, as the end of a sentence */
  number(
    key: string,
    { isFine, wanted }: { readonly isFine: (value: number) => boolean; readonly wanted: string },
  ): number | undefined {
    const value = this.value(key);
    if (value === undefined || (typeof value === "number" && isFine(value))) return value;
    return this.refuse(key, `${key} must be ${wanted}`);
  }

  /** Tools, as a parameter or a default of the file. */
  tools(): ToolChoice | undefined {
    const value = this.value("tools");
    return value === undefined ? undefined : this.part("tools", readToolChoice(value));
  }

  /** At least one reference. */
  references(key: string): readonly Reference[] | undefined {
    const value = this.value(key);
    return value === undefined ? undefined : this.part(key, readReferences(value, key));
  }

  /** What was read from a part of a value; a problem is one of its key. */
  part<T>(key: string, part: Part<T>): T | undefined {
    return "value" in part ? part.value : this.refuse(key, part.problem);
  }

  /** A scalar inside a value as text; see {@linkcode DocumentMapping.writtenAt}. */
  writtenAt(path: readonly (string | number)[]): string | undefined {
    return this.#mapping.writtenAt(path);
  }

  /** The line of each parameter that is there; a key that is none has no line here. */
  lines(): ReadonlyMap<string, number> {
    const keys = Object.keys(PARAMETERS).filter((key) => this.has(key));
    return new Map(keys.map((key) => [key, this.#mapping.lineOf(key)]));
  }

  /** Tells what is wrong with a key; once, however often it is found. */
  refuse(key: string, message: string): undefined {
    this.#tell(key, { severity: "error", message });
  }

  /** Tells what is likely not meant. */
  warn(key: string, message: string): void {
    this.#tell(key, { severity: "warning", message });
  }

  #tell(key: string, what: { readonly severity: "error" | "warning"; readonly message: string }): void {
    const line = this.#mapping.lineOf(key);
    const told = `${line}: ${what.message}`;
    if (this.#told.has(told) || this.#told.size >= MOST_TOLD) return;
    this.#told.add(told);
    this.problems.push({ ...what, line, column: 1 });
  }

  #shown(key: string, value: unknown): string {
    if (Array.isArray(value)) return "a list";
    const text = this.#mapping.writtenAt([key]);
    if (text === undefined) return "a mapping";
    return JSON.stringify(text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}...`);
  }
}

/** From 1. */
export const FROM_ONE = {
  isFine: (value: number): boolean => Number.isSafeInteger(value) && value >= 1,
  wanted: "a whole number from 1",
};

/** What a model takes. */
export const TEMPERATURE = {
  isFine: (value: number): boolean => value >= 0 && value <= 2,
  wanted: "a number from 0 to 2",
};

/** In the order in which errors name them. */
export const MERGE_MODES = ["append", "prepend", "replace"] as const;
