import type { JsonSchema } from "../core/gadget.ts";
import { decodeSegment, isJsonObject, toJson } from "../core/json.ts";
import { SourceError } from "../core/source_error.ts";
import { parseYaml } from "../parse/yaml.ts";
import { prepareSchema } from "../schema/prepare_schema.ts";
import { flagFile } from "../service/flag_file.ts";

/** The JSON Schema of a file, JSON or YAML. @throws {SourceError} or {ProblemsError} that names file, line and column; {FileError} */
export async function readSchema(file: string, { cwd }: { readonly cwd: string }): Promise<JsonSchema> {
  const source = await flagFile(file, { flag: "--schema", cwd });
  const document = await parseYaml(source, { file });
  const schema = toJson(document.value);
  if (!isJsonObject(schema)) {
    throw new SourceError("Expected a JSON Schema, which is an object, found something else", {
      span: document.at([]) ?? { file, line: 1, column: 1 },
      source,
      hint: 'Such as {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}.',
    });
  }
  const prepared = prepareSchema(schema);
  if ("broken" in prepared) {
    const { pointer, message } = prepared.broken;
    const path = pointer.split("/").slice(1).map(decodeSegment);
    const span = document.at(path) ?? { file, line: 1, column: 1 };
    throw new SourceError(`This JSON Schema cannot be used: ${message}`, { span, source });
  }
  return schema;
}
