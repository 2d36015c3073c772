import { isRecord } from "../core/json.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { SourceError, type Span } from "../core/source_error.ts";
import { MOST_TOLD } from "./check_fields.ts";
import { didYouMean } from "./document_near.ts";
import type { FieldPath } from "./front_matter.ts";
import { kindOf } from "./shape/shape.ts";
import { parseYaml, type YamlDocument } from "./yaml.ts";

/** A mapping of a file, and the way to it. */
export interface FieldMapping {
  readonly path: FieldPath;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What of a mapping is read. */
export interface MappingRule {
  /** What it is, as messages name it: `a document`. */
  readonly what: string;
  /** The keys it may have. Absent: any. */
  readonly keys?: readonly string[];
}

/** The parts of one YAML file, each asked for by what it has to be. What it is not is noted with its place, and the rest goes on. */
export class FileFields {
  readonly root: unknown;
  readonly #file: string;
  readonly #text: string;
  readonly #at: YamlDocument["at"];
  readonly #problems: SourceError[] = [];

  private constructor({ value, at }: YamlDocument, { file, text }: { file: string; text: string }) {
    this.root = value;
    this.#at = at;
    this.#file = file;
    this.#text = text;
  }

  /** @throws {ProblemsError} for what is no YAML */
  static async of(text: string, file: string): Promise<FileFields> {
    const repeated: SourceError[] = [];
    const fields = new FileFields(await parseYaml(text, { file, repeated }), { file, text });
    fields.#problems.push(...repeated);
    return fields;
  }

  /** Notes a problem: `documents[0].file: MESSAGE`. @param key of a mapping, which is to be looked at */
  refuse(path: FieldPath, message: string, key?: string): void {
    if (this.#problems.length >= MOST_TOLD) return;
    this.#problems.push(this.#problem(path, message, { key }));
  }

  /** A problem of the file that is found later. */
  problemAt(path: FieldPath, message: string, cause?: unknown): SourceError {
    return this.#problem(path, message, { cause });
  }

  #problem(
    path: FieldPath,
    message: string,
    { key, cause }: { readonly key?: string; readonly cause?: unknown },
  ): SourceError {
    const span = key === undefined ? this.#at(path) : this.#at([...path, key], "key");
    return new SourceError(`${pathText(path)}: ${message}`, {
      span: path.length === 0 && key === undefined || span === undefined
        ? { file: this.#file, line: 1, column: 1 }
        : span,
      source: this.#text,
      code: "E-file",
      cause,
    });
  }

  /** @throws {ProblemsError} when anything was noted, in the order of the file */
  end(): void {
    const inOrder = (a: Span | undefined, b: Span | undefined): number =>
      (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
    const problems = this.#problems.toSorted((a, b) => inOrder(a.span, b.span));
    if (problems.length > 0) throw new ProblemsError(problems);
  }

  mapping(value: unknown, path: FieldPath, { what, keys }: MappingRule): FieldMapping | undefined {
    if (!isRecord(value)) {
      this.refuse(path, `must be a mapping, found ${kindOf(value)}`);
      return undefined;
    }
    for (const key of keys === undefined ? [] : Object.keys(value)) {
      if (keys?.includes(key)) continue;
      const near = didYouMean(key, keys ?? []);
      this.refuse(path, `unknown key ${JSON.stringify(key)} in ${what}${near}`, key);
    }
    return { path, fields: value };
  }

  /** A part that has to be there. */
  required<Value>(
    { path, fields }: FieldMapping,
    { key, what, read }: {
      readonly key: string;
      readonly what: string;
      readonly read: (value: unknown, path: FieldPath) => Value | undefined;
    },
  ): Value | undefined {
    if (Object.hasOwn(fields, key)) return read(fields[key], [...path, key]);
    this.refuse(path, `"${key}" is required in ${what}`);
    return undefined;
  }

  /** A part that may be there; null counts as nothing. */
  optional<Value>(
    { path, fields }: FieldMapping,
    key: string,
    read: (value: unknown, path: FieldPath) => Value | undefined,
  ): Value | undefined {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return value === undefined || value === null ? undefined : read(value, [...path, key]);
  }

  readonly text = (value: unknown, path: FieldPath): string | undefined => {
    if (typeof value === "string" && value.trim() !== "") return value;
    const found = typeof value === "string" ? "must not be empty" : `must be text, found ${kindOf(value)}`;
    this.refuse(path, found);
    return undefined;
  };

  /** The items that can be read. */
  list<Item>(
    value: unknown,
    path: FieldPath,
    read: (item: unknown, path: FieldPath) => Item | undefined,
  ): readonly Item[] {
    if (!Array.isArray(value)) {
      this.refuse(path, `must be a list, found ${kindOf(value)}`);
      return [];
    }
    return value.flatMap((item: unknown, index) => {
      const one = read(item, [...path, index]);
      return one === undefined ? [] : [one];
    });
  }

  /** One of these words. */
  choice<Word extends string>(value: unknown, path: FieldPath, words: readonly Word[]): Word | undefined {
    const word = words.find((each) => each === value);
    if (word !== undefined) return word;
    const found = typeof value === "string" ? JSON.stringify(value) : kindOf(value);
    const near = typeof value === "string" ? didYouMean(value, words) : "";
    this.refuse(
      path,
      `must be one of ${words.map((each) => `"${each}"`).join(", ")}; found ${found}${near}`,
    );
    return undefined;
  }

  /** The text "0.1", without which nobody knows what the rest means. */
  readonly version = (value: unknown, path: FieldPath): string | undefined => {
    if (value === "0.1") return value;
    this.refuse(path, `must be the text "0.1"${value === 0.1 ? "; put it in quotes" : ""}`);
    return undefined;
  };

  /** Notes each id that was there before. @param what `document id` */
  unique(what: string, ids: readonly { readonly id: string | undefined; readonly path: FieldPath }[]): void {
    const first = new Map<string, FieldPath>();
    for (const { id, path } of ids) {
      if (id === undefined || id === "") continue;
      const before = first.get(id);
      if (before === undefined) first.set(id, path);
      else {
        const at = pathText(before);
        this.refuse([...path, "id"], `${what} ${JSON.stringify(id)} is already used at ${at}`);
      }
    }
  }
}

/** `documents[0].metadata.name`; `file` for the whole. */
function pathText(path: FieldPath): string {
  const text = path.map((part) => typeof part === "number" ? `[${part}]` : `.${part}`).join("");
  return text === "" ? "file" : text.replace(/^\./, "");
}
