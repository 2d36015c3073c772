import { dirname } from "node:path";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal/terminal.ts";
import { type CallBlock, parseCalls } from "../parse/calls/calls.ts";
import { openSettings } from "../project/project.ts";
import type { CallGraph } from "../render/graph/graph.ts";
import { documentRail } from "../render/graph/rail.ts";
import { graphMermaid } from "../render/graph/mermaid.ts";
import { graphSvg, graphText } from "../render/graph/picture.ts";
import { printable } from "../render/shown_text.ts";
import { EXIT } from "../service/exit_code.ts";
import { graphOfCalls } from "../service/graph/calls.ts";
import { type DocumentGraph, graphOfDocument } from "../service/graph/document.ts";
import { projectReader } from "../service/graph/graph.ts";
import { outlineOf, seeDocument } from "../service/look/document_outline.ts";
import type { COMMANDS, ParsedCommand } from "./flags/flags.ts";
import { writeText } from "./here.ts";
import { documentProblems } from "./run/document/once.ts";
import { openCallSource } from "./run/source.ts";

/** `orrery graph FILE`: draws how calls depend on each other, or what a document does; runs nothing. */
export async function graph(
  { words, flags }: ParsedCommand<typeof COMMANDS.graph>,
  terminal: Terminal,
): Promise<number> {
  const [word = "-"] = words;
  if (/\.(md|ctx)$/i.test(word)) {
    return await graphDocument(word, { flags, terminal });
  }
  const cwd = workingFolder();
  const source = await openCallSource(word, { terminal, cwd, command: "graph" });
  const { config } = await openSettings(source.path === undefined ? cwd : dirname(source.path), { cwd });
  const { markers } = config.calls;
  const calls: CallBlock[] = [];
  for await (const event of parseCalls(source.text, { markers })) {
    if (event.type === "call-end") calls.push(event.call);
  }
  const { graph, problems } = graphOfCalls(calls);
  const notices = calls.length > 0
    ? []
    : [`there is nothing to draw: no line of ${source.name} begins with ${markers.start}`];
  const tell = (why: string) => void notices.push(why);
  const text = await drawn(graph, { format: flags.format ?? "text", terminal, tell });
  await writeText(text, { output: flags.output, terminal });
  const lines = problems.map(({ line, text }) => printable(`${source.name}:${line}: error: ${text}\n`));
  await terminal.stderr.write([...notices.map((text) => printable(`notice: ${text}\n`)), ...lines].join(""));
  return EXIT.ok;
}

async function drawn(
  graph: CallGraph,
  { format, terminal, tell }: {
    readonly format: string;
    readonly terminal: Terminal;
    readonly tell: (why: string) => void;
  },
): Promise<string> {
  if (format === "mermaid") return graphMermaid(graph);
  if (format === "svg") return await graphSvg(graph);
  const columns = terminal.stdout.isTerminal ? terminal.size().columns : MAX_COLUMNS;
  return await graphText(graph, { columns, tell });
}

/** Where no window says how wide a picture may be. */
const MAX_COLUMNS = 160;

/** `orrery graph FILE.md`: draws what a document does; runs nothing. */
async function graphDocument(
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
  if (format === "mermaid") return graphMermaid(graph);
  if (format === "svg") return await graphSvg(graph);
  return rows.length === 0 ? "" : documentRail(title, { graph, rows });
}
