import type { SourceError } from "../../core/core.ts";
import { kindOf, listOf, mapping, NAME, oneOf, orNothing, pathText, Shape, VERSION } from "../shape/shape.ts";
import { readShape } from "../shape/yaml_reading.ts";

/** How the text of a document is cut into passages (conversations.md 2.8): all ways, the default first. */
const DOCUMENT_TYPES = ["text", "book", "paper", "slides"] as const;

/** One of them. */
export type DocumentType = typeof DOCUMENT_TYPES[number];

/** A document of a collection. */
export interface CollectionDocument {
  readonly id: string;
  /** As it was written: relative to the folder of the file that names it, or absolute. */
  readonly file: string;
  /** Default `text`. */
  readonly type: DocumentType;
  /** `metadata.name`, else the id. */
  readonly name: string;
  readonly link?: string;
  /** Pages that are left out, from 1. */
  readonly exclude: readonly number[];
  /** A problem with it that is found later, at its place in the file. @param page which of `exclude` is meant */
  problem(message: string, options?: { readonly page?: number; readonly cause?: unknown }): SourceError;
}

/** A `*.collection.yml` file. */
export interface CollectionFile {
  /** As it was named. */
  readonly file: string;
  readonly documents: readonly CollectionDocument[];
}

/** Text that is more than blanks. */
export const WORDS: Shape<string> = NAME.check((text, part) => {
  if (text !== "" && text.trim() === "") part.refuse("must not be empty");
});

/** A list of mappings with ids. @param what `document id` */
export function listOfIds<Item extends { readonly id: string }>(
  item: Shape<Item>,
  what: string,
): Shape<readonly Item[]> {
  return listOf(item, {
    keyOf: ({ id }) => id,
    twice: (part, id, first) =>
      part.child("id")?.refuse(`${what} ${JSON.stringify(id)} is already used at ${pathText(first.path)}`),
  });
}

const PAGE = new Shape({ type: "integer", minimum: 1 }, (part) => {
  const { value } = part;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  const found = typeof value === "number" ? String(value) : kindOf(value);
  part.refuse(`must be the number of a page, 1 or more; found ${found}`);
  return 1;
});

const DOCUMENT = mapping("a document", {
  id: WORDS,
  file: WORDS,
  type: orNothing(oneOf(DOCUMENT_TYPES)),
  metadata: orNothing(mapping(`"metadata"`, { name: orNothing(WORDS), link: orNothing(WORDS) })),
  exclude: orNothing(listOf(PAGE)),
}, { tellsAll: true }).to(({ id, file, type = "text", metadata, exclude = [] }) => ({
  id,
  file,
  type,
  exclude,
  name: metadata?.name ?? id,
  ...(metadata?.link === undefined ? {} : { link: metadata.link }),
}));

const FILE = mapping("the file", {
  version: VERSION,
  documents: listOfIds(DOCUMENT, "document id"),
}, {
  tellsAll: true,
  notMapping: (value) => value === null ? `is empty; it needs "version" and "documents"` : undefined,
});

/**
 * Reads the documents of a `*.collection.yml` file (conversations.md 2.8).
 *
 * @param file its name in messages
 * @throws {ProblemsError} with everything that is wrong, in the order of the file: `documents[0].file: MESSAGE`
 */
export async function readCollectionFile(text: string, file: string): Promise<CollectionFile> {
  const { value, problem } = await readShape(FILE, { file, text });
  const documents = value.documents.map((document, index): CollectionDocument => ({
    ...document,
    problem: (message, { page, cause } = {}) => {
      const at = page === undefined ? -1 : document.exclude.indexOf(page);
      return problem(["documents", index, ...(at < 0 ? ["file"] : ["exclude", at])], message, cause);
    },
  }));
  return { file, documents };
}
