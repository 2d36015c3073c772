// It is imported when the first document is read, and nowhere else: it costs 8 ms of start-up.
import type { Document, YAMLError } from "yaml";

/** The package `yaml`, whose types cost nothing. */
export type YamlLibrary = typeof import("yaml");

/** Loads it. Where it is CommonJS, it may be a default export and nothing else, as in the bundle of the binary. */
export async function yamlLibrary(): Promise<YamlLibrary> {
  const module: YamlLibrary & { readonly default?: YamlLibrary } = await esModules() ??
    await import("yaml");
  return module.default ?? module;
}

/**
 * The build of ES modules that the package gives under every condition but Node's, which is the one that Deno goes by: 40 files of CommonJS,
 * and the loader for them, would take 50 ms. Undefined where the package is not a folder of files, or was not fetched yet.
 */
async function esModules(): Promise<YamlLibrary | undefined> {
  try {
    return await import(new URL("../browser/index.js", import.meta.resolve("yaml")).href);
  } catch {
    return undefined;
  }
}

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
