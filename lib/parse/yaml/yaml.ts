import type { Document, Node, YAMLError } from "yaml";
import { isRecord, ProblemsError, type SourceError, type Span, spanAt } from "../../core/core.ts";
import { isWayLost, yamlDocuments, type YamlLibrary, yamlLibrary } from "./library.ts";
import {
  RepeatedKeyError,
  spanOfRange,
  yamlProblem,
  yamlProblemAt,
  type YamlRange,
  type YamlSource,
} from "./problem.ts";
import { readYamlTree } from "./tree.ts";

/** A YAML document: its value, and where each part of it stands. */
export interface YamlDocument {
  /** Plain data: what YAML 1.2 with its core schema makes of the text; null for an empty one. */
  readonly value: unknown;
  /** The place of what is at a path (its key, or its value, the default); undefined when nothing is there. */
  at(path: readonly (string | number)[], what?: "key" | "value"): Span | undefined;
  /** A scalar as it is written; undefined for other values, and where an alias stands. */
  written(path: readonly (string | number)[]): string | undefined;
}

/**
 * Reads one YAML 1.2 document. Keys are text and unique; only the types of the core schema exist; no alias leads back into
 * itself, and aliases cannot blow the document up.
 *
 * @param options.repeated takes the keys that are there twice, so that they do not hide what else is wrong; without it they are thrown too
 * @throws {ProblemsError} with file, line, column, the text and a hint for each problem
 */
export async function parseYaml(
  text: string,
  { repeated, ...options }: { readonly file?: string; readonly repeated?: SourceError[] } = {},
): Promise<YamlDocument> {
  const library = await yamlLibrary();
  const source = { text, ...options };
  const list = yamlDocuments(text, library);
  throwProblems(problemsOf(list, source));
  const tree = readYamlTree(list[0]?.contents ?? null, { library, source });
  const isKept = (problem: SourceError): boolean =>
    repeated !== undefined && problem instanceof RepeatedKeyError;
  repeated?.push(...tree.problems.filter(isKept).slice(0, MAX_PROBLEMS));
  throwProblems(tree.problems.filter((problem) => !isKept(problem)));
  const { value, written } = tree;
  return { value, written, at: (path, what = "value") => spanOf(tree.rangeOf(path, what), source) };
}

/** What is wrong with a text, and what can be read of it nevertheless. */
export interface ReadableYaml extends YamlDocument {
  readonly problems: readonly SourceError[];
}

/** Reads one YAML document as `parseYaml` does. Of a text with problems the value is what its top mapping has at keys without any. */
export async function readableYaml(text: string): Promise<ReadableYaml> {
  const library = await yamlLibrary();
  const source = { text };
  const list = yamlDocuments(text, library);
  const root = list[0]?.contents ?? null;
  const tree = readYamlTree(root, { library, source });
  const lost = foundIn(list).find(isWayLost)?.pos[0];
  const wrong = problemsOf(list, source);
  const lines = new Set(wrong.map(({ span }) => span?.line));
  const lastLine = lost === undefined ? Infinity : spanAt(text, lost).line;
  const others = tree.problems.filter(({ span: { line } = { line: 1 } }) =>
    line < lastLine && !lines.has(line)
  );
  const problems = [...wrong, ...others].slice(0, MAX_PROBLEMS);
  const value = problems.length === 0
    ? tree.value
    : soundPart(tree.value, root, { library, lost, problems, text });
  const { written } = tree;
  return { value, problems, written, at: (path, what = "value") => spanOf(tree.rangeOf(path, what), source) };
}

const MAX_PROBLEMS = 20;

function foundIn(documents: readonly Document[]): readonly YAMLError[] {
  return documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
}

function problemsOf(documents: readonly Document[], source: YamlSource): readonly SourceError[] {
  const found = foundIn(documents);
  const broken = found.find(isWayLost);
  const kept = found.filter((error) => error === broken || !isWayLost(error));
  const problems = kept.map((error) => yamlProblem(error, source));
  const second = documents[1];
  return problems.length > 0 || second === undefined ? problems : [secondDocument(second, source)];
}

function secondDocument(second: Document, source: YamlSource): SourceError {
  const start = Math.max(0, source.text.lastIndexOf("---", second.range?.[0] ?? 0));
  return yamlProblemAt(source, [start, start + 3], {
    message: "Found a second YAML document, expected one",
    hint: "Make a file of its own for each document.",
  });
}

function throwProblems(problems: readonly SourceError[]): void {
  if (problems.length > 0) throw new ProblemsError(problems.slice(0, MAX_PROBLEMS));
}

function spanOf(range: YamlRange | undefined, source: YamlSource): Span | undefined {
  return range && spanOfRange(source, range);
}

interface Key {
  readonly name: string | undefined;
  /** Begin and end of the key with its value, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/**
 * Of a mapping with problems the keys that have none: written once, with no problem in a line of theirs, and before the place where the
 * reader lost its way, as the value that is cut there is not whole. Null for what is no mapping.
 */
function soundPart(
  value: unknown,
  root: Node | null,
  { library, lost, problems, text }: {
    readonly library: YamlLibrary;
    /** In UTF-16 units; undefined when it did not. */
    readonly lost: number | undefined;
    readonly problems: readonly SourceError[];
    readonly text: string;
  },
): unknown {
  if (!isRecord(value)) return null;
  const keys = keysOf(root, library);
  const read = lost === undefined ? keys : keys.filter(({ start }) => start <= lost).slice(0, -1);
  const lines = linesOf(problems, text);
  const sound = new Set<string>();
  for (const { name, start, end } of read) {
    const isTouched = lines.some((line) => start <= line.end && line.start <= end);
    if (name !== undefined && !isTouched) sound.add(name);
  }
  const seen = new Set<string | undefined>();
  for (const { name = "" } of keys) {
    if (seen.has(name)) sound.delete(name);
    seen.add(name);
  }
  return Object.fromEntries(Object.entries(value).filter(([name]) => sound.has(name)));
}

function keysOf(root: Node | null, { isMap, isNode, isScalar }: YamlLibrary): readonly Key[] {
  if (!isMap(root)) return [];
  return root.items.map(({ key, value }) => {
    const [start = 0, keyEnd = 0] = isNode(key) ? key.range ?? [] : [];
    const [, end = keyEnd] = isNode(value) ? value.range ?? [] : [];
    return { name: isScalar(key) ? String(key.value ?? "") : undefined, start, end };
  });
}

/** Where the lines with problems begin and end. */
function linesOf(
  problems: readonly SourceError[],
  text: string,
): readonly { readonly start: number; readonly end: number }[] {
  const wanted = new Set(problems.map(({ span }) => span?.line ?? 1));
  let start = 0;
  return text.split("\n").flatMap((line, index) => {
    const here = { start, end: start + line.length };
    start = here.end + 1;
    return wanted.has(index + 1) ? [here] : [];
  });
}
