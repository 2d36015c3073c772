import { documentsBelow } from "../service/look/document_data.ts";
import type { ListedDocument } from "../service/look/look.ts";
import { typedPath } from "../catalog/shown_path.ts";
import type { Json } from "../core/json.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { openSettings } from "../project/project.ts";
import { EXIT } from "../service/exit_code.ts";
import { isTypable, tableText } from "./list_prompts.ts";
import type { ListLook } from "./list_prompts.ts";

const NOTHING =
  "The project has no documents: they are Markdown files (.md) with an operation such as @llm or @shell between their headings";

/** `orrery list documents`: the Markdown files of the project that can be run. */
export async function listDocuments(look: ListLook, terminal: Terminal): Promise<number> {
  const cwd = workingFolder();
  const project = await openSettings(cwd, { cwd });
  const typed = (file: string): string => typedPath(file, project);
  const documents = await documentsBelow(project.root);
  if (look.names) {
    const names = documents.map(({ file }) => typed(file)).filter(isTypable);
    await terminal.stdout.write(names.map((name) => `${name}\n`).join(""));
  } else if (look.json) {
    const json = { documents: documents.map(jsonOf) };
    await terminal.stdout.write(`${JSON.stringify(json, null, 2)}\n`);
  } else {
    const rows = documents.map(({ file, title, inputs, operations }) => [
      typed(file),
      title ?? "",
      inputs.map(inputWord).join(", ") || "-",
      String(operations),
    ]);
    await terminal.stdout.write(tableText(["FILE", "TITLE", "INPUTS", "OPERATIONS"], rows));
    if (rows.length === 0) await terminal.stderr.write(`${NOTHING}\n`);
  }
  return EXIT.ok;
}

function inputWord({ name, default: fallback }: ListedDocument["inputs"][number]): string {
  return fallback === null ? name : `[${name}]`;
}

function jsonOf({ file, title, description, inputs, operations }: ListedDocument): Json {
  return { file, title, description, inputs, operations };
}
