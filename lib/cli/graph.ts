import { typedPath } from "../core/core.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal/terminal.ts";
import { openApp } from "../service/app.ts";
import { graphMermaid } from "../render/graph/mermaid.ts";
import { graphSvg, graphText } from "../render/graph/picture.ts";
import { printable } from "../render/shown_text.ts";
import { EXIT } from "../service/exit_code.ts";
import { calls } from "../service/kinds/calls/calls.ts";
import type { Kind, LookedFile } from "../service/kinds/kind.ts";
import { assertNoResult, kindOfFile } from "../service/kinds/kinds.ts";
import type { COMMANDS, ParsedCommand } from "./flags/flags.ts";
import { fileHere, writeText } from "./here.ts";
import { problemText } from "./page.ts";
import { openCallSource } from "./run/source.ts";

/** Where no window says how wide a picture may be. */
const MAX_COLUMNS = 160;

/** `orrery graph FILE`: draws what a file does, such as how its calls depend on each other; runs nothing. */
export async function graph(
  { words: [word = "-"], flags }: ParsedCommand<typeof COMMANDS.graph>,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  assertNoResult(word, kinds, "graph");
  const kind = kindOfFile(word, kinds);
  const drawing = kind === calls ? undefined : await kind?.graph?.();
  const drawn = drawing === undefined ? await callsOf(word, terminal) : await fileHere(word);
  const { graph, problems, text, nothing } = await (drawing ?? await calls.graph()).graph(drawn);
  const notices = nothing === undefined ? [] : [`there is nothing to draw: ${nothing}`];
  const { stdout } = terminal;
  const columns = stdout.isTerminal ? terminal.size().columns : MAX_COLUMNS;
  const tell = (why: string) => void notices.push(why);
  const picture = flags.format === "mermaid"
    ? graphMermaid(graph)
    : flags.format === "svg"
    ? await graphSvg(graph)
    : text ?? await graphText(graph, { columns, tell });
  await writeText(picture, { output: flags.output, terminal });
  const name = drawing === undefined ? drawn.file : typedPath(drawn.file, drawn.project);
  const notes = printable(notices.map((each) => `notice: ${each}\n`).join("")) + problemText(problems, name);
  await terminal.stderr.write(notes);
  return EXIT.ok;
}

/** Of a call file, or stdin. @throws {UsageError} for what is no file that can be drawn */
async function callsOf(word: string, terminal: Terminal): Promise<LookedFile> {
  const cwd = workingFolder();
  const { name, path, text: pieces } = await openCallSource(word, { terminal, cwd, command: "graph" });
  const { project } = await openApp({ file: path });
  let text = "";
  for await (const piece of pieces) text += piece;
  return { file: name, path: path ?? cwd, text, project };
}
