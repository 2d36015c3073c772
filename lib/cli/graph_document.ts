import { FileError } from "../core/world.ts";
import { isInside } from "../catalog/project_path.ts";
import { hostFiles } from "../host/files.ts";
import { realPath } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { readDocument } from "../parse/document_file.ts";
import type { ProjectSettings } from "../project/project.ts";
import { documentRail } from "../render/document_rail.ts";
import { shownPath } from "../run/document_paths.ts";
import { readDocumentText } from "../run/document_text.ts";
import { outlineOf, seeDocument } from "./document_outline.ts";
import { documentProblems } from "./document_problems.ts";
import { EXIT } from "./exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { graphOfDocument } from "./graph_of_document.ts";
import type { DocumentGraph } from "./graph_of_document.ts";
import type { ReadFile } from "./graph_of_files.ts";
import { writeText } from "./write_text.ts";

/** `orrery graph FILE.md`: draws what a document does; runs nothing. */
export async function graphDocument(
  word: string,
  { flags, terminal }: {
    readonly flags: ParsedCommand<typeof COMMANDS.graph>["flags"];
    readonly terminal: Terminal;
  },
): Promise<number> {
  const { path, file, project } = await seeDocument(word, "graph");
  const outline = await outlineOf(file);
  const drawn = await graphOfDocument(outline, { path, read: readerOf(project) });
  await writeText(await textOf(drawn, flags.format ?? "text", file.path), { output: flags.output, terminal });
  const notice = drawn.rows.length > 0
    ? ""
    : `notice: there is nothing to draw: ${file.path} has no operation\n`;
  await terminal.stderr.write(notice + documentProblems(file));
  return EXIT.ok;
}

/** Files outside the project are named, and not looked into. */
function readerOf({ root }: ProjectSettings): ReadFile {
  const files = hostFiles({ root });
  return async (path) => {
    const shown = shownPath(path, root);
    if (!isInside(realPath(path), root)) return { shown };
    try {
      const text = await readDocumentText(files, path);
      return { shown, file: await readDocument(text, { path: shown, hasOperations: path.endsWith(".md") }) };
    } catch (thrown) {
      if (!(thrown instanceof FileError)) throw thrown;
      return { shown };
    }
  };
}

async function textOf({ graph, rows }: DocumentGraph, format: string, title: string): Promise<string> {
  if (format === "mermaid") return (await import("../render/graph_mermaid.ts")).graphMermaid(graph);
  if (format === "svg") return await (await import("../render/graph_picture.ts")).graphSvg(graph);
  return rows.length === 0 ? "" : documentRail(title, { graph, rows });
}
