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
import { graphOfCalls } from "../service/kinds/calls/graph.ts";
import { graphOfDocument } from "../service/kinds/document/graph.ts";
import { projectReader } from "../service/graph/graph.ts";
import { outlineOf, seeDocument } from "../service/kinds/document/outline.ts";
import type { COMMANDS, ParsedCommand } from "./flags/flags.ts";
import { writeText } from "./here.ts";
import { documentProblems } from "./run/document/once.ts";
import { openCallSource } from "./run/source.ts";

type GraphFlags = ParsedCommand<typeof COMMANDS.graph>["flags"];

/** `orrery graph FILE`: draws how calls depend on each other, or what a document does; runs nothing. */
export async function graph(
  { words: [word = "-"], flags }: ParsedCommand<typeof COMMANDS.graph>,
  terminal: Terminal,
): Promise<number> {
  const draw = /\.(md|ctx)$/i.test(word) ? drawDocument : drawCalls;
  const { text, notes } = await draw(word, flags, terminal);
  await writeText(text, { output: flags.output, terminal });
  await terminal.stderr.write(notes);
  return EXIT.ok;
}

/** A picture, and what is told of it. */
interface Drawn {
  readonly text: string;
  readonly notes: string;
}

async function drawCalls(word: string, flags: GraphFlags, terminal: Terminal): Promise<Drawn> {
  const cwd = workingFolder();
  const source = await openCallSource(word, { terminal, cwd, command: "graph" });
  const { config } = await openSettings(source.path === undefined ? cwd : dirname(source.path));
  const { markers } = config.calls;
  const calls: CallBlock[] = [];
  for await (const event of parseCalls(source.text, { markers })) {
    if (event.type === "call-end") calls.push(event.call);
  }
  const { graph, problems } = graphOfCalls(calls);
  const notices = calls.length > 0
    ? []
    : [`there is nothing to draw: no line of ${source.name} begins with ${markers.start}`];
  const { stdout } = terminal;
  const columns = stdout.isTerminal ? terminal.size().columns : MAX_COLUMNS;
  const tell = (why: string) => void notices.push(why);
  const text = await drawn(graph, flags, () => graphText(graph, { columns, tell }));
  const notes = [
    ...notices.map((each) => `notice: ${each}\n`),
    ...problems.map((each) => `${source.name}:${each.line}: error: ${each.text}\n`),
  ];
  return { text, notes: printable(notes.join("")) };
}

async function drawn(
  graph: CallGraph,
  { format }: GraphFlags,
  asText: () => string | Promise<string>,
): Promise<string> {
  return format === "mermaid"
    ? graphMermaid(graph)
    : format === "svg"
    ? await graphSvg(graph)
    : await asText();
}

/** Where no window says how wide a picture may be. */
const MAX_COLUMNS = 160;

async function drawDocument(word: string, flags: GraphFlags): Promise<Drawn> {
  const seen = await seeDocument(word, "graph");
  const { path, file, project } = seen;
  const read = projectReader(project.root);
  const { graph, rows } = await graphOfDocument(await outlineOf(file), { path, read });
  const isNothing = rows.length === 0;
  const text = await drawn(graph, flags, () => isNothing ? "" : documentRail(file.path, { graph, rows }));
  const notice = isNothing ? `notice: there is nothing to draw: ${file.path} has no operation\n` : "";
  return { text, notes: notice + documentProblems(seen) };
}
