import { FileError, type Files, isRecord, messageOf, parseJson } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { UsageError } from "../exit_code.ts";

/** What the flags give a prompt, before it is read. */
export interface InputFlags {
  readonly input: readonly string[];
  readonly "input-json": string | undefined;
}

type Values = Readonly<Record<string, unknown>>;

/** What a prompt is given. */
export interface PromptInput {
  readonly values: Values;
  /** The names of those that are text because `--input NAME=…` gives nothing else. */
  readonly texts: ReadonlySet<string>;
}

/** How the values of a prompt are read. */
export interface PromptInputOptions {
  readonly cwd: string;
  readonly command: "run" | "ask" | "chat" | "show" | "check";
  /** Reads stdin whole; `--input -` wants it. */
  readonly stdin: () => Promise<string>;
}

/**
 * The arguments of a prompt: `--input NAME=VALUE`, `NAME=@FILE` for the text of a file (`NAME=@@x` is the text `@x`), `--input -` for a JSON
 * object on stdin, `--input-json` for one on the command line or in `@FILE`. What is named later counts over what came before.
 *
 * @throws {UsageError} and {FileError}, which name the flag
 */
export async function promptInput(flags: InputFlags, options: PromptInputOptions): Promise<PromptInput> {
  const { cwd, stdin } = options;
  const values = new Map<string, unknown>();
  const texts = new Set<string>();
  const add = (json: Values) => {
    for (const [name, value] of Object.entries(json)) {
      values.set(name, value);
      texts.delete(name);
    }
  };
  if (flags.input.indexOf("-") !== flags.input.lastIndexOf("-")) throw stdinTwice(options);
  const json = flags["input-json"];
  if (json !== undefined) {
    const text = json.startsWith("@") ? await flagFile(json.slice(1), { flag: "--input-json", cwd }) : json;
    add(jsonObject(text, { flag: "--input-json", ...options }));
  }
  for (const given of flags.input) {
    if (given === "-") {
      add(jsonObject(await stdin(), { flag: "--input -", ...options }));
    } else {
      const [name, text] = await namedText(given, options);
      values.set(name, text);
      texts.add(name);
    }
  }
  return { values: Object.fromEntries(values), texts };
}

async function namedText(
  given: string,
  { cwd, command }: PromptInputOptions,
): Promise<readonly [string, string]> {
  const at = given.indexOf("=");
  if (at < 1) {
    throw new UsageError(
      `--input ${given}: expected NAME=VALUE, NAME=@FILE, or - for a JSON object on stdin`,
      command,
    );
  }
  const [name, value] = [given.slice(0, at), given.slice(at + 1)];
  if (value.startsWith("@@")) return [name, value.slice(1)];
  if (!value.startsWith("@")) return [name, value];
  return [name, await flagFile(value.slice(1), { flag: `--input ${name}`, cwd })];
}

function stdinTwice({ command }: PromptInputOptions): UsageError {
  return new UsageError(
    "--input - is given twice: stdin can be read once; --input-json @FILE reads a second object from a file",
    command,
  );
}

function jsonObject(
  text: string,
  { flag, command }: { readonly flag: string; readonly command: PromptInputOptions["command"] },
): Values {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new UsageError(`${flag}: expected a JSON object: ${messageOf(error)}`, command);
  }
  if (isRecord(value)) return value;
  const found = value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
  throw new UsageError(`${flag}: expected a JSON object, found ${found}`, command);
}

/** The text of a file that a flag names. @throws {FileError} that names the flag too */
export async function flagFile(
  file: string,
  named: { readonly flag: string; readonly cwd: string },
): Promise<string> {
  return await namedByFlag(file, named, (files) => files.readText(file));
}

/** What is read of a file that a flag names. @throws {FileError} that names the flag too */
export async function namedByFlag<Read>(
  file: string,
  { flag, cwd }: { readonly flag: string; readonly cwd: string },
  read: (files: Files) => Promise<Read>,
): Promise<Read> {
  if (file === "") {
    throw new FileError(`${flag} names no file: a name has to stand behind the @`, {
      path: file,
      code: "not-found",
    });
  }
  try {
    return await read(hostFiles({ root: cwd }));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new FileError(`${error.message} (named by ${flag})`, {
      path: file,
      code: error.code,
      cause: error,
    });
  }
}

/** How errors name what was given: as flags of the command line, or as fields of a request (`input.x`). */
export type NamedAs = "flag" | "field";
