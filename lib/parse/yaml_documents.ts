import type { Document, YAMLError } from "yaml";
import type { YamlLibrary } from "./yaml_library.ts";

/** The documents of a text, as every YAML file is read: version 1.2, the core schema, keys that are text. */
export function yamlDocuments(text: string, library: YamlLibrary): readonly Document[] {
  const documents = library.parseAllDocuments(text, {
    version: "1.2",
    schema: "core",
    stringKeys: true,
    // The library compares all keys with all others; the tree keeps a set of them.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  return Array.isArray(documents) ? documents : [];
}

/** Errors that say nothing of the rest of the text; after any other the parser has lost its way, and only the first counts. */
const LOCAL_ERRORS: readonly string[] = [
  "TAG_RESOLVE_FAILED",
  "NON_STRING_KEY",
  "BAD_DQ_ESCAPE",
  "BAD_ALIAS",
];

/** Whether what comes after the error cannot be relied on. */
export function isWayLost({ code }: YAMLError): boolean {
  return !LOCAL_ERRORS.includes(code);
}
