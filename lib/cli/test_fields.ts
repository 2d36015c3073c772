// Values of a test file with their places: everything that is wrong with one is told at once.

import { isJsonObject, toJson } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { didYouMean } from "../core/nearest.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { SourceError } from "../core/source_error.ts";
import type { Span } from "../core/source_error.ts";
import { yamlFound } from "../parse/check_fields.ts";
import { parseYaml } from "../parse/yaml.ts";
import type { YamlDocument } from "../parse/yaml.ts";
import type { TestSource } from "./file_test.ts";

/** The way to a value. */
export type FieldPath = readonly (string | number)[];

/** How a text is to be. */
export interface TextWanted {
  readonly test: "equals" | "contains" | "matches";
  readonly text: string;
  readonly span: Span;
}

const TESTS = ["equals", "contains", "matches"] as const;

/** Reads the values of one file; what is wrong with them is in `problems`. */
export class TestFields {
  readonly problems: SourceError[] = [];
  readonly value: Json;
  readonly #yaml: YamlDocument;
  readonly #source: TestSource;

  private constructor(source: TestSource, yaml: YamlDocument) {
    this.#source = source;
    this.#yaml = yaml;
    this.value = toJson(yaml.value);
  }

  /** @throws {ProblemsError} for what is no YAML */
  static async read(source: TestSource): Promise<TestFields> {
    const repeated: SourceError[] = [];
    const fields = new TestFields(source, await parseYaml(source.text, { file: source.file, repeated }));
    fields.problems.push(...repeated);
    return fields;
  }

  /** The place of a value, or of what it would be in. */
  spanOf(path: FieldPath, what: "key" | "value" = "value"): Span {
    for (let length = path.length; length > 0; length--) {
      const span = this.#yaml.at(path.slice(0, length), what);
      if (span !== undefined) return span;
    }
    return { file: this.#source.file, line: 1, column: 1 };
  }

  problem(path: FieldPath, message: string, what: "key" | "value" = "value"): void {
    const span = this.spanOf(path, what);
    this.problems.push(new SourceError(message, { span, source: this.#source.text, code: "E-test" }));
  }

  /** @throws {ProblemsError} with all of them, in the order of the text, if there are any */
  throwProblems(): void {
    const at = (
      { span: { line, column } = { line: 0, column: 0 } }: SourceError,
    ): readonly number[] => [line, column];
    const inOrder = this.problems.toSorted((a, b) => {
      const [[lineA = 0, columnA = 0], [lineB = 0, columnB = 0]] = [at(a), at(b)];
      return lineA - lineB || columnA - columnB;
    });
    if (inOrder.length > 0) throw new ProblemsError(inOrder);
  }

  /** A mapping with these keys and no others; empty where it is none. */
  mapping(value: Json | undefined, path: FieldPath, keys?: readonly string[]): JsonObject {
    if (value === undefined) return {};
    if (value === null || !isJsonObject(value)) {
      this.problem(path, `Expected a mapping, found ${yamlFound(value)}`);
      return {};
    }
    for (const key of Object.keys(value)) {
      if (keys === undefined || keys.includes(key)) continue;
      const hint = didYouMean(key, keys) || ` The keys here are ${keys.join(", ")}.`;
      this.problem([...path, key], `Unknown key ${JSON.stringify(key)}.${hint}`, "key");
    }
    return value;
  }

  list(value: Json | undefined, path: FieldPath): readonly Json[] {
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    this.problem(path, `Expected a list, found ${yamlFound(value)}`);
    return [];
  }

  text(value: Json | undefined, path: FieldPath): string | undefined {
    if (value === undefined || typeof value === "string") return value;
    this.problem(path, `Expected text, found ${yamlFound(value)}`);
    return undefined;
  }

  /** A mapping of texts; a number or a truth value is its text. */
  texts(value: Json | undefined, path: FieldPath): Readonly<Record<string, string>> {
    const entries = Object.entries(this.mapping(value, path)).map(([key, each]) => {
      const isPlain = typeof each === "number" || typeof each === "boolean";
      return [key, isPlain ? String(each) : this.text(each, [...path, key]) ?? ""] as const;
    });
    return Object.fromEntries(entries);
  }

  choice<Choice extends string | number>(
    value: Json | undefined,
    path: FieldPath,
    choices: readonly Choice[],
  ): Choice | undefined {
    if (value === undefined) return undefined;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) {
      this.problem(path, `Expected ${choices.join(", ")}, found ${JSON.stringify(value)}`);
    }
    return found;
  }

  pattern(value: Json | undefined, path: FieldPath): RegExp | undefined {
    const text = this.text(value, path);
    if (text === undefined) return undefined;
    try {
      return new RegExp(text, "u");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.problem(path, `Expected a regular expression (${why})`);
      return undefined;
    }
  }

  /** A text that is to be equal, or a mapping with one of `equals`, `contains` and `matches`. */
  wanted(value: Json | undefined, path: FieldPath): TextWanted | undefined {
    if (value === undefined) return undefined;
    if (typeof value === "string") return { test: "equals", text: value, span: this.spanOf(path) };
    const mapping = this.mapping(value, path, TESTS);
    const given = TESTS.filter((test) => Object.hasOwn(mapping, test));
    const [test] = given;
    if (test === undefined || given.length > 1) {
      this.problem(path, "Expected a text, or a mapping with one of equals, contains and matches");
      return undefined;
    }
    const at = [...path, test];
    if (test === "matches") this.pattern(mapping.matches, at);
    return { test, text: this.text(mapping[test], at) ?? "", span: this.spanOf(at) };
  }
}
