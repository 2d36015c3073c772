import type { EffectFailure } from "../core/gadget_message.ts";
import { messageOf } from "../core/source_error.ts";
import { FileError, type FileErrorCode, PermissionRefused } from "../core/world.ts";

/** An effect that failed for a reason with a code, where no error of a port says it. */
class EffectError extends Error {
  override readonly name = "EffectError";
  readonly code: EffectFailure["code"];

  constructor(code: EffectFailure["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** More than fits into an effect. */
export function tooLarge(message: string): Error {
  return new EffectError("too-large", message);
}

/** What an effect needs is not there. */
export function notThere(cause: unknown): Error {
  return new EffectError("not-found", messageOf(cause), { cause });
}

/** Why an effect came to nothing, as the process is told; a refusal itself is kept beside it. */
export function failedEffect(
  thrown: unknown,
  signal: AbortSignal,
): { readonly error: EffectFailure; readonly refused?: PermissionRefused } {
  const message = messageOf(thrown);
  if (thrown instanceof PermissionRefused) {
    return { error: { code: "refused", message: thrown.told }, refused: thrown };
  }
  if (signal.aborted) return { error: { code: "aborted", message: messageOf(signal.reason) } };
  return { error: { code: codeOf(thrown), message } };
}

function codeOf(thrown: unknown): EffectFailure["code"] {
  if (thrown instanceof EffectError) return thrown.code;
  return thrown instanceof FileError ? FILE_CODES[thrown.code] : "other";
}

const FILE_CODES: { readonly [code in FileErrorCode]: EffectFailure["code"] } = {
  "not-found": "not-found",
  "exists": "exists",
  "is-folder": "is-folder",
  "not-folder": "not-folder",
  "not-empty": "not-empty",
  "too-large": "too-large",
  "not-text": "other",
  "denied": "refused",
  "other": "other",
};
