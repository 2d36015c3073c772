import { isRecord } from "../../../core/json.ts";
import { kindOf, optionsOf, pathOf, signalOf } from "./arguments.ts";
import type { Environment } from "./environment.ts";
import { notThere } from "./error.ts";
import { fieldOf, isNumber } from "./file_steps.ts";
import { type Ask, step, type Steps } from "./steps.ts";

/** A command as it is asked for. */
export interface CommandRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
}

/** What a command has written. */
export interface CommandOutput {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** Runs a command to its end. */
export function* runCommand(request: CommandRequest): Steps<CommandOutput> {
  const { stdin, ...rest } = request;
  const { ok, bytes } = yield* step({ kind: "run", ...rest }, stdin);
  const at = fieldOf(ok, "stdoutBytes", isNumber) ?? bytes.byteLength;
  return {
    exitCode: fieldOf(ok, "exitCode", isNumber) ?? -1,
    stdout: bytes.slice(0, at),
    stderr: bytes.slice(at),
  };
}

/** The arguments of a command: a list of texts. @throws {TypeError} */
export function argumentsOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TypeError(`expected a list of arguments, found ${kindOf(value)}`);
  return value.map((each: unknown) => {
    const text = each instanceof URL ? pathOf(each) : each;
    if (typeof text === "string" && !text.includes("\0")) return text;
    throw new TypeError(`expected arguments that are texts without NUL characters, found ${kindOf(each)}`);
  });
}

/** The variables that are named for a command. @throws {TypeError} */
export function variablesOf(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) throw new TypeError(`expected an object of variables, found ${kindOf(value)}`);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => each === undefined ? [] : [[name, String(each)]]),
  );
}

/** What of Deno's own options would change what a command is. */
const REFUSED: readonly string[] = ["uid", "gid", "detached", "windowsRawArguments"];

/** `Deno.Command`, whose commands run to their end: `output` and `outputSync`. */
export function commandClass(
  ask: Ask,
  { environment, log }: { readonly environment: Environment; readonly log: (text: string) => void },
): new (command: unknown, options?: unknown) => object {
  return class Command {
    readonly #request: CommandRequest;
    readonly #signal: AbortSignal | undefined;
    readonly #streams: { readonly stdout: unknown; readonly stderr: unknown };

    constructor(command: unknown, options: unknown = {}) {
      const given = { ...optionsOf(options) };
      const refused = REFUSED.find((name) => given[name] !== undefined && given[name] !== false);
      if (refused !== undefined) throw notThere(`"${refused}" of Deno.Command`, "leave it out");
      if (given.stdin === "piped") {
        throw notThere(`stdin: "piped" of Deno.Command`, "a command gets no input");
      }
      this.#request = {
        command: pathOf(command),
        args: argumentsOf(given.args),
        env: environment.ofCommand(variablesOf(given.env), given.clearEnv === true),
        ...(given.cwd !== undefined && { cwd: pathOf(given.cwd) }),
      };
      this.#signal = signalOf(given);
      this.#streams = { stdout: given.stdout ?? "piped", stderr: given.stderr ?? "piped" };
    }

    async output(): Promise<object> {
      return this.#told(await ask.soon(runCommand(this.#request), this.#signal));
    }

    outputSync(): object {
      return this.#told(ask.now(runCommand(this.#request)));
    }

    spawn(): never {
      throw notThere("Deno.Command.spawn", "a command runs to its end; use output() or outputSync()");
    }

    #told({ exitCode, stdout, stderr }: CommandOutput): object {
      const shown = (name: "stdout" | "stderr", bytes: Uint8Array): Uint8Array => {
        const text = new TextDecoder().decode(bytes).replace(/\n$/, "");
        if (this.#streams[name] === "inherit" && text !== "") log(text);
        return this.#streams[name] === "piped" ? bytes : new Uint8Array();
      };
      return {
        success: exitCode === 0,
        code: exitCode,
        signal: null,
        stdout: shown("stdout", stdout),
        stderr: shown("stderr", stderr),
      };
    }
  };
}
