// Read here and not by parseYaml: a file with one bad key is still looked at as a whole, and what the library itself says of an error
// is told as it is.
import type { Node, YAMLError } from "yaml";
import type { SourceError } from "../../core/core.ts";
import { MOST_TOLD } from "../yaml/check_fields.ts";
import type { FilePath } from "../shape/shape.ts";
import { isWayLost, yamlDocuments, type YamlLibrary, yamlLibrary } from "../yaml/library.ts";
import { RepeatedKeyError, yamlProblem, type YamlRange } from "../yaml/problem.ts";
import { readYamlTree } from "../yaml/tree.ts";
import type { AgentCode } from "./agent.ts";

/** A place in the text of an agent file: from 1, and how much of the line it takes. */
export interface AgentPlace {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/** What the YAML of an agent file is wrong in. */
export interface AgentYamlProblem extends AgentPlace {
  /** Empty for the whole file. */
  readonly path: FilePath;
  /** The part that cannot be read for it: nothing more is to be told of that. */
  readonly broken?: FilePath;
  readonly message: string;
  readonly code: AgentCode;
  readonly hint?: string;
}

/** The YAML of an agent file. */
export interface AgentYaml {
  /** Plain data; null for an empty file. */
  readonly value: unknown;
  readonly problems: readonly AgentYamlProblem[];
  /** The value is not what was meant, so that it is of no use to look for more in it. */
  readonly isLost: boolean;
  /** Where a part stands, its key or its value; of one that is not there, where what holds it stands. */
  place(path: FilePath, what: "key" | "value"): AgentPlace;
  /** A scalar as it is written, so that 1.10 stays 1.10; undefined for other values, and where an alias stands. */
  written(path: FilePath): string | undefined;
  /** Numbers that were taken as text. */
  readonly digits: readonly { readonly path: FilePath; readonly text: string }[];
}

/** Reads the YAML of an agent file as far as it can be read; behind the place where the library lost its way nothing counts. */
export async function readAgentYaml(text: string): Promise<AgentYaml> {
  const library = await yamlLibrary();
  const documents = yamlDocuments(text, library);
  const root = documents[0]?.contents ?? null;
  const tree = readYamlTree(root, { library, source: { text } });
  const pathAt = (offset: number) => yamlPathAt(root, offset, library);
  const placeOf = placesOf(text);
  const found = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  const lost = found.find(isWayLost);
  const isTemplate = ({ code, pos: [start] }: YAMLError) =>
    // YAML reads `{{x}}` as a mapping whose key is a mapping
    code === "NON_STRING_KEY" && text.slice(start - 1, start + 1) === "{{";
  const templates = found.filter(isTemplate).slice(0, MOST_TOLD).map(({ pos: [start] }): AgentYamlProblem => {
    const end = text.indexOf("}}", start);
    const path = pathAt(start - 1);
    return {
      ...placeOf([start - 1, end === -1 ? start + 1 : end + 2]),
      path,
      broken: path,
      code: "E606",
      message: 'looks like a template without quotes; write it as "{{slot}}" in quotes',
    };
  });
  const told = new Set(templates.map(({ line }) => line));
  const others = found
    .filter((error) => error === lost || !(isWayLost(error) || isTemplate(error)))
    .slice(0, MOST_TOLD)
    .map((error) => {
      const { message, hint } = yamlProblem(error, { text });
      // Of levels that are too many the library tells what happened to itself.
      const words = error.code === "RESOURCE_EXHAUSTION" ? message : error.message;
      return notYaml(placeOf(error.pos), words, hint);
    })
    .filter(({ line }) => !told.has(line)); // what follows a template without quotes cannot be read either
  const ofTree = tree.problems.slice(0, MOST_TOLD).map((problem) => treeProblem(problem, { text, pathAt }));
  const [, second] = documents;
  const start = Math.max(0, text.lastIndexOf("---", second?.range?.[0] ?? 0));
  const seconds: readonly AgentYamlProblem[] = second === undefined ? [] : [{
    ...placeOf([start, start + 3]),
    path: [],
    code: "E601",
    message: "has more than one YAML document; keep one agent per file",
  }];
  return {
    value: tree.value,
    problems: [...templates, ...others, ...(lost === undefined ? [...ofTree, ...seconds] : [])],
    isLost: lost !== undefined,
    place: (path, what) => {
      for (let length = path.length; length >= 0; length--) {
        const range = tree.rangeOf(path.slice(0, length), length === path.length ? what : "value");
        if (range !== undefined) return placeOf(range);
      }
      return placeOf([0, 1]);
    },
    written: (path) => tree.written(path),
    digits: tree.digits.map(([start, end]) => ({ path: pathAt(start), text: text.slice(start, end) })),
  };
}

/** Gives the place of a range, as far as its first line goes. */
function placesOf(text: string): (range: YamlRange) => AgentPlace {
  const lines = lineIndex(text);
  return ([start, end]) => {
    const lineEnd = text.indexOf("\n", start);
    const length = Math.max(1, Math.min(end, lineEnd === -1 ? text.length : lineEnd) - start);
    return { ...lines(start), length };
  };
}

function treeProblem(
  problem: SourceError,
  { text, pathAt }: { readonly text: string; readonly pathAt: (offset: number) => FilePath },
): AgentYamlProblem {
  const { line = 1, column = 1, length = 1 } = problem.span ?? {};
  const place = { line, column, length };
  if (problem instanceof RepeatedKeyError) {
    const { key, firstLine, hint } = problem;
    const words = `Map keys must be unique: ${JSON.stringify(key)} is there from line ${firstLine} on`;
    return notYaml(place, words, hint);
  }
  const before = text.split("\n", line - 1);
  const offset = before.reduce((sum, { length }) => sum + length + 1, column - 1);
  return { ...notYaml(place, problem.message, problem.hint), broken: pathAt(offset) };
}

function notYaml(place: AgentPlace, words: string, hint: string | undefined): AgentYamlProblem {
  const message = `not valid YAML at line ${place.line}, column ${place.column}: ${words}`;
  return { ...place, path: [], code: "E601", message, hint };
}

/** Finds the place of an offset in a text: line and column from 1, a line ends with LF; an offset beyond the text means its end. */
type LineIndex = (offset: number) => { readonly line: number; readonly column: number };

/** For many places of one text: each takes a look at a few lines, and not at all before it. */
function lineIndex(text: string): LineIndex {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    const at = Math.min(Math.max(0, offset), text.length);
    const line = lastAtMost(starts, at);
    return { line: line + 1, column: at - (starts[line] ?? 0) + 1 };
  };
}

