// A key that is written twice does not hide what is wrong with the others: its later values are left out, and the rest is read.

import { ProblemsError } from "../core/problems_error.ts";
import type { SourceError, Span } from "../core/source_error.ts";
import { lineProblem, type Place } from "./front_matter.ts";
import { type PlainYaml, readPlainYaml } from "./plain_yaml.ts";
import { parseYaml } from "./yaml.ts";
import { RepeatedKeyError, repeatedKeyMessage } from "./yaml_problem.ts";
import { findYamlTags } from "./yaml_tags.ts";

/** Where a piece of YAML stands, and how its problems are told. */
export interface MappingPlace {
  /** How many lines of its file come before it. */
  readonly linesAbove: number;
  /** What to say when it is no mapping. */
  readonly notMapping: string;
  /** What a key is called in errors, such as `parameter`. */
  readonly keyName: string;
}

/** A problem, with its place in the piece. */
type YamlPieceProblem = Place & { readonly message: string };

/** What a piece of YAML is. */
interface ReadPiece {
  readonly value: unknown;
  /** The line of a key of the mapping itself, from 1 in the piece. */
  lineOf(key: string): number | undefined;
  /** The place of a value; undefined when it is written as its text would be. */
  at(path: readonly (string | number)[]): Span | undefined;
}

/** What was read of a piece of YAML. */
export interface DocumentYaml {
  /** Absent when it could not be read. */
  readonly document?: ReadPiece;
  /** Syntax errors, tags and repeated keys; lines from 1 in the piece. */
  readonly problems: readonly YamlPieceProblem[];
}

/** Reads a piece of YAML, without tags and without keys that are there twice. */
export async function readDocumentYaml(yaml: string, place: MappingPlace): Promise<DocumentYaml> {
  const plain = readPlainYaml(yaml);
  if (plain !== undefined) return { document: pieceOf(plain), problems: [] };
  const tags = (await findYamlTags(yaml)).map(({ tag, ...at }) => ({ ...at, message: tagMessage(tag) }));
  const first = await read(yaml);
  const twice = first.problems.flatMap((problem) => twiceIn(yaml, problem));
  // Only repeated keys stand in the way: without them there is more to be told.
  const isOnlyTwice = twice.length > 0 && twice.length === first.problems.length;
  const { document } = isOnlyTwice ? await read(withoutKeys(yaml, twice)) : first;
  const told = first.problems.map((problem) => tellYaml(problem, { yaml, place }))
    .filter((problem) => !tags.some((tag) => isSamePlace(tag, problem)));
  return { problems: [...tags, ...told], document };
}

function pieceOf({ value, lines }: PlainYaml): ReadPiece {
  return { value, lineOf: (key) => lines.get(key), at: () => undefined };
}

interface Read {
  readonly document?: ReadPiece;
  readonly problems: readonly SourceError[];
}

async function read(yaml: string): Promise<Read> {
  try {
    const { value, at } = await parseYaml(yaml);
    return { document: { value, at, lineOf: (key) => at([key], "key")?.line }, problems: [] };
  } catch (thrown) {
    if (thrown instanceof ProblemsError) return { problems: thrown.problems };
    throw thrown;
  }
}

function tagMessage(tag: string): string {
  return `Found the YAML tag ${JSON.stringify(tag.slice(0, 60))}, and tags cannot be used here. ` +
    `A text that begins with "!" needs quotes.`;
}

/** The line of a key of the mapping itself that was there before; nothing for any other problem. */
function twiceIn(yaml: string, problem: SourceError): readonly number[] {
  const { span } = problem;
  const isTwice = problem instanceof RepeatedKeyError && span?.column === indentOf(yaml) + 1;
  return isTwice ? [span.line] : [];
}

function tellYaml(
  problem: SourceError,
  { yaml, place }: { readonly yaml: string; readonly place: MappingPlace },
): YamlPieceProblem {
  const { message, line, column = 1 } = lineProblem(problem);
  if (!(problem instanceof RepeatedKeyError)) return { line, column, message };
  const { key, firstLine } = problem;
  if (twiceIn(yaml, problem).length > 0) {
    return { line, column: 1, message: `${place.keyName} ${JSON.stringify(key)} is given twice` };
  }
  return { line, column, message: repeatedKeyMessage(key, firstLine + place.linesAbove) };
}

/** The text with the given keys and their values empty; lines from 1. */
function withoutKeys(yaml: string, keyLines: readonly number[]): string {
  const indent = indentOf(yaml);
  const dropped = new Set(keyLines);
  let isDropped = false;
  return yaml.split("\n").map((line, index) => {
    const isKey = line.trim() !== "" && leadingBlanks(line) <= indent && !/^-(?:\s|$)/.test(line.trim());
    if (isKey) isDropped = dropped.has(index + 1);
    return isDropped ? "" : line;
  }).join("\n");
}

/** How many blanks stand before the first key. */
export function indentOf(yaml: string): number {
  return leadingBlanks(/^[ \t]*[^\s#].*$/m.exec(yaml)?.[0] ?? "");
}

function leadingBlanks(line: string): number {
  return line.length - line.trimStart().length;
}

function isSamePlace(a: Place, b: Place): boolean {
  return a.line === b.line && a.column === b.column;
}
