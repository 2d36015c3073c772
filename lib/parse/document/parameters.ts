import { isRecord } from "../../core/core.ts";
import type { DocumentMapping } from "./mapping.ts";
import { didYouMean } from "./near.ts";
import type { Reference, ToolChoice } from "./operation.ts";
import type { DocumentProblem } from "./tree.ts";

const MOST_SHOWN = 60;
const MOST_TOLD = 100;
const MOST_UNKNOWN = 20;

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
    const near = typeof value === "string" && words.length > 2 ? didYouMean(value, words) : ""; // of two both are named
    return this.refuse(key, `${key} must be ${wanted}, not ${this.#shown(key, value)}${near}`);
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

  /** Tools, as a parameter or a default of the file: `none`, `all`, a name, names between commas, or a list of names. */
  tools(): ToolChoice | undefined {
    const value = this.value("tools");
    if (value === undefined) return undefined;
    const written: readonly unknown[] = Array.isArray(value)
      ? value
      : typeof value === "string"
      ? value.split(",")
      : [value];
    const names = new Set<string>();
    for (const item of written) {
      if (typeof item !== "string") return this.refuse("tools", notText("tools", item));
      if (item.trim() !== "") names.add(item.trim());
    }
    const [first] = names;
    if (first === undefined) return written.length === 0 ? "none" : this.refuse("tools", "tools is empty");
    if (names.size === 1 && (first === "none" || first === "all")) return first;
    const word = ["none", "all"].find((word) => names.has(word));
    return word === undefined
      ? [...names]
      : this.refuse("tools", `tools: "${word}" cannot stand beside other names`);
  }

  /**
   * References as documents.md 4 has them: one, a list of them, or `{block_uri: refs}`; at least one, without blanks around.
   *
   * @param written what holds them, within the value of the key; its own value by default
   * @param label what they are called in an error
   */
  references(key: string, written = this.value(key), label = key): readonly Reference[] | undefined {
    if (written === undefined) return undefined;
    if (isRecord(written) && Object.keys(written).length === 1 && written.block_uri !== undefined) {
      return this.references(key, written.block_uri, label);
    }
    const items: readonly unknown[] = Array.isArray(written) ? written : [written];
    if (!items.every((item) => typeof item === "string")) {
      return this.refuse(key, `${label} must be a reference or a list of references`);
    }
    const references = items.map((item) => item.trim());
    if (references.length === 0 || references.includes("")) return this.refuse(key, `${label} is empty`);
    return references.every(isStarAtEnd)
      ? references
      : this.refuse(key, '* may stand only at the end of a reference, as in "a/*"');
  }

  /** A scalar inside a value as text; see {@linkcode DocumentMapping.writtenAt}. */
  writtenAt(path: readonly (string | number)[]): string | undefined {
    return this.#mapping.writtenAt(path);
  }

  /** The line of each of some keys that is there. */
  lines(keys: readonly string[]): ReadonlyMap<string, number> {
    return new Map(keys.filter((key) => this.has(key)).map((key) => [key, this.#mapping.lineOf(key)]));
  }

  /** Tells keys that are none of ours. @param message undefined where nothing is wrong with it */
  unknown(message: (key: string) => string | undefined): void {
    let told = 0;
    for (const key of this.#mapping.values.keys()) {
      const words = message(key);
      if (words === undefined) continue;
      this.refuse(key, words);
      if (++told >= MOST_UNKNOWN) return; // each is compared with all names
    }
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

/** What to say of something that should be text. */
export function notText(label: string, value: unknown): string {
  return `${label} must be text${typeof value === "object" && value !== null ? "" : " (put it in quotes)"}`;
}

/** Whether it has a `*` only as a step of its own, after another one (documents.md 5.5). */
function isStarAtEnd(reference: Reference): boolean {
  const star = reference.indexOf("*");
  return star === -1 || (star === reference.length - 1 && star > 1 && reference[star - 1] === "/");
}

/** The tool that every model may be offered: it runs another document (documents.md 8.5). */
export const CALLEE_TOOL = "fractalic_run";
