import { resolve } from "node:path";
import { didYouMean, isRecord, type JsonObject, toJson } from "../../core/core.ts";
import { readModuleFile } from "../../parse/files/module.ts";
import { UsageError } from "../exit_code.ts";
import { flagFile, type NamedAs } from "./prompt_input.ts";

/** A module, and a session of it. */
export interface ModuleChoice {
  readonly module: string;
  /** The file, when it is one: absolute. */
  readonly moduleFile?: string;
  /** A session of it. */
  readonly moduleSession?: string;
  /** What a file says of the module and of the session, for preloaded slots. */
  readonly context: JsonObject;
}

/**
 * The module that a conversation is held in: a name, or a `*.module.yml` file.
 *
 * @throws {FileError}, {ProblemsError} for a file that is none, {UsageError} for a session that it does not have
 */
export async function moduleChoice(
  { module = "default", session }: {
    readonly module: string | undefined;
    readonly session: string | undefined;
  },
  { cwd, command, as = "flag" }: {
    readonly cwd: string;
    readonly command: string;
    readonly as?: NamedAs;
  },
): Promise<ModuleChoice> {
  if (!isModuleFile(module)) return { module, context: {} };
  const dashes = as === "flag" ? "--" : "";
  const read = await readModuleFile(await flagFile(module, { flag: `${dashes}module`, cwd }), module);
  const ids = read.sessions.map(({ id }) => id);
  if (session !== undefined && !ids.includes(session)) {
    const known = ids.length === 0
      ? ": it has none"
      : didYouMean(session, ids) || `: it has ${ids.join(", ")}`;
    throw new UsageError(`${dashes}session: ${module} has no session "${session}"${known}`, command);
  }
  const { data } = read;
  return {
    module: read.id,
    moduleFile: resolve(cwd, module),
    moduleSession: session,
    context: { module: data, ...sessionOf(data, session) },
  };
}

/** Whether what names a module names its file. */
export function isModuleFile(module: string): boolean {
  return /\.module\.ya?ml$/i.test(module);
}

function sessionOf({ sessions }: JsonObject, id: string | undefined): JsonObject {
  const list: readonly unknown[] = Array.isArray(sessions) ? sessions : [];
  const found = list.find((one) => isRecord(one) && one.id === id);
  return id === undefined || found === undefined ? {} : { session: toJson(found) };
}
