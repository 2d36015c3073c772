import {
  type Gadget,
  type GadgetContext,
  type Json,
  objectOf,
  objectOrEmpty,
  onlyFields,
  type ShellResult,
  type World,
} from "../lib/core/core.ts";
import { cutStart, textOf } from "./_words.ts";

interface Input {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly allowFailure?: boolean;
}

const MAX_BYTES = 512 * 1024;
const MAX_ERROR_TEXT = 4000;

/** `RunCommand`: a program and its output. */
export default function runCommand(world: World): Gadget<Input> {
  return {
    name: "RunCommand",
    description:
      "Runs a program and returns its exit code and output. No shell reads the arguments: pipes, redirections, globs, `&&`, `~` and " +
      "`$NAME` mean nothing, and every argument is one item of `args`. An exit code other than 0 is an error that ends with the " +
      "program's own message, unless `allowFailure` is true. The program sees PATH, HOME, LANG, TERM and `env`, no other variables.",
    input: onlyFields({
      command: {
        type: "string",
        minLength: 1,
        description:
          'The program alone, by its name ("git") or its path ("./build.sh"). Arguments go in `args`.',
      },
      args: {
        type: "array",
        items: { type: "string" },
        description: 'The arguments, one item each: ["commit", "-m", "Fix the parser"].',
      },
      cwd: {
        type: "string",
        minLength: 1,
        description: "The folder to run in, relative to the project root, which is the default.",
      },
      stdin: {
        type: "string",
        description: "Text for its standard input. Default: none, which is the end of the file at once.",
      },
      env: {
        type: "object",
        additionalProperties: { type: "string" },
        description: 'Further variables of its environment: {"CI": "1"}.',
      },
      allowFailure: {
        type: "boolean",
        description:
          "True returns the result whatever the exit code is, as for `grep` or `diff`. Default: false.",
      },
    }, ["command"]),
    output: objectOf({
      exitCode: { type: "integer" },
      stdout: { type: "string" },
      stderr: { type: "string" },
      truncated: {
        type: "boolean",
        description: `True when output after the first ${MAX_BYTES} bytes was dropped.`,
      },
    }, ["exitCode", "stdout", "stderr", "truncated"]),
    permissions: { read: true, run: true },
    idempotent: false,
    untrusted: true,
    timeoutMs: 600_000,
    examples: [
      { input: { command: "git", args: ["log", "--oneline", "-5"] } },
      { input: { command: "npm", args: ["test"], cwd: "packages/core", env: { CI: "1" } } },
      {
        input: { command: "grep", args: ["-c", "error", "build.log"], allowFailure: true },
        comment: "exit code 1: none",
      },
    ],
    async run({ command, args = [], cwd, stdin, env, allowFailure = false }, context) {
      refuseUnusable({ command, args, env: env ?? {} });
      const lines = new LineLog(context);
      const { commands = world.shell } = world;
      const result = await commands.run(command, {
        args,
        signal: context.signal,
        maxBytes: MAX_BYTES,
        onOutput: (text, stream) => lines.add(text, stream),
        cwd,
        stdin,
        env,
      });
      lines.end();
      const { exitCode, stdout, stderr, truncated } = result;
      if (exitCode !== 0 && !allowFailure) throw new Error(describeFailure([command, ...args], result));
      return { exitCode, stdout, stderr, truncated };
    },
    format: formatResult,
  };
}

/** Whole lines for the log: a program's output comes in pieces that end anywhere. */
class LineLog {
  readonly #context: GadgetContext;
  readonly #open = { stdout: "", stderr: "" };

  constructor(context: GadgetContext) {
    this.#context = context;
  }

  add(text: string, stream: "stdout" | "stderr"): void {
    const all = this.#open[stream] + text;
    const end = all.length > 8192 && !text.includes("\n") ? all.length : all.lastIndexOf("\n") + 1;
    this.#open[stream] = all.slice(end);
    if (end > 0) this.#context.log(all.slice(0, end).replace(/\n$/, ""));
  }

  end(): void {
    for (const text of Object.values(this.#open)) if (text !== "") this.#context.log(text);
  }
}

function refuseUnusable(
  { command, args, env }: { command: string; args: readonly string[]; env: Readonly<Record<string, string>> },
): void {
  const cannot = `Cannot run ${JSON.stringify(command)}`;
  if (/\s/.test(command) && !command.includes("/")) {
    const [program = "", ...rest] = command.trim().split(/\s+/);
    const advice = `put the program alone into "command" and each argument into "args"`;
    const example = `{"command": ${JSON.stringify(program)}, "args": ${JSON.stringify([...rest, ...args])}}`;
    throw new Error(`${cannot}: no shell takes it apart; ${advice}, as in ${example}`);
  }
  for (const [index, arg] of args.entries()) {
    if (arg.includes("\0")) {
      throw new Error(`${cannot}: "args/${index}" holds a NUL character, which no argument can hold`);
    }
  }
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || /[=\0]/.test(name)) {
      throw new Error(`${cannot}: ${JSON.stringify(name)} in "env" cannot be the name of a variable`);
    }
    if (value.includes("\0")) throw new Error(`${cannot}: the variable "${name}" holds a NUL character`);
  }
}

function describeFailure(
  command: readonly string[],
  { exitCode, stdout, stderr, truncated }: ShellResult,
): string {
  const words = command.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)).join(" ");
  const signal = exitCode > 128 && exitCode < 160 ? ` (ended by signal ${exitCode - 128})` : "";
  const [name, text] = stderr.trim() === "" ? ["stdout", stdout] : ["stderr", stderr];
  const end = text.trim() === ""
    ? "It printed nothing"
    : `The end of its ${name}${truncated ? ", as far as it was kept" : ""}:\n${
      cutStart(text.trimEnd(), MAX_ERROR_TEXT)
    }`;
  return `The command ${words} failed with exit code ${exitCode}${signal}. ${end}`;
}

/** As a terminal shows it: JSON would escape every line break and quote. */
function formatResult(result: Json): string {
  const { exitCode, stdout, stderr, truncated } = objectOrEmpty(result);
  const notes = [
    ...(exitCode === 0 ? [] : [`[exit code ${textOf(exitCode)}]`]),
    ...(truncated === true ? [`[output after the first ${MAX_BYTES} bytes was dropped]`] : []),
  ];
  const errors = textOf(stderr) === "" ? [] : ["[stderr]", textOf(stderr).trimEnd()];
  const shown = [textOf(stdout).trimEnd(), ...errors, ...notes].filter((part) => part !== "").join("\n");
  return shown === "" ? "[no output]" : shown;
}
