import {
  decodeUtf8,
  EFFECT_BYTES_WORDS,
  type EffectFailure,
  type EffectOp,
  type FileChanges,
  FileError,
  type FileErrorCode,
  type Http,
  type HttpResponse,
  type Json,
  MAX_EFFECT_BYTES,
  MAX_EFFECT_TEXT,
  messageOf,
  oneArray,
  PermissionRefused,
  type Shell,
  type ShellResult,
  toJson,
  type World,
} from "../core/core.ts";

/** What a gadget may touch: guarded for this gadget. */
export interface EffectOptions {
  readonly world: Pick<World, "files" | "http" | "shell">;
  readonly changes: FileChanges;
  readonly signal: AbortSignal;
}

/** What goes back to the process. */
export type EffectSuccess = { readonly ok: Json; readonly bytes: Uint8Array };

/** What came of an effect. A refusal is kept: when the gadget throws it on, the call fails with it. */
export type EffectOutcome =
  | EffectSuccess
  | { readonly error: EffectFailure; readonly refused?: PermissionRefused };

const NOTHING = new Uint8Array();
const DONE: EffectSuccess = { ok: null, bytes: NOTHING };

/**
 * Does for a gadget what it asked for. Never throws.
 *
 * `ok` is of `stat` `{kind, size, modifiedMs?, createdMs?, mode?}`, of `list` `[[name, kind], ...]`, of `real-path` the path, of `fetch`
 * `{status, url, headers: [[name, value], ...]}`, of `run` `{exitCode, stdoutBytes}` (stderr is behind that), and null of all else.
 *
 * @param op of a shape that has been checked
 * @param bytes what is written, the body of a request, or the stdin of a command
 */
export async function performEffect(
  op: EffectOp,
  bytes: Uint8Array,
  options: EffectOptions,
): Promise<EffectOutcome> {
  try {
    options.signal.throwIfAborted();
    if (bytes.length > MAX_EFFECT_BYTES) {
      throw tooLarge(`Cannot take ${bytes.length} bytes at once: at most ${EFFECT_BYTES_WORDS} are possible`);
    }
    const { length } = JSON.stringify(op);
    if (length > MAX_EFFECT_TEXT) {
      throw tooLarge(
        `Cannot take ${length} characters of arguments: at most ${MAX_EFFECT_TEXT} are possible`,
      );
    }
    return await perform(op, bytes, options);
  } catch (error) {
    return failedEffect(error, options.signal);
  }
}

async function perform(
  op: EffectOp,
  bytes: Uint8Array,
  { world, changes, signal }: EffectOptions,
): Promise<EffectSuccess> {
  switch (op.kind) {
    case "read":
      return { ok: null, bytes: await changes.readBytes(op.path, { maxBytes: MAX_EFFECT_BYTES, signal }) };
    case "write":
      await changes[WRITING[op.how]](op.path, bytes);
      return DONE;
    case "stat":
      return { ok: toJson(await changes.look(op.path, { isLink: op.isLink ?? false })), bytes: NOTHING };
    case "list":
      return { ok: await entries(changes, op.path), bytes: NOTHING };
    case "make-folder":
      await changes.makeFolder(op.path, op);
      return DONE;
    case "remove":
      await changes.remove(op.path, op);
      return DONE;
    case "rename":
      await changes.rename(op.path, op.to);
      return DONE;
    case "copy":
      await changes.copy(op.path, op.to);
      return DONE;
    case "real-path":
      await changes.look(op.path);
      return { ok: await world.files.resolve(op.path), bytes: NOTHING };
    case "fetch":
      return await performFetch(op, bytes, { http: world.http, signal });
    case "run":
      return await performRun(op, bytes, { shell: world.shell, signal });
    default:
      return op satisfies never;
  }
}

const WRITING = { replace: "writeBytes", append: "append", create: "create" } as const;

