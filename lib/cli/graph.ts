import { dirname } from "node:path";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { type CallBlock, parseCalls } from "../parse/calls/calls.ts";
import { openSettings } from "../project/project.ts";
import type { CallGraph } from "../render/call_graph.ts";
import { printable } from "../render/shown_text.ts";
import { EXIT } from "../service/exit_code.ts";
import { graphOfCalls } from "../service/graph/calls.ts";
import { openCallSource } from "./call_source.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { writeText } from "./write_text.ts";

/** `orrery graph FILE`: draws how calls depend on each other, or what a document does; runs nothing. */
export async function graph(
  { words, flags }: ParsedCommand<typeof COMMANDS.graph>,
  terminal: Terminal,
): Promise<number> {
  const [word = "-"] = words;
  if (/\.(md|ctx)$/i.test(word)) {
    const { graphDocument }: typeof import("./graph_document.ts") = await import(
      "./graph_document.ts" as string
    );
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
  if (format === "mermaid") return (await import("../render/graph_mermaid.ts")).graphMermaid(graph);
  if (format === "svg") return await (await import("../render/graph_picture.ts")).graphSvg(graph);
  const columns = terminal.stdout.isTerminal ? terminal.size().columns : MAX_COLUMNS;
  return await (await import("../render/graph_text.ts")).graphText(graph, { columns, tell });
}

/** Where no window says how wide a picture may be. */
const MAX_COLUMNS = 160;
