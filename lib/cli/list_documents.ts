import { projectPath } from "../catalog/project_path.ts";
import { relative, sep } from "../core/path.ts";
import type { Json } from "../core/json.ts";
import { hostFiles } from "../host/files.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { readDocumentSettings } from "../parse/document_settings.ts";
import type { DocumentSettings } from "../parse/operation_fields.ts";
import { openSettings } from "../project/project.ts";
import { inputsJson } from "./document_json.ts";
import { isDocumentName, maybeDocument } from "./document_text.ts";
import { EXIT } from "./exit_code.ts";
import { isTypable, tableText } from "./list_prompts.ts";
import type { ListLook } from "./list_prompts.ts";
import { walkFiles } from "./walk_files.ts";

interface ListedDocument {
  /** Absolute. */
  readonly path: string;
  readonly settings: DocumentSettings;
  readonly operations: number;
}

const NOTHING =
  "The project has no documents: they are Markdown files (.md) with an operation such as @llm or @shell between their headings";

/** `orrery list documents`: the Markdown files of the project that can be run. */
export async function listDocuments(look: ListLook, terminal: Terminal): Promise<number> {
  const cwd = workingFolder();
  const { root } = await openSettings(cwd, { cwd });
  const documents = await documentsBelow(root);
  if (look.names) {
    const names = documents.map(({ path }) => relative(cwd, path).replaceAll(sep, "/")).filter(isTypable);
    await terminal.stdout.write(names.map((name) => `${name}\n`).join(""));
  } else if (look.json) {
    const json = { documents: documents.map((each) => jsonOf(each, root)) };
    await terminal.stdout.write(`${JSON.stringify(json, null, 2)}\n`);
  } else {
    const rows = documents.map(({ path, settings: { title = "", inputs }, operations }) => [
      projectPath(path, root),
      title,
      inputs.map(inputWord).join(", ") || "-",
      String(operations),
    ]);
    await terminal.stdout.write(tableText(["FILE", "TITLE", "INPUTS", "OPERATIONS"], rows));
    if (rows.length === 0) await terminal.stderr.write(`${NOTHING}\n`);
  }
  return EXIT.ok;
}

async function documentsBelow(root: string): Promise<readonly ListedDocument[]> {
  const files = hostFiles({ root });
  const found: ListedDocument[] = [];
  for (const path of await walkFiles(root, { files, isWanted: isDocumentName })) {
    const tree = await maybeDocument(path, files);
    if (tree === undefined) continue;
    const { nodes } = tree;
    const [first] = nodes;
    const { settings } = await readDocumentSettings(first?.kind === "front-matter" ? first : undefined);
    found.push({ path, settings, operations: nodes.filter(({ kind }) => kind === "operation").length });
  }
  return found;
}

function inputWord({ name, default: fallback }: DocumentSettings["inputs"][number]): string {
  return fallback === undefined ? name : `[${name}]`;
}

function jsonOf({ path, settings, operations }: ListedDocument, root: string): Json {
  const { title = null, description = null, inputs } = settings;
  return {
    file: projectPath(path, root),
    title,
    description,
    inputs: inputsJson(inputs),
    operations,
  };
}