async function entries(changes: FileChanges, path: string): Promise<Json> {
  const found = await changes.list(path);
  const length = found.reduce((sum, { name }) => sum + name.length + 16, 0);
  if (length <= 8 * MAX_EFFECT_TEXT) return found.map(({ name, kind }) => [name, kind]);
  throw tooLarge(
    `Cannot list ${JSON.stringify(path)}: it has ${found.length} entries, too many to be listed at once`,
  );
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** A request of a gadget; the whole answer. Every hop is judged by the port. */
async function performFetch(
  op: EffectOp & { readonly kind: "fetch" },
  bytes: Uint8Array,
  { http, signal }: { readonly http: Http; readonly signal: AbortSignal },
): Promise<EffectSuccess> {
  const { url, method, redirect } = op;
  const response = await http.fetch(url, {
    method,
    headers: headersOf(op.headers),
    signal,
    maxBytes: MAX_EFFECT_BYTES,
    redirect: redirect === "follow" ? "follow" : "manual",
    ...(bytes.length > 0 && { body: bytes }),
  });
  const shown = JSON.stringify(url);
  if (redirect === "error" && REDIRECTS.includes(response.status)) {
    throw new Error(`Cannot fetch ${shown}: it redirects, and the request says redirect: "error"`);
  }
  if (response.truncated) {
    throw tooLarge(`Cannot fetch ${shown}: the body of the answer has more than ${EFFECT_BYTES_WORDS}`);
  }
  return {
    ok: { status: response.status, url: response.url, headers: answeredHeaders(response) },
    bytes: response.body,
  };
}

/** One value for each name: several of a name are one list (RFC 9110, 5.3), but for cookies. */
function headersOf(pairs: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const [given, value] of pairs) {
    const name = given.toLowerCase();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}${name === "cookie" ? "; " : ", "}${value}`);
  }
  return Object.fromEntries(headers);
}

/** The encoding has been taken off the body: its length and its name are no longer true. */
function answeredHeaders({ headers }: HttpResponse): (readonly [string, string])[] {
  const isDecoded = headers["content-encoding"] !== undefined;
  return Object.entries(headers).filter(([name]) =>
    !isDecoded || (name !== "content-encoding" && name !== "content-length")
  );
}

/** Of each of stdout and stderr: the two go back beside each other. */
const MAX_OUTPUT_BYTES = MAX_EFFECT_BYTES / 2;

/** A command of a gadget, without a shell. Its output is text: what is no UTF-8 in it is U+FFFD. @param bytes its stdin, UTF-8 */
async function performRun(
  { command, args, cwd, env }: EffectOp & { readonly kind: "run" },
  bytes: Uint8Array,
  { shell, signal }: { readonly shell: Shell; readonly signal: AbortSignal },
): Promise<EffectSuccess> {
  const shown = JSON.stringify(command);
  const result = await missing(() =>
    shell.run(command, {
      args,
      env,
      signal,
      maxBytes: MAX_OUTPUT_BYTES,
      cwd,
      ...(bytes.length > 0 && { stdin: stdinText(shown, bytes) }),
    })
  );
  if (result.truncated) {
    const most = `at most ${MAX_OUTPUT_BYTES} of each stream are possible`;
    throw tooLarge(
      `Cannot take the output of ${shown}: ${result.dropped} bytes of it are more than fits, ${most}`,
    );
  }
  return outputOf(result);
}

/** A program that is not there is told from one that fails: gadgets try one program, then another. */
async function missing(work: () => Promise<ShellResult>): Promise<ShellResult> {
  try {
    return await work();
  } catch (error) {
    const isMissing = error instanceof Error && error.cause instanceof Error &&
      error.cause.name === "NotFound";
    throw isMissing ? notThere(error) : error;
  }
}

function stdinText(shown: string, bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  if ("text" in decoded) return decoded.text;
  throw new Error(`Cannot run ${shown}: its stdin is not UTF-8 text (byte ${decoded.wrongAt})`);
}

function outputOf({ exitCode, stdout, stderr }: ShellResult): EffectSuccess {
  const [out, error] = [new TextEncoder().encode(stdout), new TextEncoder().encode(stderr)];
  const bytes = oneArray([out, error], out.length + error.length);
  return { ok: { exitCode, stdoutBytes: out.length }, bytes };
}

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
function tooLarge(message: string): Error {
  return new EffectError("too-large", message);
}

/** What an effect needs is not there. */
function notThere(cause: unknown): Error {
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
