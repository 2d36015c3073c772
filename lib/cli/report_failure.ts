import {
  ConversationError,
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
import { EXIT, InterruptedError, UsageError } from "../service/exit_code.ts";
import type { ServerError } from "./remote/client.ts";

/** Says on stderr what ended a command, and gives its exit code: 2 for what the user can put right before running. */
export async function reportFailure(error: unknown, terminal: Terminal): Promise<number> {
  if (error instanceof InterruptedError) return EXIT.interrupted;
  const paint = paintFor(hasColor(terminal.stderr));
  const tell = async (text: string, code: number): Promise<number> => {
    await terminal.stderr.write(text);
    return code;
  };
  if (error instanceof UsageError) {
    const command = error.command === undefined ? "orrery" : `orrery ${error.command}`;
    return await tell(`${plainErrorFrame(error.message, { paint })}Try: ${command} --help\n`, EXIT.usage);
  }
  const problems = error instanceof ProblemsError
    ? error.problems
    : error instanceof SourceError
    ? [error]
    : undefined;
  if (problems !== undefined) {
    return await tell(problems.map((problem) => errorFrame(problem, { paint })).join("\n"), EXIT.usage);
  }
  if (isServerError(error)) return await tell(plainErrorFrame(error.message, { paint }), error.exitCode);
  const notCapable = notCapableText(error);
  const code = notCapable === undefined ? codeOf(error) : EXIT.usage;
  const message = notCapable ?? (code === undefined ? unexpected(error) : messageOf(error));
  return await tell(plainErrorFrame(message, { paint }), code ?? EXIT.failed);
}

/** By its name: its module is loaded where a server is asked. */
function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && error.name === "ServerError";
}

/** What the user can put right before running. */
const MISUSES = [
  FileError,
  JournalError,
  RunNotFoundError,
  StepNotFoundError,
  TurnNotFoundError,
  PromptError,
];

const FAILURES = [RunOwnedError, RunEndedError, DivergedError, ReplayError];

/** Of an error that says itself what to do; undefined for one that nobody foresaw. */
function codeOf(error: unknown): number | undefined {
  if (error instanceof ModelError) return MODEL_CODES[error.code] ?? EXIT.provider;
  if (MISUSES.some((kind) => error instanceof kind)) return EXIT.usage;
  if (error instanceof PermissionRefused) return EXIT.refused;
  if (error instanceof ConversationError) return conversationErrorCode(error);
  return FAILURES.some((kind) => error instanceof kind) ? EXIT.failed : undefined;
}

const MODEL_CODES: { readonly [code in ModelError["code"]]?: number } = {
  config: EXIT.usage,
  permission: EXIT.refused,
  timeout: EXIT.timeout,
};

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
  const places = [...stack.matchAll(FRAME)];
  const [, url, line] = places.find(([, url = ""]) => !OWN.some((folder) => url.startsWith(folder))) ?? [];
  return url === undefined ? undefined : `${shownPath(pathOf(url), cwd)}:${line}`;
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
