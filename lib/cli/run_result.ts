import type { Json } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import type { Terminal } from "../host/terminal.ts";
import type { Markers } from "../parse/markers.ts";
import { printable } from "../render/printable.ts";
import { resultText } from "../render/result_text.ts";
import type { CallSource } from "./call_source.ts";
import { EXIT } from "./exit_code.ts";
import type { RunSummary } from "./run_summary.ts";

/** Where the result goes and what is said about it. */
export interface DeliverOptions {
  readonly terminal: Terminal;
  readonly flags: {
    readonly json: boolean;
    readonly jsonl: boolean;
    readonly quiet: boolean;
    readonly output: string | undefined;
  };
  readonly source: CallSource;
  readonly markers: Markers;
  readonly cwd: string;
  readonly isInterrupted: boolean;
}

/** Finds out before a run whether its result can be kept. @throws {FileError} when the file is a folder or a device. */
export async function checkResultFile(output: string | undefined, cwd: string): Promise<void> {
  if (output === undefined) return;
  const { kind } = await hostFiles({ root: cwd }).stat(output).catch(() => ({ kind: "file" }));
  if (kind === "file") return;
  const found = kind === "folder" ? "it is a folder" : "it is not a regular file";
  throw new FileError(`Cannot write the result to ${JSON.stringify(output)}: ${found}; name a file`, {
    path: output,
    code: kind === "folder" ? "is-folder" : "other",
  });
}

/** Writes the value of a run where it belongs, says what was missing, and gives the exit code. */
export async function deliverResult(summary: RunSummary, options: DeliverOptions): Promise<number> {
  const { terminal, flags, cwd } = options;
  const { value } = summary;
  const problem = value === undefined ? undefined : await saveProblem(flags.output, value, cwd);
  if (flags.json) await terminal.stdout.write(`${JSON.stringify(summary.toJson())}\n`);
  else if (!flags.jsonl && (flags.output === undefined || problem !== undefined) && value !== undefined) {
    await writeValue(value, terminal);
  }
  await sayWhatWasMissing(summary, options);
  if (problem !== undefined) {
    await terminal.stderr.write(`error: ${printable(problem)}; the result is on stdout\n`);
  }
  if (options.isInterrupted) return EXIT.interrupted;
  return problem === undefined ? summary.exitCode : Math.max(EXIT.failed, summary.exitCode);
}

/** Keeps the result where `-o` says; gives why it could not. What a run has made is not lost for that. */
async function saveProblem(
  output: string | undefined,
  value: Json,
  cwd: string,
): Promise<string | undefined> {
  if (output === undefined) return undefined;
  try {
    await hostFiles({ root: cwd }).writeText(output, resultText(value));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** A terminal gets nothing that it would obey, and a line end; a pipe gets the value byte for byte. */
async function writeValue(value: Json, { stdout }: Terminal): Promise<void> {
  const text = resultText(value);
  if (!stdout.isTerminal) return await stdout.write(text);
  await stdout.write(printable(text.endsWith("\n") ? text : `${text}\n`));
}

async function sayWhatWasMissing(summary: RunSummary, options: DeliverOptions): Promise<void> {
  const { stderr } = options.terminal;
  const { output } = options.flags;
  if (!summary.hasCalls && !options.flags.quiet && summary.exitCode === EXIT.ok) {
    await stderr.write(noCalls(options));
  }
  if (output !== undefined && summary.value === undefined) {
    await stderr.write(`notice: there is no result: ${JSON.stringify(output)} was not written\n`);
  }
  if (summary.flags.length === 0) return;
  const { refusalLine } = await import("../render/refusal_line.ts");
  const line = refusalLine(summary.flags);
  if (line !== undefined) await stderr.write(`refused; to allow it, ${line}\n`);
}

function noCalls({ source, markers }: DeliverOptions): string {
  const name = source.isStdin ? "stdin" : printable(JSON.stringify(source.name));
  return `notice: nothing ran: no line of ${name} begins with ${printable(markers.start)}\n`;
}
