// How long `orrery` takes to start, against a program that does nothing. Programs take turns, so that a slow moment of the
// machine hits all of them; medians, since the slow runs of a process say nothing of it.
//
//   deno run -A tests/bench/startup.ts [--binary FILE --empty-binary FILE] [--runs N] [--check]
//
// With --check it fails when a start is far over its limit.

import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { PROJECT_ROOT, testEnvironment } from "../_run.ts";
import { median } from "./_median.ts";

/** One line of the table. */
export interface StartupRow {
  readonly name: string;
  readonly medianMs: number;
  /** Against the empty program of the same kind. */
  readonly ratio: number;
  /** The highest ratio allowed; absent for the empty program. */
  readonly limit?: number;
}

/** What to measure. */
export interface StartupOptions {
  /** The compiled binary, measured against `emptyBinary`; without them this Deno is measured with main.ts. */
  readonly binary?: string;
  readonly emptyBinary?: string;
  /** Of each program; default 21. */
  readonly runs?: number;
}

interface Program {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly limit?: number;
}

const ONE_CALL = "!!!GADGET_START:Now\n!!!GADGET_END\n";

/**
 * Measures the start of an empty program, of `orrery --version` and `help`, and of a run of one call.
 *
 * @throws {Error} when one of them fails.
 */
export async function measureStartup(options: StartupOptions = {}): Promise<readonly StartupRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-startup-" });
  try {
    await Deno.writeTextFile(join(folder, "one.calls"), ONE_CALL);
    await Deno.writeTextFile(join(folder, "empty.ts"), "");
    const programs = programsOf(options, folder);
    const times = await takeTurns(programs, { folder, runs: options.runs ?? 21 });
    const medians = times.map(median);
    const base = medians[0] ?? NaN;
    return programs.map(({ name, limit }, index) => {
      const medianMs = medians[index] ?? NaN;
      return {
        name,
        medianMs,
        ratio: medianMs / base,
        ...(limit === undefined ? {} : { limit }),
      };
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What a neighbour of this machine does goes on for a while: the next try waits for it. */
const PAUSE_MS = 10_000;

/**
 * Measures until nothing is far over its limit, at most `tries` times: the work of a neighbour can make a run look slow, and
 * nothing can make it look fast. Gives the last table.
 */
export async function startupWithin(options: StartupOptions = {}, tries = 3): Promise<readonly StartupRow[]> {
  const rows = await measureStartup(options);
  if (tries <= 1 || !rows.some(isFarOver)) return rows;
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  return startupWithin(options, tries - 1);
}

/** True when a row is over its limit. */
export function isOver({ ratio, limit }: StartupRow): boolean {
  return limit !== undefined && !(ratio <= limit);
}

/** A fault of the start is a module too many on its way, or a package. Processors differ by more in how they take to an empty program and to all others. */
const LEEWAY = 1.15;

/** True when a row is so far over its limit that the program has changed, and not the machine; `deno task bench` holds the limit itself. */
export function isFarOver({ limit, ...row }: StartupRow): boolean {
  return limit !== undefined && isOver({ ...row, limit: limit * LEEWAY });
}

/** The rows as text. */
export function startupTable(rows: readonly StartupRow[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  return rows.map((row) => {
    const limit = row.limit === undefined
      ? ""
      : `  limit ${row.limit.toFixed(1)} x  ${isOver(row) ? "OVER" : "ok"}`;
    return `${row.name.padEnd(width)}  ${row.medianMs.toFixed(1).padStart(6)} ms  ${
      row.ratio.toFixed(2)
    } x${limit}\n`;
  }).join("");
}

function programsOf({ binary, emptyBinary }: StartupOptions, folder: string): readonly Program[] {
  if (binary !== undefined && emptyBinary !== undefined) {
    return [
      { name: "empty compiled program", command: [resolve(emptyBinary)] },
      ...commandsOf("binary", [resolve(binary)], { version: 1.75, call: 3.5 }),
    ];
  }
  const deno = (script: string): [string, ...string[]] => [Deno.execPath(), "run", "-A", script];
  return [
    { name: `empty script, Deno ${Deno.version.deno}`, command: deno(join(folder, "empty.ts")) },
    ...commandsOf("orrery", deno(join(PROJECT_ROOT, "main.ts")), { version: 1.5, call: 6 }),
  ];
}

/** A binary reads all of its own code at each start, 10 ms a million characters: against one that has none, `--version` has a limit of its own. */
function commandsOf(
  name: string,
  program: Program["command"],
  limits: { readonly version: number; readonly call: number },
): readonly Program[] {
  return [
    { name: `${name} --version`, command: [...program, "--version"], limit: limits.version },
    { name: `${name} help`, command: [...program, "help"], limit: 3 },
    { name: `${name} run, one call`, command: [...program, "run", "one.calls"], limit: limits.call },
  ];
}

/** The times of each program in ms; the first two rounds only warm up. */
async function takeTurns(
  programs: readonly Program[],
  options: { readonly folder: string; readonly runs: number },
): Promise<readonly (readonly number[])[]> {
  const times: number[][] = programs.map(() => []);
  for (let round = -2; round < options.runs; round++) {
    for (const [index, program] of programs.entries()) {
      const ms = await timeOf(program, options.folder);
      if (round >= 0) times[index]?.push(ms);
    }
  }
  return times;
}

async function timeOf({ name, command: [program, ...args] }: Program, folder: string): Promise<number> {
  const command = new Deno.Command(program, {
    args,
    cwd: folder,
    clearEnv: true,
    env: testEnvironment(),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  });
  const start = performance.now();
  const { success, code, stderr } = await command.output();
  const ms = performance.now() - start;
  if (!success) throw new Error(`${name}: exit code ${code}: ${new TextDecoder().decode(stderr)}`);
  return ms;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      binary: { type: "string" },
      "empty-binary": { type: "string" },
      runs: { type: "string" },
      check: { type: "boolean", default: false },
    },
  });
  const { binary, "empty-binary": emptyBinary, runs, check } = values;
  const options: StartupOptions = {
    ...(binary === undefined ? {} : { binary }),
    ...(emptyBinary === undefined ? {} : { emptyBinary }),
    ...(runs === undefined ? {} : { runs: Number(runs) }),
  };
  const rows = check ? await startupWithin(options) : await measureStartup(options);
  console.log(startupTable(rows).trimEnd());
  if (check && rows.some(isFarOver)) Deno.exit(1);
}
