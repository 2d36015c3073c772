import { EFFECT_BYTES_WORDS, MAX_EFFECT_BYTES, MAX_EFFECT_TEXT } from "../core/effect_limits.ts";
import type { FileChanges, FileLook } from "../core/file_changes.ts";
import type { EffectFailure, EffectOp } from "../core/gadget_message.ts";
import type { Json } from "../core/json.ts";
import type { PermissionRefused, World } from "../core/world.ts";
import { failedEffect, tooLarge } from "./effect_failure.ts";
import { performFetch } from "./effect_fetch.ts";
import { performRun } from "./effect_run.ts";

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
      await write(changes, op, bytes);
      return DONE;
    case "stat":
      return { ok: lookJson(await changes.look(op.path, { isLink: op.isLink ?? false })), bytes: NOTHING };
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

function write(
  changes: FileChanges,
  { path, how }: EffectOp & { readonly kind: "write" },
  bytes: Uint8Array,
): Promise<void> {
  switch (how) {
    case "replace":
      return changes.writeBytes(path, bytes);
    case "append":
      return changes.append(path, bytes);
    case "create":
      return changes.create(path, bytes);
    default:
      return how satisfies never;
  }
}

function lookJson({ kind, size, modifiedMs, createdMs, mode }: FileLook): Json {
  return {
    kind,
    size,
    ...(modifiedMs !== undefined && { modifiedMs }),
    ...(createdMs !== undefined && { createdMs }),
    ...(mode !== undefined && { mode }),
  };
}

async function entries(changes: FileChanges, path: string): Promise<Json> {
  const found = await changes.list(path);
  const length = found.reduce((sum, { name }) => sum + name.length + 16, 0);
  if (length <= 8 * MAX_EFFECT_TEXT) return found.map(({ name, kind }) => [name, kind]);
  throw tooLarge(
    `Cannot list ${JSON.stringify(path)}: it has ${found.length} entries, too many to be listed at once`,
  );
}
