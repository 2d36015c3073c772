import type { EffectFailure } from "../../../core/gadget_message.ts";
import type { FailedEffect } from "./steps.ts";
import { markRefusal } from "../thrown.ts";

type ErrorClass = new (message: string) => Error;

interface Kind {
  readonly code?: string;
  readonly errno?: number;
  /** As Node says it. */
  readonly words?: string;
  /** Deno's own class. */
  readonly denoClass: ErrorClass;
}

const { errors } = Deno;

const KINDS: { readonly [code in EffectFailure["code"]]: Kind } = {
  refused: { code: "EACCES", errno: -13, words: "permission denied", denoClass: errors.NotCapable },
  "not-found": { code: "ENOENT", errno: -2, words: "no such file or directory", denoClass: errors.NotFound },
  exists: { code: "EEXIST", errno: -17, words: "file already exists", denoClass: errors.AlreadyExists },
  "is-folder": {
    code: "EISDIR",
    errno: -21,
    words: "illegal operation on a directory",
    denoClass: errors.IsADirectory,
  },
  "not-folder": { code: "ENOTDIR", errno: -20, words: "not a directory", denoClass: errors.NotADirectory },
  "not-empty": { code: "ENOTEMPTY", errno: -39, words: "directory not empty", denoClass: Error },
  "too-large": { code: "EFBIG", errno: -27, words: "file too large", denoClass: RangeError },
  aborted: { code: "ABORT_ERR", denoClass: errors.Interrupted },
  other: { denoClass: Error },
};

/** What Deno's functions throw: its class, `code` as Node has it, and Orrery's message, which names the path and the flag. */
export function denoError(failed: FailedEffect): Error {
  const { code, denoClass } = KINDS[failed.failure.code];
  const error = new denoClass(failed.failure.message);
  return marked(code === undefined ? error : withFields(error, { code }), failed);
}

/** What Node's functions throw: `ENOENT: no such file or directory, open 'x'`, with `code`, `errno`, `syscall` and `path`. */
export function nodeError(failed: FailedEffect): Error {
  const { failure, op } = failed;
  const { code, errno, words } = KINDS[failure.code];
  if (code === undefined || words === undefined) return marked(new Error(failure.message), failed);
  const path = "path" in op ? op.path : op.kind === "run" ? op.command : op.url;
  const to = "to" in op ? op.to : undefined;
  const syscall = SYSCALLS[op.kind];
  const isPlain = failure.code !== "refused" && failure.code !== "too-large";
  const message = `${code}: ${words}, ${syscall} '${path}'${to === undefined ? "" : ` -> '${to}'`}`;
  const fields = { errno, code, syscall, path, ...(to !== undefined && { dest: to }) };
  return marked(
    withFields(new Error(isPlain ? message : `${message}: ${failure.message}`), fields),
    failed,
  );
}

const SYSCALLS: { readonly [kind in FailedEffect["op"]["kind"]]: string } = {
  read: "open",
  write: "open",
  stat: "stat",
  list: "scandir",
  "make-folder": "mkdir",
  remove: "rm",
  rename: "rename",
  copy: "copyfile",
  "real-path": "realpath",
  fetch: "fetch",
  run: "spawn",
};

/** What `fetch` throws: a missing permission as Deno says it, all else as a `TypeError`. */
export function fetchError(failed: FailedEffect): Error {
  return failed.failure.code === "refused"
    ? denoError(failed)
    : marked(new TypeError(failed.failure.message), failed);
}

/** Something of Deno or of Node that a gadget has not; the message says what to do instead. */
export function notThere(name: string, instead: string): Error {
  return withFields(new errors.NotSupported(`${name} is not there in a gadget: ${instead}`), {
    code: "ERR_NOT_SUPPORTED",
  });
}

/** A permission that can only be asked for in the manifest. */
export function notGranted(message: string): Error {
  return withFields(new errors.NotCapable(message), { code: "EACCES" });
}

function marked(error: Error, { failure, effect }: FailedEffect): Error {
  if (failure.code === "refused" && effect !== undefined) markRefusal(error, effect);
  return error;
}

function withFields(error: Error, fields: Readonly<Record<string, unknown>>): Error {
  for (const [name, value] of Object.entries(fields)) {
    Object.defineProperty(error, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return error;
}
