// The command of `@shell` and the text that it leaves in a document (documents.md 9.1-9.2).
import { dirname, isAbsolute, join } from "node:path";
import { narrowedAway } from "../../check/narrowing.ts";
import { type Clock, objectOrEmpty, type Shell } from "../../core/core.ts";
import { nodeBodies } from "../../document/live_node.ts";
import { closingLine } from "../../parse/document/markdown_blocks.ts";
import type { ShellFields } from "../../parse/document/operation.ts";
import { limitsOf } from "./means.ts";
import { insertResult, type Operation, resultNodes, targetOf } from "./operation.ts";
import { performEffect } from "../effect.ts";
import { OperationError } from "./failure.ts";

/** Bytes of output that are kept (documents.md 14). */
const MAX_BYTES = 1_048_576;

/** How a command went. */
export interface ShellOutcome {
  /** stdout and stderr, as far as they were kept. */
  readonly output: string;
  /** 128 + the signal's number when a signal ended it. */
  readonly exitCode: number;
  /** Bytes of output that were not kept. */
  readonly dropped: number;
  /** The time in seconds after which it was stopped; absent: it ended by itself. */
  readonly timedOutS?: number;
}

/** The text of a result: the output, and what is to be told of its end. A stopped command has no exit code of its own to tell. */
export function shellText({ output, exitCode, dropped, timedOutS }: ShellOutcome): string {
  const added = [
    ...(dropped > 0 ? [`[output cut: ${dropped} more bytes]`] : []),
    ...(timedOutS !== undefined ? [`Command timed out after ${timedOutS} s and was stopped`] : []),
    ...(timedOutS === undefined && exitCode !== 0 ? [`Command exited with non-zero code: ${exitCode}`] : []),
  ];
  if (added.length === 0) return output;
  const closing = closingLine(output);
  const lines = [...(closing === "" ? [] : [closing]), ...added];
  return output + (output === "" || output.endsWith("\n") ? "" : "\n") + lines.join("\n");
}

/** What a document's command is run with. */
export interface DocumentCommand {
  /** The shell that reads the script. */
  readonly shell: {
    readonly command: string;
    args(script: string): readonly string[];
    /** The names of our variables that the script gets; `LC_*` is all that begin with `LC_`. */
    readonly inherit: readonly string[];
  };
  readonly script: string;
  /** The folder of the document. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** The output as it comes, as far as it is kept. */
  readonly onOutput?: (text: string) => void;
}

/** What a document's command came to. */
export interface DocumentCommandResult {
  /** The text of the result, with the lines about its end. */
  readonly text: string;
  /** 128 + the signal's number when a signal ended it. */
  readonly exitCode: number;
  readonly isTimedOut: boolean;
}

/**
 * Runs a script to its end or for `timeoutMs`; then it and everything it started is ended, and what came until then is the result.
 *
 * @throws the reason of `signal`, and what `shell` throws when the command is not allowed or cannot be started
 */
export async function runDocumentCommand(
  shell: Shell,
  command: DocumentCommand,
): Promise<DocumentCommandResult> {
  const { script, cwd, env = {}, timeoutMs, signal, onOutput } = command;
  using timeout = startTimeout(command);
  const { stdout: output, exitCode, dropped, stopped } = await shell.run(command.shell.command, {
    args: command.shell.args(script),
    cwd,
    env,
    inherit: command.shell.inherit,
    isMerged: true,
    maxBytes: MAX_BYTES,
    stop: timeout.signal,
    ...(signal && { signal }),
    ...(onOutput && { onOutput }),
  });
  const text = shellText({ output, exitCode, dropped, ...(stopped && { timedOutS: timeoutMs / 1000 }) });
  return { text, exitCode, isTimedOut: stopped };
}

/** A signal that is aborted when the time is over, unless it is disposed of before. */
function startTimeout({ timeoutMs, clock }: DocumentCommand): { readonly signal: AbortSignal } & Disposable {
  const over = new AbortController();
  const done = new AbortController();
  clock.sleep(timeoutMs, done.signal).then(() => over.abort(), () => {});
  return { signal: over.signal, [Symbol.dispose]: () => done.abort("done") };
}

const HEADER = "# OS Shell Tool response block";

/** Runs the command and merges its output; a failure of it is told after that (documents.md 9.1 to 9.3). @throws {OperationError} */
export async function performShell(operation: Operation<ShellFields>): Promise<void> {
  const { run, means, fields, file, key, from, narrowing } = operation;
  const against = narrowedAway(narrowing, { kind: "run", root: means.root });
  if (against !== undefined) throw new OperationError(`@shell needs run permission, ${against}`);
  targetOf(operation);
  const { prompt: script, timeoutS = limitsOf(file, means).shellTimeoutS, useHeader = HEADER } = fields;
  const env = environment(operation);
  const folder = dirname(from);
  const outcome = await performEffect(run, {
    key: `${key}/shell`,
    kind: "shell",
    name: `@shell ${from}:${operation.node.content.line}`,
    input: { script, folder, env, timeoutS },
    isIdempotent: false,
    perform: async (tell) => {
      const { text, exitCode, isTimedOut } = await runDocumentCommand(means.shell, {
        shell: means.script,
        script,
        cwd: isAbsolute(folder) ? folder : join(means.root, folder),
        env,
        timeoutMs: timeoutS * 1000,
        clock: run.clock,
        signal: run.signal,
        onOutput: tell,
      });
      return { text, exitCode, isTimedOut };
    },
  });
  const { text = "", exitCode = 0, isTimedOut = false } = objectOrEmpty(outcome);
  const nodes = await resultNodes(operation, String(text));
  insertResult(operation, { nodes, header: useHeader, by: "shell" });
  if (isTimedOut === true) throw new OperationError(`timed out after ${timeoutS} s`);
  if (fields.onError === "stop" && exitCode !== 0) {
    throw new OperationError(`command exited with code ${String(exitCode)}`);
  }
}

/** What the command gets besides; a block without its heading line. @throws {BlockReferenceError} */
function environment({ fields, live }: Operation<ShellFields>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields.env).map(([name, value]) =>
      [name, typeof value === "string" ? value : nodeBodies(live.select(value.blocks))] as const
    ),
  );
}
