import {
  DivergedError,
  FileError,
  JournalError,
  messageOf,
  ModelError,
  notCapableText,
  PermissionRefused,
  ProblemsError,
  PromptError,
  ReplayError,
  RunEndedError,
  RunNotFoundError,
  RunOwnedError,
  shownPath,
  SourceError,
  StepNotFoundError,
  TurnNotFoundError,
} from "../core/core.ts";
import { hasColor, type Terminal } from "../host/terminal/terminal.ts";
import { paintFor } from "../render/cells.ts";
import { errorFrame, plainErrorFrame } from "../render/error_frame.ts";
import { ConversationError } from "../run/conversation/work.ts";
import { EXIT, InterruptedError, UsageError } from "../service/exit_code.ts";

/** Says on stderr what ended a command, and gives its exit code: 2 for what the user can put right before running. */
export async function reportFailure(error: unknown, terminal: Terminal): Promise<number> {
  if (error instanceof InterruptedError) return EXIT.interrupted;
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
  const notCapable = notCapableText(error);
  if (notCapable !== undefined) {
    await terminal.stderr.write(plainErrorFrame(notCapable, { paint }));
    return EXIT.usage;
  }
  const code = codeOf(error);
  if (error instanceof Error && code !== undefined) {
    await terminal.stderr.write(plainErrorFrame(error.message, { paint }));
    return code;
  }
  await terminal.stderr.write(plainErrorFrame(unexpected(error), { paint }));
  return EXIT.failed;
}

/** Of an error that says itself what to do; undefined for one that nobody foresaw. */
function codeOf(error: unknown): number | undefined {
  if (error instanceof ModelError) return modelCode(error);
  if (
    error instanceof FileError || error instanceof JournalError || error instanceof RunNotFoundError ||
    error instanceof StepNotFoundError || error instanceof TurnNotFoundError || error instanceof PromptError
  ) return EXIT.usage;
  if (error instanceof PermissionRefused) return EXIT.refused;
  if (error instanceof ConversationError) return conversationErrorCode(error);
  const hasEnded = error instanceof RunOwnedError || error instanceof RunEndedError;
  return hasEnded || error instanceof DivergedError || error instanceof ReplayError ? EXIT.failed : undefined;
}

function modelCode({ code }: ModelError): number {
  if (code === "config") return EXIT.usage;
  if (code === "permission") return EXIT.refused;
  return code === "timeout" ? EXIT.timeout : EXIT.provider;
}

/** Something nobody foresaw: where it happened helps whoever is told. */
function unexpected(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const ours = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return ours ? `A mistake in Orrery itself: ${error.stack ?? error.message}` : error.message;
}

/** Orrery's own modules: they are on the way of an error, not where it comes from. */
const OWN = [new URL("../", import.meta.url).href, new URL("../../gadgets/", import.meta.url).href];

const FRAME = /^ +at (?:.*\()?(file:\/\/\/.+?)(?:[?#][^:\n]*)?:(\d+):\d+\)?$/gm;

/** What is known of an error that nobody waited for: the module that its stack names, and what it says. @param cwd absolute */
export function strayErrorText(error: unknown, cwd: string): string {
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  const place = typeof stack === "string" ? placeOf(stack, cwd) : undefined;
  return `${place === undefined ? "" : `${place}: `}an error that nobody waited for: ${messageOf(error)}`;
}

function placeOf(stack: string, cwd: string): string | undefined {
  for (const [, url = "", line = ""] of stack.matchAll(FRAME)) {
    if (OWN.some((folder) => url.startsWith(folder))) continue;
    return `${shownPath(pathOf(url), cwd)}:${line}`;
  }
  return undefined;
}

function pathOf(url: string): string {
  const path = new URL(url).pathname;
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a name that is no UTF-8
  }
}

/** The exit code of a message that a conversation did not take: 2 for what the user can put right before. */
export function conversationErrorCode({ code }: ConversationError): number {
  return code === "gone" || code === "changed" || code === "empty" ? EXIT.usage : EXIT.failed;
}
