import { jsonPage } from "../page.ts";
import { FileError, type JournalStatus, messageOf } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { KeptRun } from "../../service/keep.ts";
import { printable, resultText } from "../../render/shown_text.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import type { RunSummary } from "../../service/runs/summary.ts";
import type { Interruptible } from "./around.ts";
import type { RunView } from "./view.ts";

/** What is known when a run is over. */
export interface EndRunOptions extends Omit<DeliverOptions, "isInterrupted"> {
  readonly stop: Interruptible;
  readonly kept: KeptRun | undefined;
}

/** What is left of a run when it is over. */
export type EndedRun = Pick<RunSummary, "status" | "value" | "flags" | "isEmpty" | "exitCode" | "toJson">;

/** Puts away what is kept of a run, writes its result where it belongs, and gives the exit code. */
export async function endRun(summary: EndedRun, options: EndRunOptions): Promise<number> {
  const { terminal, stop, kept } = options;
  const { status, problem } = await closed(kept);
  const code = await deliverResult(summary, { ...options, isInterrupted: stop.isInterrupted });
  if (problem !== undefined) await terminal.stderr.write(`error: ${printable(problem)}\n`);
  if (
    (status === "stopped" || status === "held") && kept?.id !== undefined && !options.flags.quiet &&
    !stop.hasLeft
  ) {
    await terminal.stderr.write(`${status}; to go on: ${kept.way}orrery resume ${kept.id}\n`);
  }
  if (stop.hasLeft && !stop.isInterrupted) return EXIT.ok;
  return problem === undefined ? code : Math.max(code, EXIT.failed);
}

/** Follows a run to its end. Where it fails, or the process has to end at once, says what is left of it. */
export async function toItsEnd<Result>(
  { terminal, view, stop, kept }: Pick<EndRunOptions, "terminal" | "stop"> & {
    readonly view: Pick<RunView, "abandon">;
    readonly kept: Parameters<typeof sayWhatIsLeft>[1];
  },
  follow: () => Promise<Result>,
): Promise<Result> {
  stop.onSecond(() => {
    view.abandon();
    sayWhatIsLeft(terminal, kept);
  });
  try {
    return await follow();
  } catch (error) {
    if (kept?.partialRecord !== undefined) {
      await terminal.stderr.write(`the record so far: ${printable(kept.partialRecord)}\n`);
    }
    throw error;
  }
}

/** Before the process ends at once: names what is left. */
function sayWhatIsLeft(
  terminal: Terminal,
  kept: Pick<KeptRun, "id" | "way" | "partialRecord"> | undefined,
): void {
  if (kept?.partialRecord !== undefined) {
    terminal.stderr.writeNow(`the record so far: ${printable(kept.partialRecord)}\n`);
  }
  if (kept?.id !== undefined) {
    terminal.stderr.writeNow(`stopped; to go on: ${kept.way}orrery resume ${kept.id}\n`);
  }
}

async function closed(
  kept: KeptRun | undefined,
): Promise<{ readonly status?: JournalStatus; readonly problem?: string }> {
  try {
    return { status: await kept?.close() };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** Where the result goes and what is said about it. */
export interface DeliverOptions {
  readonly terminal: Terminal;
  readonly flags: {
    readonly json: boolean;
    readonly jsonl: boolean;
    readonly quiet: boolean;
    readonly output: string | undefined;
  };
  readonly cwd: string;
  readonly isInterrupted: boolean;
  /** What is said of a text of calls that has none. */
  readonly emptyNotice?: string;
  /** The value is on stdout already. */
  readonly isShown?: boolean;
  /** A value that is text is JSON too. */
  readonly isJson?: boolean;
  /** A line end is put behind a value that is text. */
  readonly endsLine?: boolean;
  /** What is to be done with the flags that would have allowed what was refused. Default: they are added. */
  readonly allowBy?: string;
}

/** Finds out before a run whether two things would be written to stdout. @throws {UsageError} */
export function checkStdout(
  { json, jsonl }: Pick<DeliverOptions["flags"], "json" | "jsonl">,
  command: string,
): void {
  if (!json || !jsonl) return;
  throw new UsageError("--json and --jsonl cannot both have stdout; choose one", command);
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
async function deliverResult(summary: EndedRun, options: DeliverOptions): Promise<number> {
  const { terminal, flags, cwd } = options;
  const { value } = summary;
  const text = value === undefined
    ? undefined
    : options.isJson === true && summary.status === "done"
    ? jsonPage(value)
    : resultText(value) + (options.endsLine === true ? "\n" : "");
  const problem = text === undefined ? undefined : await saveProblem(flags.output, text, cwd);
  if (flags.json) await terminal.stdout.write(`${JSON.stringify(summary.toJson())}\n`);
  else if (
    options.isShown !== true && !flags.jsonl && (flags.output === undefined || problem !== undefined) &&
    text !== undefined
  ) {
    await writeValue(text, terminal);
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
  text: string,
  cwd: string,
): Promise<string | undefined> {
  if (output === undefined) return undefined;
  try {
    await hostFiles({ root: cwd }).writeText(output, text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** A terminal gets nothing that it would obey, and a line end; a pipe gets the value byte for byte. */
async function writeValue(text: string, { stdout }: Terminal): Promise<void> {
  if (!stdout.isTerminal) return await stdout.write(text);
  await stdout.write(printable(text.endsWith("\n") ? text : `${text}\n`));
}

async function sayWhatWasMissing(summary: EndedRun, options: DeliverOptions): Promise<void> {
  const { stderr } = options.terminal;
  const { output } = options.flags;
  if (
    options.emptyNotice !== undefined && summary.isEmpty && !options.flags.quiet &&
    summary.exitCode === EXIT.ok
  ) {
    await stderr.write(options.emptyNotice);
  }
  if (output !== undefined && summary.value === undefined) {
    await stderr.write(`notice: there is no result: ${JSON.stringify(output)} was not written\n`);
  }
  if (summary.flags.length === 0) return;
  const line = refusalLine(summary.flags, options.allowBy);
  if (line !== undefined) await stderr.write(`refused; to allow it, ${line}\n`);
}

/** A flag that no shell reads as anything but itself. */
const HARMLESS = /^(--[a-z-]+)(?:[= ]([\w@%+=:,./-]+))?$/;

/**
 * The flags that would have allowed what was refused, in one line to copy: `add --allow-write=out --trust=chart`; lists of
 * one flag are joined. Undefined when no flag would help.
 *
 * @param flags as words for a shell: one that needs quotes has them
 */
function refusalLine(flags: readonly string[], by = "add"): string | undefined {
  const lists = new Map<string, Set<string>>();
  const quoted = new Set<string>();
  for (const flag of flags) {
    const [, name, value] = HARMLESS.exec(flag) ?? [];
    if (name !== undefined) {
      lists.set(name, new Set([...lists.get(name) ?? [], ...(value === undefined ? [] : [value])]));
    } else if (flag !== "") quoted.add(shellQuoted(flag));
  }
  const words = [...lists].map(([name, list]) => list.size === 0 ? name : `${name}=${[...list].join(",")}`);
  return words.length + quoted.size === 0 ? undefined : `${by} ${[...words, ...quoted].join(" ")}`;
}

/** Names and paths in a flag may come from a model: what has no quotes yet and could be obeyed by a shell gets them. */
function shellQuoted(flag: string): string {
  if (/^\$?'[^\n]*'$/.test(flag)) return flag;
  return `'${flag.replace(" ", "=").replaceAll("'", `'\\''`)}'`;
}
