import type { CallErrorCode } from "../core/event.ts";
import { PermissionRefused } from "../core/world.ts";
import { messageOf } from "../core/source_error.ts";
import { ResultError } from "./call_value.ts";
import { PlaceholderError } from "./placeholders.ts";
import { InputError } from "./run_gadget.ts";

/** Why a call failed, as its event tells it. */
export interface CallFailure {
  readonly error: string;
  readonly code: CallErrorCode;
  readonly flag?: string;
}

/** An error whose code is known where it is made: before a gadget runs. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly failure: CallFailure;

  constructor(error: string, code: CallErrorCode, flag?: string) {
    super(error);
    this.failure = flag === undefined ? { error, code } : { error, code, flag };
  }
}

/** What was thrown, as the failure of a call. */
export function callFailure(thrown: unknown, cause: "thrown" | "timeout" | "abort"): CallFailure {
  const error = messageOf(thrown);
  if (cause !== "thrown") return { error: cause === "abort" ? `Aborted: ${error}` : error, code: cause };
  if (thrown instanceof CallError) return thrown.failure;
  if (thrown instanceof PermissionRefused) return { error, code: "permission", flag: thrown.flag };
  if (thrown instanceof InputError || thrown instanceof PlaceholderError) return { error, code: "input" };
  return { error, code: thrown instanceof ResultError ? "result" : "failed" };
}

const CODES: ReadonlySet<string> = new Set<CallErrorCode>(
  [
    "parse",
    "unknown-gadget",
    "not-trusted",
    "unavailable",
    "input",
    "permission",
    "timeout",
    "abort",
    "result",
    "unverified",
    "failed",
  ],
);

/** A code that was kept as text. */
export function callErrorCode(text: string | undefined): CallErrorCode {
  return isCode(text) ? text : "failed";
}

function isCode(text: string | undefined): text is CallErrorCode {
  return text !== undefined && CODES.has(text);
}
