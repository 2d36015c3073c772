// The YAML of an operation or of the front matter: what it says, and the line of each key.
import { isRecord, ProblemsError, type SourceError } from "../../core/core.ts";
import { lineProblem, type Place } from "../yaml/front_matter.ts";
import { RepeatedKeyError, repeatedKeyMessage } from "../yaml/problem.ts";
import { findYamlTags } from "../yaml/tags.ts";
import { parseYaml, type YamlDocument } from "../yaml/yaml.ts";
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

/** Reads a piece of YAML as a mapping without tags; an empty one says nothing. */
export async function readDocumentMapping(yaml: string, place: MappingPlace): Promise<DocumentMapping> {
  const { document, problems } = await readDocumentYaml(yaml, place);
  const value = document?.value ?? {};
  const lines = new Map<string, number>();
  const notMapping = isRecord(value)
    ? []
    : [{ line: document?.at([])?.line ?? 1, column: 1, message: place.notMapping }];
  return {
    values: new Map(isRecord(value) ? Object.entries(value) : []),
    problems: [...problems, ...notMapping].map((problem) => ({
      ...problem,
      severity: "error",
      line: problem.line + place.linesAbove,
    })),
    isRead: document !== undefined && notMapping.length === 0,
    indent: indentOf(yaml),
    lineOf: (key) => {
      const line = lines.get(key) ?? document?.at([key], "key")?.line ?? 1;
      lines.set(key, line);
      return place.linesAbove + line;
    },
    writtenAt: (path) => document === undefined ? undefined : written(document, path),
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

// A key that is written twice does not hide what is wrong with the others: its later values are left out, and the rest is read.

/** Where a piece of YAML stands, and how its problems are told. */
interface MappingPlace {
  /** How many lines of its file come before it. */
  readonly linesAbove: number;
  /** What to say when it is no mapping. */
  readonly notMapping: string;
  /** What a key is called in errors, such as `parameter`. */
  readonly keyName: string;
}

/** A problem, with its place in the piece. */
type YamlPieceProblem = Place & { readonly message: string };

/** What was read of a piece of YAML. */
interface DocumentYaml {
  /** Absent when it could not be read. */
  readonly document?: YamlDocument;
  /** Syntax errors, tags and repeated keys; lines from 1 in the piece. */
  readonly problems: readonly YamlPieceProblem[];
}

/** Reads a piece of YAML, without tags and without keys that are there twice. */
async function readDocumentYaml(yaml: string, place: MappingPlace): Promise<DocumentYaml> {
  const tags = (await findYamlTags(yaml)).map(({ tag, ...at }) => ({ ...at, message: tagMessage(tag) }));
  const found: SourceError[] = [];
  const document = await parseYaml(yaml, { repeated: found }).catch((thrown) => {
    if (!(thrown instanceof ProblemsError)) throw thrown;
    found.push(...thrown.problems);
    return undefined;
  });
  const told = found.map((problem) => tellYaml(problem, { yaml, place }))
    .filter((problem) => !tags.some((tag) => isSamePlace(tag, problem)));
  return { problems: [...tags, ...told], document };
}

function tagMessage(tag: string): string {
  return `Found the YAML tag ${JSON.stringify(tag.slice(0, 60))}, and tags cannot be used here. ` +
    `A text that begins with "!" needs quotes.`;
}

function tellYaml(
  problem: SourceError,
  { yaml, place }: { readonly yaml: string; readonly place: MappingPlace },
): YamlPieceProblem {
  const { message, line, column = 1 } = lineProblem(problem);
  if (!(problem instanceof RepeatedKeyError)) return { line, column, message };
  const { key, firstLine } = problem;
  if (problem.span?.column === indentOf(yaml) + 1) {
    return { line, column: 1, message: `${place.keyName} ${JSON.stringify(key)} is given twice` };
  }
  return { line, column, message: repeatedKeyMessage(key, firstLine + place.linesAbove) };
}

/** How many blanks stand before the first key. */
function indentOf(yaml: string): number {
  const line = /^[ \t]*[^\s#].*$/m.exec(yaml)?.[0] ?? "";
  return line.length - line.trimStart().length;
}

function isSamePlace(a: Place, b: Place): boolean {
  return a.line === b.line && a.column === b.column;
}
