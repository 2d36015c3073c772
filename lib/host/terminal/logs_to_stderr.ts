// The console of Deno cannot be sent elsewhere, and its methods do not go through each other: what they would write to stdout, a console
// of Node's writes to stderr. That one is made at its first use, since it takes longer to load than most modules that never use it.

import { program } from "../process.ts";

type NodeConsole = typeof console;

/** All that write to stdout, and those that keep something for them. */
const MOVED = [
  "log",
  "info",
  "debug",
  "dir",
  "dirxml",
  "table",
  "count",
  "countReset",
  "time",
  "timeLog",
  "timeEnd",
  "clear",
] as const;

/** The others write to stderr themselves, and are indented alike. */
const GROUPS = ["group", "groupCollapsed", "groupEnd"] as const;

let moved: NodeConsole | undefined;
let isMoved = false;

/** What is told to the console of this process goes to stderr from here on, whoever tells it. */
export function logsToStderr(): void {
  if (isMoved) return;
  isMoved = true;
  for (const name of MOVED) Object.assign(console, { [name]: moving(name) });
  for (const name of GROUPS) {
    const indent: () => void = console[name];
    const tell = moving(name);
    const both = (...args: readonly unknown[]): void => {
      tell(...args);
      indent();
    };
    Object.assign(console, { [name]: both });
  }
}

function moving(name: keyof NodeConsole): (...args: readonly unknown[]) => void {
  return (...args) => {
    moved ??= stderrConsole();
    const method: unknown = moved[name];
    if (typeof method === "function") Reflect.apply(method, moved, args);
  };
}

function stderrConsole(): NodeConsole {
  const { Console } = process.getBuiltinModule("node:console");
  const { Writable } = process.getBuiltinModule("node:stream");
  const stderr = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      writeNow(chunk);
      done();
    },
  });
  return new Console({ stdout: stderr, stderr, colorMode: Deno.stderr.isTerminal() && !Deno.noColor });
}

/** At once: the process may end next. What cannot be said on stderr cannot be said anywhere. */
function writeNow(bytes: Uint8Array): void {
  const { stderr } = program();
  try {
    for (let at = 0; at < bytes.length;) at += stderr.writeSync(bytes.subarray(at));
  } catch {
    return;
  }
}
