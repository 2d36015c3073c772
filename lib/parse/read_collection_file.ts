import type { CollectionDocument, CollectionFile } from "./collection_file.ts";
import { DOCUMENT_TYPES } from "./collection_file.ts";
import { type FieldMapping, FileFields } from "./file_fields.ts";
import { kindOf } from "./shape/shape.ts";
import type { FieldPath } from "./front_matter.ts";

const KEYS = ["version", "documents"];
const DOCUMENT_KEYS = ["id", "file", "type", "metadata", "exclude"];
const METADATA_KEYS = ["name", "link"];
const WHAT = "a document";

/**
 * Reads the documents of a `*.collection.yml` file (conversations.md 2.8).
 *
 * @param file its name in messages
 * @throws {ProblemsError} with everything that is wrong, in the order of the file: `documents[0].file: MESSAGE`
 */
export async function readCollectionFile(text: string, file: string): Promise<CollectionFile> {
  const fields = await FileFields.of(text, file);
  const documents = fields.root === null ? emptyFile(fields) : documentsOf(fields);
  fields.end();
  return { file, documents };
}

function emptyFile(fields: FileFields): readonly CollectionDocument[] {
  fields.refuse([], `is empty; it needs "version" and "documents"`);
  return [];
}

function documentsOf(fields: FileFields): readonly CollectionDocument[] {
  const root = fields.mapping(fields.root, [], { what: "the file", keys: KEYS });
  if (root === undefined) return [];
  fields.required(root, { key: "version", what: "the file", read: fields.version });
  const placed = fields.required(root, {
    key: "documents",
    what: "the file",
    read: (value, path) => fields.list(value, path, (item, at) => placedDocument(fields, item, at)),
  }) ?? [];
  fields.unique("document id", placed);
  return placed.flatMap(({ document }) => document === undefined ? [] : [document]);
}

interface PlacedDocument {
  readonly id: string | undefined;
  readonly path: FieldPath;
  readonly document?: CollectionDocument;
}

function placedDocument(fields: FileFields, value: unknown, path: FieldPath): PlacedDocument | undefined {
  const mapping = fields.mapping(value, path, { what: WHAT, keys: DOCUMENT_KEYS });
  if (mapping === undefined) return undefined;
  const id = fields.required(mapping, { key: "id", what: WHAT, read: fields.text });
  const file = fields.required(mapping, { key: "file", what: WHAT, read: fields.text });
  const rest = restOf(fields, mapping);
  return id === undefined || file === undefined
    ? { id, path }
    : { id, path, document: { id, file, ...rest, name: rest.name ?? id } };
}

type Rest = Omit<CollectionDocument, "id" | "file" | "name"> & { readonly name?: string };

function restOf(fields: FileFields, mapping: FieldMapping): Rest {
  const type = fields.optional(mapping, "type", (value, path) => fields.choice(value, path, DOCUMENT_TYPES));
  const pages = fields.optional(
    mapping,
    "exclude",
    (value, path) => fields.list(value, path, (page, at) => pageOf(fields, page, at)),
  );
  return {
    type: type ?? "text",
    exclude: pages ?? [],
    ...metadataOf(fields, mapping),
    problem: (message, { page, cause } = {}) => {
      const at = page === undefined ? -1 : (pages ?? []).indexOf(page);
      return fields.problemAt([...mapping.path, ...(at < 0 ? ["file"] : ["exclude", at])], message, cause);
    },
  };
}

function metadataOf(fields: FileFields, mapping: FieldMapping): { name?: string; link?: string } {
  const metadata = fields.optional(
    mapping,
    "metadata",
    (value, path) => fields.mapping(value, path, { what: `"metadata"`, keys: METADATA_KEYS }),
  );
  if (metadata === undefined) return {};
  const name = fields.optional(metadata, "name", fields.text);
  const link = fields.optional(metadata, "link", fields.text);
  return { name, link };
}

function pageOf(fields: FileFields, value: unknown, path: FieldPath): number | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  const found = typeof value === "number" ? String(value) : kindOf(value);
  fields.refuse(path, `must be the number of a page, 1 or more; found ${found}`);
  return undefined;
}
