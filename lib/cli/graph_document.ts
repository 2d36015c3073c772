import type { Terminal } from "../host/terminal.ts";
import { documentRail } from "../render/document_rail.ts";
import { EXIT } from "../service/exit_code.ts";
import { type DocumentGraph, graphOfDocument } from "../service/graph/document.ts";
import { outlineOf, seeDocument } from "../service/look/document_outline.ts";
import { projectReader } from "../service/graph/graph.ts";
import { documentProblems } from "./document_problems.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { writeText } from "./write_text.ts";

/** `orrery graph FILE.md`: draws what a document does; runs nothing. */
export async function graphDocument(
  word: string,
  { flags, terminal }: {
    readonly flags: ParsedCommand<typeof COMMANDS.graph>["flags"];
    readonly terminal: Terminal;
  },
): Promise<number> {
  const seen = await seeDocument(word, "graph");
  const { path, file, project } = seen;
  const outline = await outlineOf(file);
  const drawn = await graphOfDocument(outline, { path, read: projectReader(project.root) });
  await writeText(await textOf(drawn, flags.format ?? "text", file.path), { output: flags.output, terminal });
  const notice = drawn.rows.length > 0
    ? ""
    : `notice: there is nothing to draw: ${file.path} has no operation\n`;
  await terminal.stderr.write(notice + documentProblems(seen));
  return EXIT.ok;
}

async function textOf({ graph, rows }: DocumentGraph, format: string, title: string): Promise<string> {
  if (format === "mermaid") return (await import("../render/graph_mermaid.ts")).graphMermaid(graph);
  if (format === "svg") return await (await import("../render/graph_picture.ts")).graphSvg(graph);
  return rows.length === 0 ? "" : documentRail(title, { graph, rows });
}
