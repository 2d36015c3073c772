// The YAML of an operation or of the front matter: what it says, and the line of each key.
import { isRecord } from "../../core/core.ts";
import { type LineProblem, lineProblem } from "../yaml/front_matter.ts";
import { repeatedKeyMessage } from "../yaml/problem.ts";
import { findYamlTags } from "../yaml/tags.ts";
import { MAX_PROBLEMS, readYaml, type YamlDocument } from "../yaml/yaml.ts";
import type { DocumentProblem } from "./tree.ts";

/** What a piece of YAML in a document says. */
export interface DocumentMapping {
  /** By their keys, in the order of the text. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Why there are no values, or what is wrong beside them. */
  readonly problems: readonly DocumentProblem[];
  /** Whether the YAML could be read at all: without it, nothing is known to be missing. */
  readonly isRead: boolean;
  /** How many blanks stand before each key. */
  readonly indent: number;
  /** The line of a key in its file, from 1. */
  lineOf(key: string): number;
  /** A scalar at a path as text: numbers, true and false as they are written, null as nothing; undefined when it is none. */
  writtenAt(path: readonly (string | number)[]): string | undefined;
}

/** Where a piece of YAML stands, and how its problems are told. */
interface MappingPlace {
  /** How many lines of its file come before it. */
  readonly linesAbove: number;
  /** What to say when it is no mapping. */
  readonly notMapping: string;
  /** What a key is called in errors, such as `parameter`. */
  readonly keyName: string;
}

/**
 * Reads a piece of YAML as a mapping without tags; an empty one says nothing. A key that is written twice does not hide what is wrong with the
 * others: its later values are left out, and the rest is read.
 */
export async function readDocumentMapping(
  text: string,
  { linesAbove, notMapping, keyName }: MappingPlace,
): Promise<DocumentMapping> {
  const yaml = await readYaml(text);
  const { tree: { keys: [first] }, source } = yaml;
  const indent = first === undefined ? 0 : source.spanOf(first[1]).column - 1;
  const tags = (await findYamlTags(text)).map(({ tag, line, column }) => ({
    line,
    column,
    message: `Found the YAML tag ${JSON.stringify(tag.slice(0, 60))}, and tags cannot be used here. ` +
      `A text that begins with "!" needs quotes.`,
  }));
  const told = yaml.problems.slice(0, MAX_PROBLEMS).map((problem): LineProblem => {
    const { line, column, message } = lineProblem(problem);
    if (problem.repeated === undefined) return { line, column, message };
    const { key, firstLine } = problem.repeated;
    return column === indent + 1
      ? { line, column: 1, message: `${keyName} ${JSON.stringify(key)} is given twice` }
      : { line, column, message: repeatedKeyMessage(key, firstLine + linesAbove) };
  }).filter(({ line, column }) => !tags.some((tag) => tag.line === line && tag.column === column));
  const isWhole = yaml.problems.every(({ repeated }) => repeated !== undefined);
  const value = isWhole ? yaml.value ?? {} : {};
  const isMapping = isRecord(value);
  const others = isMapping ? [] : [{ line: yaml.near([]).line, message: notMapping }];
  const lines = new Map<string, number>();
  return {
    values: new Map(isMapping ? Object.entries(value) : []),
    problems: [...tags, ...told, ...others].map(({ line, column = 1, message }: LineProblem) => ({
      line: line + linesAbove,
      column,
      message,
      severity: "error",
    })),
    isRead: isWhole && isMapping,
    indent,
    lineOf: (key) => {
      const line = lines.get(key) ?? yaml.at([key], "key")?.line ?? 1;
      lines.set(key, line);
      return linesAbove + line;
    },
    writtenAt: (path) => isWhole ? written(yaml, path) : undefined,
  };
}

function written(document: YamlDocument, path: readonly (string | number)[]): string | undefined {
  const value = path.reduce(
    (inside: unknown, key) =>
      typeof inside === "object" && inside !== null
        ? Object.getOwnPropertyDescriptor(inside, key)?.value
        : undefined,
    document.value,
  );
  if (typeof value === "string") return value;
  if (value === null) return "";
  return typeof value === "number" || typeof value === "boolean"
    ? document.written(path) ?? String(value)
    : undefined;
}
