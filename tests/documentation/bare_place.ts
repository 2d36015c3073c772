import { dirname, join } from "node:path";
import { readProject } from "../architecture/project_tree.ts";
import { PROJECT_ROOT, runProgram, type RunResult } from "../_run.ts";

/** A machine as somebody has it who downloaded the binary and the examples, and nothing else. */
export interface BarePlace extends AsyncDisposable {
  /** Runs a shell script among the examples, with `orrery` on PATH. `merged`: stderr goes where stdout goes. */
  shell(script: string, options?: { merged?: boolean }): Promise<RunResult>;
  write(path: string, text: string): Promise<void>;
  /** The files that are in the home and in the folder for temporary files, and beside the binary. */
  left(): Promise<readonly string[]>;
}

/** Programs that run JavaScript, or fetch one that does. */
const RUNTIMES = /^(deno|denort|node|nodejs|npm|npx|pnpm|pnpx|yarn|corepack|bun|bunx)$/;

/**
 * Copies the binary into a folder of its own. The home is empty, of the environment there are PATH, HOME and TMPDIR, and PATH has the
 * binary and the programs of the system, without those that run JavaScript.
 *
 * @param isEmpty without the examples: what is tried out writes all files that it needs
 */
export async function makeBarePlace(
  binary: string,
  { isEmpty = false }: { readonly isEmpty?: boolean } = {},
): Promise<BarePlace> {
  const top = await Deno.makeTempDir({ prefix: "orrery alone " });
  const [alone, tools, home, temporary, folder] = ["alone", "tools", "home", "tmp", "here"].map((name) =>
    join(top, name)
  ) as [string, string, string, string, string];
  for (const path of [alone, tools, home, temporary, folder]) await Deno.mkdir(path);
  await Deno.copyFile(binary, join(alone, "orrery"));
  await linkPrograms(tools);
  const write = async (path: string, text: string) => {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text);
  };
  const examples = isEmpty ? [] : (await readProject(join(PROJECT_ROOT, "examples"))).keys();
  for (const path of examples) {
    const target = join(folder, "examples", path);
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.copyFile(join(PROJECT_ROOT, "examples", path), target);
  }
  const env = [`PATH=${alone}:${tools}`, `HOME=${home}`, `TMPDIR=${temporary}`];
  return {
    write,
    shell: (script, { merged = false } = {}) =>
      runProgram(
        ["/usr/bin/env", "-i", ...env, "/bin/sh", "-e", "-c", merged ? `exec 2>&1\n${script}` : script],
        { cwd: folder, timeoutMs: 120_000 },
      ),
    left: async () => [...await filesOf(home), ...await filesOf(temporary), ...await filesOf(alone)],
    [Symbol.asyncDispose]: () => Deno.remove(top, { recursive: true }),
  };
}

async function linkPrograms(tools: string): Promise<void> {
  for (const folder of ["/bin", "/usr/bin"]) {
    for await (const { name } of Deno.readDir(folder)) {
      if (RUNTIMES.test(name)) continue;
      await Deno.symlink(join(folder, name), join(tools, name)).catch((error) => {
        if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      });
    }
  }
}

async function filesOf(folder: string): Promise<readonly string[]> {
  return [...(await readProject(folder)).keys()];
}
