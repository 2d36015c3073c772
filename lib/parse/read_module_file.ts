import { isJsonObject, type JsonObject, toJson } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { didYouMean } from "./document_near.ts";
import { type FieldMapping, FileFields } from "./file_fields.ts";
import type { FieldPath } from "./front_matter.ts";
import type { ModuleContent, ModuleFile, ModuleSession, ModuleSource } from "./module_file.ts";

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
  const fields = await FileFields.of(text, file);
  const root = fields.root === null
    ? fields.refuse([], `is empty; it needs "module"`)
    : fields.mapping(fields.root, [], { what: "the file" });
  const module = root && fields.required(root, {
    key: "module",
    what: "the file",
    read: (value, path) => fields.mapping(value, path, { what: `"module"` }),
  });
  const read = module && moduleOf(fields, module);
  fields.end();
  return { file, id: "", sessions: [], contents: [], data: {}, ...read };
}

function moduleOf(fields: FileFields, module: FieldMapping): Omit<ModuleFile, "file"> {
  const id = fields.required(module, { key: "id", what: `"module"`, read: fields.text });
  fields.optional(module, "title", fields.text);
  const list = <Item>(key: string, read: (mapping: FieldMapping) => Item): readonly Item[] =>
    fields.optional(module, key, (value, path) =>
      fields.list(value, path, (item, at) => {
        const mapping = fields.mapping(item, at, { what: "an item" });
        return mapping && read(mapping);
      })) ?? [];
  const contents = list("contents", (mapping) => ({ ...contentOf(fields, mapping), path: mapping.path }));
  fields.unique("content id", contents);
  const known = contents.map(({ id }) => id);
  const sessions = list("sessions", (mapping) => ({
    ...sessionOf(fields, mapping, known),
    path: mapping.path,
  }));
  fields.unique("session id", sessions);
  return {
    id: id ?? "",
    sessions: sessions.map(({ path: _, ...session }) => session),
    contents: contents.map(({ path: _, ...content }) => content),
    data: dataOf(fields, module),
  };
}

function sessionOf(fields: FileFields, session: FieldMapping, known: readonly string[]): ModuleSession {
  const id = fields.required(session, { key: "id", what: "a session", read: fields.text });
  const contents = fields.optional(session, "contents", (value, path) => names(fields, value, path));
  for (const { name, path } of contents ?? []) {
    if (known.includes(name)) continue;
    fields.refuse(path, `there is no content ${JSON.stringify(name)}${didYouMean(name, known)}`);
  }
  return { id: id ?? "", ...(contents && { contents: contents.map(({ name }) => name) }) };
}

function contentOf(fields: FileFields, content: FieldMapping): ModuleContent {
  const id = fields.required(content, { key: "id", what: "a content", read: fields.text });
  const sources = fields.optional(
    content,
    "sources",
    (value, path) => fields.mapping(value, path, { what: `"sources"`, keys: ["primary", "secondary"] }),
  );
  const of = (key: "primary" | "secondary"): readonly ModuleSource[] =>
    sources === undefined
      ? []
      : fields.optional(sources, key, (value, path) =>
        names(fields, value, path).map((each) =>
          sourceOf(fields, each)
        )) ?? [];
  return { id: id ?? "", primary: of("primary"), secondary: of("secondary") };
}

interface PlacedName {
  readonly name: string;
  readonly path: FieldPath;
}

/** One name, or a list of names. */
function names(fields: FileFields, value: unknown, path: FieldPath): readonly PlacedName[] {
  if (typeof value === "string") return [{ name: value, path }];
  return fields.list(value, path, (item, at) => {
    const name = fields.text(item, at);
    return name === undefined ? undefined : { name, path: at };
  });
}

function sourceOf(fields: FileFields, { name, path }: PlacedName): ModuleSource {
  return { name, problem: (message, { cause } = {}) => fields.problemAt(path, message, cause) };
}

/** YAML has numbers that JSON has not. */
function dataOf(fields: FileFields, module: FieldMapping): JsonObject {
  try {
    const data = toJson(module.fields);
    return isJsonObject(data) ? data : {};
  } catch (error) {
    fields.refuse(module.path, messageOf(error));
    return {};
  }
}
