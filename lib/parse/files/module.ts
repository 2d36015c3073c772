import { type JsonObject, nearestName, orMeant, type SourceError } from "../../core/core.ts";
import { listOfIds, WORDS } from "./collection.ts";
import { ANYTHING, type FilePath, listOf, mapOf, mapping, orNothing, Shape } from "../shape/shape.ts";
import { readShape } from "../shape/yaml_reading.ts";

/** What a content is made of, as it was written: the id of a document of the collection, else a file. */
export interface ModuleSource {
  readonly name: string;
  /** A problem with it that is found later, at its place in the file. */
  problem(message: string, options?: { readonly cause?: unknown }): SourceError;
}

/** A content of a module. */
export interface ModuleContent {
  readonly id: string;
  readonly primary: readonly ModuleSource[];
  readonly secondary: readonly ModuleSource[];
}

/** A session of a module. */
export interface ModuleSession {
  readonly id: string;
  /** The ids of its contents; absent: all of the module. */
  readonly contents?: readonly string[];
}

/** A `*.module.yml` file. */
export interface ModuleFile {
  /** As it was named. */
  readonly file: string;
  readonly id: string;
  readonly sessions: readonly ModuleSession[];
  readonly contents: readonly ModuleContent[];
  /** All that stands below `module:`, keys that Orrery does not know too. */
  readonly data: JsonObject;
}

interface PlacedName {
  readonly name: string;
  readonly path: FilePath;
}

const NAME_OF = WORDS.to((name, { path }): PlacedName => ({ name, path }));

/** One name, or a list of names. */
const NAMES = new Shape<readonly PlacedName[]>(
  {},
  (part) =>
    typeof part.value === "string" ? [{ name: part.value, path: part.path }] : listOf(NAME_OF).read(part),
);

const CONTENT = mapping("a content", {
  id: WORDS,
  sources: orNothing(mapping(`"sources"`, { primary: orNothing(NAMES), secondary: orNothing(NAMES) })),
}, { isOpen: true });

const SESSION = mapping("a session", { id: WORDS, contents: orNothing(NAMES) }, { isOpen: true });

const MODULE = mapping(`"module"`, {
  id: WORDS,
  title: orNothing(WORDS),
  contents: orNothing(listOfIds(CONTENT, "content id")),
  sessions: orNothing(listOfIds(SESSION, "session id")),
}, { isOpen: true }).to(({ id, contents = [], sessions = [] }, part) => {
  const known = contents.map(({ id }) => id);
  for (const { name, path } of sessions.flatMap(({ contents = [] }) => contents)) {
    if (known.includes(name)) continue;
    const message = `there is no content ${JSON.stringify(name)}${orMeant(nearestName(name, known))}`;
    part.reading?.tell(path, { message });
  }
  return { id, contents, sessions, data: part.keys.length === 0 ? {} : mapOf(ANYTHING).read(part) };
});

const FILE = mapping("the file", { module: MODULE }, {
  isOpen: true,
  notMapping: (value) => value === null ? `is empty; it needs "module"` : undefined,
});

/**
 * Reads a `*.module.yml` file (conversations.md 2.8). Only what Orrery uses is checked; other keys are kept in `data`.
 *
 * What the specification leaves open is read so: `contents` of a session names contents of the module by their ids, and a session without
 * it has all of them; `primary` and `secondary` of a content are a name or a list of names, and each name is that of a document of the
 * collection in use, or else that of a file, relative to the folder of the module's.
 *
 * @param file its name in messages
 * @throws {ProblemsError} with everything that is wrong, in the order of the file: `module.sessions[0].id: MESSAGE`
 */
export async function readModuleFile(text: string, file: string): Promise<ModuleFile> {
  const { value: { module: { id, data, ...module } }, problem } = await readShape(FILE, { file, text });
  const sourcesOf = (names: readonly PlacedName[] = []) =>
    names.map(({ name, path }): ModuleSource => ({
      name,
      problem: (message, { cause } = {}) => problem(path, message, cause),
    }));
  return {
    file,
    id,
    data,
    sessions: module.sessions.map(({ id, contents }) => ({
      id,
      ...(contents && { contents: contents.map(({ name }) => name) }),
    })),
    contents: module.contents.map(({ id, sources }) => ({
      id,
      primary: sourcesOf(sources?.primary),
      secondary: sourcesOf(sources?.secondary),
    })),
  };
}
