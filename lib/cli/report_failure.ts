import { ProblemsError } from "../core/problems_error.ts";
import { SourceError } from "../core/source_error.ts";
import { FileError } from "../core/world.ts";
import type { Terminal } from "../host/terminal.ts";
import { errorFrame, plainErrorFrame } from "../render/error_frame.ts";
import { paintFor } from "../render/paint.ts";
import { EXIT } from "./exit_code.ts";
import { hasColor } from "./looks.ts";
import { UsageError } from "./usage_error.ts";

/** Says on stderr what ended a command, and gives its exit code: 2 for what the user can put right before running. */
export async function reportFailure(error: unknown, terminal: Terminal): Promise<number> {
  const paint = paintFor(hasColor(terminal.stderr));
  if (error instanceof UsageError) {
    const command = error.command === undefined ? "orrery" : `orrery ${error.command}`;
    await terminal.stderr.write(`${plainErrorFrame(error.message, { paint })}Try: ${command} --help\n`);
    return EXIT.usage;
  }
  if (error instanceof SourceError) {
    await terminal.stderr.write(errorFrame(error, { paint }));
    return EXIT.usage;
  }
  if (error instanceof ProblemsError) {
    await terminal.stderr.write(error.problems.map((problem) => errorFrame(problem, { paint })).join("\n"));
    return EXIT.usage;
  }
  if (error instanceof FileError) {
    await terminal.stderr.write(plainErrorFrame(error.message, { paint }));
    return EXIT.usage;
  }
  await terminal.stderr.write(plainErrorFrame(unexpected(error), { paint }));
  return EXIT.failed;
}

/** Something nobody foresaw: where it happened helps whoever is told. */
function unexpected(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const ours = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return ours ? `A mistake in Orrery itself: ${error.stack ?? error.message}` : error.message;
}
