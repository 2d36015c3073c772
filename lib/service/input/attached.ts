// Files for a model that the command line names: read as other files that flags name, or fetched where the policy lets them be.
import { basename } from "node:path";
import {
  type ContentPart,
  FileError,
  type Http,
  linkedSignal,
  MAX_MEDIA_BYTES,
  messageOf,
  PermissionRefused,
  shownFile,
  TOO_LARGE_MEDIA,
} from "../../core/core.ts";
import { createWorld } from "../../project/world.ts";
import type { StartPlace } from "../start/ready_run.ts";
import { namedByFlag } from "./prompt_input.ts";

/** How long a URL may take. */
const FETCH_MS = 60_000;

/** How attached files are named and got. */
export interface AttachOptions {
  readonly cwd: string;
  /** Default: `--attach`. */
  readonly flag?: string;
  /** Fetches what a URL names. Absent: nothing is fetched. */
  readonly http?: () => Pick<Http, "fetch">;
  readonly signal?: AbortSignal;
}

/** In a project: what is fetched needs net permission, about which somebody may be asked. */
export function attachAt(
  { project: { root, cwd }, grants: { settings }, around: { opening: { user, approve, signal } } }:
    StartPlace,
): AttachOptions {
  return { cwd, signal, http: () => createWorld({ root, cwd, settings, user, approve }).http };
}

/** The files, as parts of a message. @throws {FileError} that names the file and the flag; {PermissionRefused} */
export async function attachedFiles(
  named: readonly string[],
  options: AttachOptions,
): Promise<readonly ContentPart[]> {
  const parts: ContentPart[] = [];
  for (const each of named) parts.push(await attached(each, options));
  return parts;
}

async function attached(named: string, options: AttachOptions): Promise<ContentPart> {
  const { cwd, flag = "--attach" } = options;
  const refuse = (why: string, cause?: unknown): never => {
    const message = `Cannot attach ${JSON.stringify(named)}: ${why} (named by ${flag})`;
    throw new FileError(message, { path: named, code: "other", cause });
  };
  const show = (bytes: Uint8Array, name: string): ContentPart => {
    const shown = shownFile(bytes, { name });
    return "part" in shown ? shown.part : refuse(`it ${shown.problem}`);
  };
  if (!/^https?:\/\//i.test(named)) {
    const bytes = await namedByFlag(named, { flag, cwd }, async (files) => {
      const { size } = await files.stat(named);
      return size > MAX_MEDIA_BYTES ? undefined : await files.readBytes(named, options);
    });
    return bytes === undefined ? refuse(`it ${TOO_LARGE_MEDIA}`) : show(bytes, basename(named));
  }
  const { http = () => refuse("nothing is fetched for a server; save it, and attach the file"), signal } =
    options;
  using limit = linkedSignal([signal, AbortSignal.timeout(FETCH_MS)]);
  const { status, body, truncated, url } = await http()
    .fetch(named, { maxBytes: MAX_MEDIA_BYTES, signal: limit.signal })
    .catch((error) => {
      if (error instanceof PermissionRefused || signal?.aborted) throw error;
      return refuse(limit.signal.aborted ? `nothing came for ${FETCH_MS / 1000} s` : messageOf(error), error);
    });
  if (status >= 400) refuse(`the server answers with ${status}`);
  if (truncated) refuse(`it ${TOO_LARGE_MEDIA}`);
  const { pathname, hostname } = new URL(url);
  return show(body, basename(pathname) || hostname);
}