/** The index of the last of ascending numbers that is not above the wanted one. */
function lastAtMost(numbers: readonly number[], wanted: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? Infinity) <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

interface Inner {
  readonly key: string | number;
  readonly node: Node;
}

/** The way to the innermost part of a YAML document that stands around an offset, from 0. Aliases are not followed. */
function yamlPathAt(
  root: Node | null,
  offset: number,
  library: YamlLibrary,
): readonly (string | number)[] {
  const path: (string | number)[] = [];
  for (let here = root; here !== null && here.range?.[0] !== offset;) {
    const inner = innerAt(here, offset, library);
    if (inner !== undefined) path.push(inner.key);
    here = inner?.node ?? null;
  }
  return path;
}

function innerAt(
  holder: Node,
  offset: number,
  { isMap, isNode, isScalar, isSeq }: YamlLibrary,
): Inner | undefined {
  const isAround = (node: unknown): node is Node => {
    const [start, end] = isNode(node) ? node.range ?? [0, 0] : [0, 0];
    return start <= offset && offset < end;
  };
  if (isSeq(holder)) {
    const key = holder.items.findIndex(isAround);
    const node = holder.items[key];
    return isAround(node) ? { key, node } : undefined;
  }
  const pair = isMap(holder) ? holder.items.find(({ value }) => isAround(value)) : undefined;
  if (!isAround(pair?.value) || !isScalar(pair.key)) return undefined;
  return { key: String(pair.key.value ?? ""), node: pair.value };
}
