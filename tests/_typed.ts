// Somebody at a terminal inside the test's process: for what is asked and answered. What needs a real one, such as Ctrl-C, is `_pty.ts`.
import { main, type ProgramOutput } from "../main.ts";
import { runsInside, testEnvironment, testSignals } from "./_run.ts";

/** What a command at a terminal gave. */
export interface TypedResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A test in which somebody types inside its process. */
export function typedTest(name: string, test: () => Promise<void>): void {
  const ignore = !runsInside();
  if (ignore) {
    console.log(
      `not run here: ${name}; in the program a command has a process of its own`,
    );
  }
  Deno.test({ name, ignore, fn: test });
}

/** Runs `orrery` at a terminal at which these lines are typed as fast as they are read, and then the end of the input. */
export async function typed(
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly lines: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<TypedResult> {
  const env = new Map(Object.entries({ ...testEnvironment(), TERM: "dumb", ...options.env }));
  const lines = [...options.lines];
  const told = { stdout: "", stderr: "" };
  const code = await main(args, {
    stdin: {
      isTerminal: () => true,
      read(buffer) {
        const line = lines.shift();
        return Promise.resolve(
          line === undefined ? null : new TextEncoder().encodeInto(`${line}\n`, buffer).written,
        );
      },
    },
    stdout: windowOf((text) => void (told.stdout += text)),
    stderr: windowOf((text) => void (told.stderr += text)),
    env: { get: (name) => env.get(name), toObject: () => Object.fromEntries(env) },
    cwd: () => options.cwd,
    signals: testSignals,
  });
  return { code, ...told };
}

function windowOf(show: (text: string) => void): ProgramOutput {
  const decoder = new TextDecoder();
  const writeSync = (bytes: Uint8Array): number => {
    show(decoder.decode(bytes, { stream: true }));
    return bytes.length;
  };
  return { isTerminal: () => true, writeSync, write: (bytes) => Promise.resolve(writeSync(bytes)) };
}
