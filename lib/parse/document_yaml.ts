// A key that is written twice does not hide what is wrong with the others: its later values are left out, and the rest is read.

import { ProblemsError } from "../core/problems_error.ts";
import type { SourceError } from "../core/source_error.ts";
import { lineProblem, type Place } from "./front_matter.ts";
import { parseYaml, type YamlDocument } from "./yaml.ts";
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

/** What was read of a piece of YAML. */
export interface DocumentYaml {
  /** Absent when it could not be read. */
  readonly document?: YamlDocument;
  /** Syntax errors, tags and repeated keys; lines from 1 in the piece. */
  readonly problems: readonly YamlPieceProblem[];
}

/** Reads a piece of YAML, without tags and without keys that are there twice. */
export async function readDocumentYaml(yaml: string, place: MappingPlace): Promise<DocumentYaml> {
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
export function indentOf(yaml: string): number {
  const line = /^[ \t]*[^\s#].*$/m.exec(yaml)?.[0] ?? "";
  return line.length - line.trimStart().length;
}

function isSamePlace(a: Place, b: Place): boolean {
  return a.line === b.line && a.column === b.column;
}
