// A program at a terminal of its own, by Python's `pty`: Deno has none.
import { orreryCommand, testEnvironment } from "./_run.ts";

const PATIENCE_MS = 30_000;
const SPAWN = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
/** A terminal without a size is none for some programs, Deno's own progress among them. */
const SIZED = ["sh", "-c", 'stty cols 80 rows 24 && exec "$@"', "sh"];

/** Somebody at a terminal. */
export interface AtTerminal {
  type(text: string): Promise<void>;
  /**
   * Waits until this is on the screen, from what was waited for last; gives all that came up to it. When it has not come
   * after 30 seconds, the program is ended and what it had shown is in the error.
   */
  until(text: string): Promise<string>;
  /** What was shown from beginning to end, and the exit code. */
  end(): Promise<{ readonly code: number; readonly screen: string }>;
  /** Of the process that holds the terminal, not of the program. */
  readonly pid: number;
}

/** Why nobody can sit at a terminal here; undefined when somebody can. */
export async function noTerminal(): Promise<string | undefined> {
  if (Deno.build.os === "windows") return "Windows has no pty";
  try {
    const { code } = await new Deno.Command("python3", { args: ["-c", "import pty"], stderr: "null" })
      .output();
    return code === 0 ? undefined : "Python has no pty here";
  } catch {
    return "there is no python3, which opens a pty";
  }
}

/** Starts `orrery` at a terminal of 80 by 24. */
export function atTerminal(
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env?: Readonly<Record<string, string>>;
    /** What stands for `orrery`. Default: as in all tests. */
    readonly command?: readonly string[];
  },
): AtTerminal {
  const { command = orreryCommand() } = options;
  const child = new Deno.Command("python3", {
    args: ["-c", SPAWN, ...SIZED, ...command, ...args],
    cwd: options.cwd,
    clearEnv: true,
    env: { ...testEnvironment(), TERM: "xterm", ...options.env },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let screen = "";
  let seen = 0;
  const more = async () => {
    const waited = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS); // its terminal goes with it, and the program too
    try {
      const { done, value = "" } = await reader.read();
      screen += value.replaceAll("\r\n", "\n");
      return !done;
    } finally {
      clearTimeout(waited);
    }
  };
  return {
    pid: child.pid,
    type: (text) => writer.write(new TextEncoder().encode(text)),
    async until(text) {
      for (let at = screen.indexOf(text, seen);; at = screen.indexOf(text, seen)) {
        if (at !== -1) {
          const came = screen.slice(seen, at + text.length);
          seen = at + text.length;
          return came;
        }
        if (!await more()) throw new Error(`${JSON.stringify(text)} was never shown: ${screen}`);
      }
    },
    async end() {
      while (await more());
      const { code } = await child.status;
      await writer.close().catch(() => {});
      return { code, screen };
    },
  };
}
