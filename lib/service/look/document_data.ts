import { projectPath } from "../../catalog/project_path.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Files } from "../../core/world.ts";
import { hostFiles } from "../../host/files.ts";
import { readDocumentSettings } from "../../parse/document_settings.ts";
import { readDocument } from "../../parse/document_file.ts";
import type { DocumentSettings } from "../../parse/operation_fields.ts";
import { readDocumentText } from "../../run/document_text.ts";
import { documentJson, usesOf } from "../document_json.ts";
import type { DocumentUses } from "../document_json.ts";
import { outlineOf } from "../document_outline.ts";
import { isDocumentName, maybeDocument } from "../document_text.ts";
import { walkFiles } from "../walk_files.ts";
import { documentNeeds } from "./document_needs.ts";
import type { GrantingPlace } from "./document_needs.ts";
import { objectOf } from "./gadget_data.ts";
import type { DocumentPageJson, ListedDocument, UsedJson } from "./look.ts";
import { documentProblem } from "./problem_data.ts";

/** The documents of a project: Markdown files that can be run. */
export async function documentsBelow(root: string): Promise<readonly ListedDocument[]> {
  const files = hostFiles({ root });
  const found: ListedDocument[] = [];
  for (const path of await walkFiles(root, { files, isWanted: isDocumentName })) {
    const listed = await maybeListed(path, { files, root });
    if (listed !== undefined) found.push(listed);
  }
  return found;
}

async function maybeListed(
  path: string,
  { files, root }: { readonly files: Files; readonly root: string },
): Promise<ListedDocument | undefined> {
  const tree = await maybeDocument(path, files);
  if (tree === undefined) return undefined;
  const { nodes } = tree;
  const [first] = nodes;
  const { settings } = await readDocumentSettings(first?.kind === "front-matter" ? first : undefined);
  return listedDocument(projectPath(path, root), {
    settings,
    operations: nodes.filter(({ kind }) => kind === "operation").length,
  });
}

function listedDocument(
  file: string,
  { settings, operations }: { readonly settings: DocumentSettings; readonly operations: number },
): ListedDocument {
  const { title = null, description = null, inputs } = settings;
  return {
    file,
    title,
    description,
    inputs: inputs.map(({ name, description = null, default: value = null }) => ({
      name,
      description,
      default: value,
    })),
    input: inputSchema(inputs),
    operations,
  };
}

/** What a document takes, as a JSON Schema: every input is text. */
function inputSchema(inputs: DocumentSettings["inputs"]): JsonObject {
  const properties = inputs.map(({ name, description, default: value }): [string, Json] => [name, {
    type: "string",
    ...(description === undefined ? {} : { description }),
    ...(value === undefined ? {} : { default: value }),
  }]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: inputs.filter((input) => input.default === undefined).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Everything about a document. @param file relative to the root @throws {FileError} */
export async function documentData(
  file: string,
  { root, granting }: { readonly root: string; readonly granting: GrantingPlace },
): Promise<DocumentPageJson> {
  const source = await readDocumentText(hostFiles({ root }), file);
  const read = await readDocument(source, { path: file });
  const outline = await outlineOf(read);
  const uses = usesOf(read, outline);
  return {
    ...listedDocument(file, { settings: read.settings, operations: outline.operations.length }),
    source,
    ...usedData(uses),
    needs: await documentNeeds(read, uses, granting),
    ...settingsData(documentJson(read, outline, uses)),
    operationList: outline.operations.map(({ node: { name, line }, section = null, parameters }) => ({
      name,
      line,
      section,
      parameters,
    })),
    blocks: outline.blocks.map(({ id, title, level, line }) => ({ id, title, level, line })),
    problems: read.problems.map((problem) => documentProblem(problem, file)),
  };
}

type Uses = Pick<DocumentPageJson, "models" | "tools" | "imports" | "runs">;

function usedData({ models, tools, imports, runs }: DocumentUses): Uses {
  const data = (things: readonly UsedJson[]) =>
    things.map(({ name, lines }) => ({ name, lines: [...lines] }));
  return {
    models: data(models),
    tools: data(tools),
    imports: data(imports),
    runs: data(runs),
  };
}

function settingsData({ defaults, limits }: JsonObject): Pick<DocumentPageJson, "defaults" | "limits"> {
  return { defaults: asObject(defaults), limits: asObject(limits) };
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null ? objectOf(value) : {};
}
