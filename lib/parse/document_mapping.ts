// The YAML of an operation or of the front matter: what it says, and the line of each key.

import { isRecord } from "../core/json.ts";
import type { DocumentProblem } from "./document_node.ts";
import { indentOf, type MappingPlace, readDocumentYaml } from "./document_yaml.ts";
import type { YamlDocument } from "./yaml.ts";

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
