import { bytesOf, optionsOf, pathOf, signalOf } from "./arguments.ts";
import { argumentsOf, type CommandOutput, type CommandRequest, runCommand, variablesOf } from "./command.ts";
import { absentFunction, type FacadeParts } from "./deno.ts";
import { nodeError, notThere } from "./error.ts";
import { decodedAs } from "./node_buffer.ts";
import { asking } from "./steps.ts";

type Given = readonly unknown[];

/** `node:child_process`, as far as a command runs to its end without a shell: `execFile`, `execFileSync`, `spawnSync`. */
export function nodeChildProcess(
  { effects, environment, log }: FacadeParts,
): Readonly<Record<string, unknown>> {
  const ask = asking(effects, nodeError);
  const readCall = (given: Given): Call =>
    callOf(given, (env) => environment.ofCommand(variablesOf(env), env !== undefined));
  const shown = (call: Call, output: CommandOutput): CommandOutput => {
    if (call.isInherited) {
      for (const bytes of [output.stdout, output.stderr]) if (bytes.length > 0) log(text(bytes));
    }
    return output;
  };
  const execFileSoon = async (...given: Given): Promise<Shown> => {
    const call = readCall(given);
    const output = shown(call, await ask.soon(runCommand(call.request), call.signal));
    if (output.exitCode !== 0) throw exitProblem(call, output);
    return { stdout: call.decoded(output.stdout), stderr: call.decoded(output.stderr) };
  };
  const execFile = (...given: Given): void => {
    const callback = given.at(-1);
    const isCalled = typeof callback === "function";
    const call = (...result: Given): void => {
      if (isCalled) queueMicrotask(() => Reflect.apply(callback, undefined, result));
    };
    execFileSoon(...(isCalled ? given.slice(0, -1) : given)).then(
      ({ stdout, stderr }) => call(null, stdout, stderr),
      (error: unknown) =>
        call(error, Reflect.get(Object(error), "stdout") ?? "", Reflect.get(Object(error), "stderr") ?? ""),
    );
  };
  // So that `util.promisify` gives both streams, as it does with Node's own.
  Object.defineProperty(execFile, Symbol.for("nodejs.util.promisify.custom"), { value: execFileSoon });
  return {
    execFile,
    execFileSync: (...given: Given) => {
      const call = readCall(given);
      const output = shown(call, ask.now(runCommand(call.request)));
      if (output.exitCode !== 0) throw exitProblem(call, output);
      return call.decodedSync(output.stdout);
    },
    spawnSync: (...given: Given) => {
      const call = readCall(given);
      try {
        const output = shown(call, ask.now(runCommand(call.request)));
        const [stdout, stderr] = [call.decodedSync(output.stdout), call.decodedSync(output.stderr)];
        return {
          pid: 0,
          status: output.exitCode,
          signal: null,
          stdout,
          stderr,
          output: [null, stdout, stderr],
        };
      } catch (error) {
        return { pid: 0, status: null, signal: null, stdout: null, stderr: null, output: null, error };
      }
    },
    ...Object.fromEntries(ABSENT.map((name) => [
      name,
      absentFunction(() => {
        throw notThere(
          `child_process.${name}`,
          "a command runs to its end and without a shell; use execFile, execFileSync or spawnSync",
        );
      }),
    ])),
  };
}

const ABSENT: readonly string[] = ["ChildProcess", "exec", "execSync", "fork", "spawn"];
const REFUSED: readonly string[] = ["uid", "gid", "timeout", "detached"];

interface Shown {
  readonly stdout: unknown;
  readonly stderr: unknown;
}

interface Call {
  readonly request: CommandRequest;
  readonly signal: AbortSignal | undefined;
  readonly isInherited: boolean;
  /** Text by default, as `execFile` has it. */
  decoded(bytes: Uint8Array): unknown;
  /** A `Buffer` by default, as the blocking functions have it. */
  decodedSync(bytes: Uint8Array): unknown;
}

function callOf(given: Given, envOf: (env: unknown) => Readonly<Record<string, string>>): Call {
  const [command, second, third] = given;
  const options = {
    ...optionsOf(Array.isArray(second) || second === undefined || second === null ? third : second),
  };
  const refused = REFUSED.find((name) => Boolean(options[name]));
  if (refused !== undefined) {
    throw notThere(
      `"${refused}" of child_process`,
      refused === "timeout" ? "use signal: AbortSignal.timeout(ms)" : "leave it out",
    );
  }
  if (options.shell !== undefined && options.shell !== false) {
    throw notThere(
      `"shell" of child_process`,
      "a command runs without a shell: give the program and its arguments",
    );
  }
  const { encoding, cwd, input, stdio } = options;
  return {
    request: {
      command: pathOf(command),
      args: argumentsOf(Array.isArray(second) ? second : undefined),
      env: envOf(options.env ?? undefined),
      ...(cwd !== undefined && cwd !== null && { cwd: pathOf(cwd) }),
      ...(input !== undefined && input !== null && { stdin: bytesOf(input) }),
    },
    signal: signalOf(options),
    isInherited: stdio === "inherit",
    decoded: (bytes) => decodedAs(bytes, encoding === undefined ? "utf8" : encoding),
    decodedSync: (bytes) => decodedAs(bytes, encoding),
  };
}

function exitProblem({ request, decoded }: Call, { exitCode, stdout, stderr }: CommandOutput): Error {
  const shown = text(stderr);
  const error = new Error(
    `Command failed: ${[request.command, ...request.args].join(" ")}${shown === "" ? "" : `\n${shown}`}`,
  );
  return Object.assign(error, {
    code: exitCode,
    status: exitCode,
    signal: null,
    stdout: decoded(stdout),
    stderr: decoded(stderr),
  });
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replace(/\n$/, "");
}
