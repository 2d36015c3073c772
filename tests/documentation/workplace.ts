import { dirname, join } from "node:path";
import { readProject } from "../architecture/project_tree.ts";
import { orreryCommand, PROJECT_ROOT, runProgram, type RunResult } from "../_run.ts";

/** A folder in which the documentation is tried out, as a reader would in a fresh clone. */
export interface Workplace extends AsyncDisposable {
  readonly folder: string;
  /** Runs a shell script there, with `orrery` and `deno` on PATH. `merged`: stderr goes where stdout goes. */
  shell(script: string, options?: { merged?: boolean }): Promise<RunResult>;
  /** Checks the types of modules, all at once. */
  check(files: readonly string[]): Promise<RunResult>;
  /** Runs a module that may import "orrery". */
  module(file: string): Promise<RunResult>;
  write(path: string, text: string): Promise<void>;
}

/**
 * Makes a copy of the project without its tests in a new folder; dispose of it to remove it.
 *
 * @param command what `orrery` is there
 * @param isEmpty the folder has nothing in it: what is tried out writes all files that it needs
 */
export async function makeWorkplace(
  command: readonly string[] = orreryCommand(),
  { isEmpty = false }: { readonly isEmpty?: boolean } = {},
): Promise<Workplace> {
  const home = await Deno.makeTempDir({ prefix: "orrery-documentation-" });
  const folder = join(home, "orrery");
  const config = join(PROJECT_ROOT, "deno.json");
  const write = async (path: string, text: string) => {
    const file = join(folder, path);
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeTextFile(file, text);
  };
  await Deno.mkdir(folder);
  for (const path of isEmpty ? [] : (await readProject(PROJECT_ROOT)).keys()) await copy(path, folder);
  const bin = await makePrograms(home, command);
  const env = {
    PATH: `${bin}:${Deno.env.get("PATH") ?? ""}`,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"), // what a reader accepts is kept there
  };
  const deno = (args: readonly string[]) =>
    runProgram([Deno.execPath(), ...args], { cwd: folder, env, timeoutMs: 120_000 });
  return {
    folder,
    write,
    shell: (script, { merged = false } = {}) =>
      runProgram(["sh", "-e", "-c", merged ? `exec 2>&1\n${script}` : script], {
        cwd: folder,
        env,
        timeoutMs: 120_000,
      }),
    check: (files) => deno(["check", "--quiet", "--config", config, ...files]),
    module: (file) => deno(["run", "-A", "--quiet", "--no-check", "--config", config, file]),
    [Symbol.asyncDispose]: () => Deno.remove(home, { recursive: true }),
  };
}

/** Files are copied as bytes: an example may hold a database. */
async function copy(path: string, folder: string): Promise<void> {
  if (path.startsWith("tests/") || path.startsWith(".")) return;
  const target = join(folder, path);
  await Deno.mkdir(dirname(target), { recursive: true });
  await Deno.copyFile(join(PROJECT_ROOT, path), target);
}

/** A folder with the programs that a reader has installed. */
async function makePrograms(home: string, orrery: readonly string[]): Promise<string> {
  const bin = join(home, "bin");
  await Deno.mkdir(bin);
  const program = async (name: string, command: readonly string[]) => {
    const words = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    await Deno.writeTextFile(join(bin, name), `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`, { mode: 0o755 });
  };
  await program("orrery", orrery);
  await program("deno", [Deno.execPath()]);
  return bin;
}
