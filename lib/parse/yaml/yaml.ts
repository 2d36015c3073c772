import type { YAMLError } from "yaml";
import { isRecord, ProblemsError, type SourceError, type Span } from "../../core/core.ts";
import { isWayLost, yamlDocuments, yamlLibrary } from "./library.ts";
import { libraryProblem, YamlProblem, type YamlSource } from "./problem.ts";
import { type YamlPath, YamlTree } from "./tree.ts";

/** A YAML document: its value, and where each part of it stands. */
export interface YamlDocument {
  /** Plain data: what YAML 1.2 with its core schema makes of the text; null for an empty one. */
  readonly value: unknown;
  /** The place of what is at a path (its key, or its value, the default); undefined when nothing is there. */
  at(path: YamlPath, what?: "key" | "value"): Span | undefined;
  /** The same; of what is not there the place of what would hold it. @param at the value (the default), its key, or a key inside it */
  near(path: YamlPath, at?: "key" | "value" | { readonly key: string }): Span;
  /** A scalar as it is written; undefined for other values, and where an alias stands. */
  written(path: YamlPath): string | undefined;
}

/** A YAML text as far as it can be read. */
export interface ReadYaml extends YamlDocument {
  readonly source: YamlSource;
  readonly tree: YamlTree;
  /** What the library says of the text; of what it says behind the place where it lost its way nothing. */
  readonly syntax: readonly YamlProblem[];
  /** Where that is; the value is not what was meant then. */
  readonly lost: number | undefined;
  /** That the text has more than one document. */
  readonly second: readonly YamlProblem[];
  /** What keeps it from being one document; where nothing does, what is wrong with its parts. */
  readonly problems: readonly YamlProblem[];
}

/**
 * Reads one YAML 1.2 document as far as it goes. Keys are text and unique; only the types of the core schema exist; no alias leads back into
 * itself, and aliases cannot blow the document up.
 */
export async function readYaml(text: string, file?: string): Promise<ReadYaml> {
  const library = await yamlLibrary();
  const lines = new library.LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
  const spanOf: YamlSource["spanOf"] = ([start, end]) => {
    const { line, col: column } = lines.linePos(start);
    const lineEnd = (lines.lineStarts[line] ?? text.length + 1) - 1;
    const length = Math.max(1, Math.min(end, lineEnd) - start);
    return { ...(file !== undefined && { file }), line, column, length };
  };
  const source = { text, file, spanOf };
  const documents = yamlDocuments(text, library);
  const found = documents.flatMap(({ errors, warnings }): readonly YAMLError[] => [...errors, ...warnings]);
  const lost = found.find(isWayLost);
  const syntax = found.filter((error) => error === lost || !isWayLost(error))
    .map((error) => libraryProblem(error, source));
  const [first, other] = documents;
  const tree = new YamlTree(first?.contents ?? null, library, source);
  const start = Math.max(0, text.lastIndexOf("---", other?.range?.[0] ?? 0));
  const second = other === undefined ? [] : [
    new YamlProblem(source, [start, start + 3], {
      message: "Found a second YAML document, expected one",
      hint: "Make a file of its own for each document.",
    }),
  ];
  const outside = syntax.length > 0 ? syntax : second;
  return {
    value: tree.value,
    at: (path, what = "value") => {
      const range = tree.rangeOf(path, what);
      return range && spanOf(range);
    },
    near: (path, at = "value") => {
      const [way, what] = typeof at === "string" ? [path, at] : [[...path, at.key], "key"] as const;
      for (let length = way.length; length >= 0; length--) {
        const range = tree.rangeOf(way.slice(0, length), length === way.length ? what : "value");
        if (range !== undefined) return spanOf(range);
      }
      return spanOf([0, 1]);
    },
    written: (path) => tree.written(path),
    source,
    tree,
    syntax,
    lost: lost?.pos[0],
    second,
    problems: outside.length > 0 ? outside : tree.problems,
  };
}

/**
 * Reads a YAML text that has to be whole.
 *
 * @param options.repeated takes the keys that are there twice, so that they do not hide what else is wrong; without it they are thrown too
 * @throws {ProblemsError} with file, line, column, the text and a hint for each problem
 */
export async function parseYaml(
  text: string,
  { repeated, file }: { readonly file?: string; readonly repeated?: SourceError[] } = {},
): Promise<YamlDocument> {
  const yaml = await readYaml(text, file);
  const { problems } = yaml;
  const isKept = (problem: YamlProblem) => repeated !== undefined && problem.repeated !== undefined;
  repeated?.push(...problems.filter(isKept).slice(0, MAX_PROBLEMS));
  const thrown = problems.filter((problem) => !isKept(problem));
  if (thrown.length > 0) throw new ProblemsError(thrown.slice(0, MAX_PROBLEMS));
  return yaml;
}

/** So many mistakes are told of one text. */
export const MAX_PROBLEMS = 20;

/** What is wrong with a text, and what can be read of it nevertheless. */
export interface ReadableYaml extends YamlDocument {
  readonly problems: readonly SourceError[];
}

/** Reads one YAML document as `parseYaml` does. Of a text with problems the value is what its top mapping has at keys without any. */
export async function readableYaml(text: string): Promise<ReadableYaml> {
  const yaml = await readYaml(text);
  const { source, lost, tree } = yaml;
  const lines = new Set(yaml.problems.map(lineOf));
  const lastLine = lost === undefined ? Infinity : source.spanOf([lost, lost]).line;
  const others = tree.problems.filter((each) => lineOf(each) < lastLine && !lines.has(lineOf(each)));
  const problems = [...yaml.problems, ...others].slice(0, MAX_PROBLEMS);
  return { ...yaml, problems, value: problems.length === 0 ? yaml.value : soundPart(yaml, problems) };
}

function lineOf({ span }: SourceError): number {
  return span?.line ?? 1;
}

/**
 * Of a mapping with problems the keys that have none: written once, with no problem in a line of theirs, and before the place where the
 * reader lost its way, as the value that is cut there is not whole. Null for what is no mapping.
 */
function soundPart({ value, tree, lost, source }: ReadYaml, problems: readonly SourceError[]): unknown {
  if (!isRecord(value)) return null;
  const { keys } = tree;
  const read = lost === undefined ? keys : keys.filter(([, [start]]) => start <= lost).slice(0, -1);
  const sound = read.filter(([, [start, end]]) => {
    const [first, last] = [source.spanOf([start, start]).line, source.spanOf([end, end]).line];
    return !problems.some((problem) => first <= lineOf(problem) && lineOf(problem) <= last);
  });
  const names = Map.groupBy(keys, ([name]) => name);
  const isSound = new Set(sound.map(([name]) => name).filter((name) => names.get(name)?.length === 1));
  return Object.fromEntries(Object.entries(value).filter(([name]) => isSound.has(name)));
}
