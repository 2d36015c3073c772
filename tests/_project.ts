import { dirname, join } from "node:path";
import { orrery, orreryCommand, type RunOptions, type RunResult, testEnvironment } from "./_run.ts";

/** A project folder of its own, with settings and state folders of its own user. */
export interface TestProject extends AsyncDisposable {
  readonly folder: string;
  /** What its user has besides `testEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  write(path: string, text: string): Promise<void>;
  read(path: string): Promise<string>;
  /** Runs `orrery` in it. */
  run(args: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Starts `orrery` in it, all three streams piped; `command` is what stands for it, by default what `orreryCommand` gives. */
  start(
    args: readonly string[],
    options?: { readonly env?: Readonly<Record<string, string>>; readonly command?: readonly string[] },
  ): Deno.ChildProcess;
  /** The id of the newest run. */
  newest(): Promise<string>;
}

/** Makes one; `await using` removes it. */
export async function testProject(files: Readonly<Record<string, string>> = {}): Promise<TestProject> {
  const home = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-project-" })); // on macOS it is behind a link
  const folder = join(home, "project");
  await Deno.mkdir(folder);
  const env = { XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state") };
  const project: TestProject = {
    folder,
    env,
    async write(path, text) {
      await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
      await Deno.writeTextFile(join(folder, path), text);
    },
    read: (path) => Deno.readTextFile(join(folder, path)),
    run: (args, options = {}) => orrery(args, { ...options, cwd: folder, env: { ...env, ...options.env } }),
    start(args, options = {}) {
      const [program = "", ...first] = options.command ?? orreryCommand();
      return new Deno.Command(program, {
        args: [...first, ...args],
        cwd: folder,
        clearEnv: true,
        env: { ...testEnvironment(), ...env, ...options.env },
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
    },
    async newest() {
      const { stdout } = await project.run(["list", "runs", "--names"]);
      return stdout.split("\n", 1)[0] ?? "";
    },
    [Symbol.asyncDispose]: () => Deno.remove(home, { recursive: true }),
  };
  for (const [path, text] of Object.entries(files)) await project.write(path, text);
  return project;
}

/** Reads a stream up to a text; gives all that was read. */
export async function readUntil(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  text: string,
): Promise<string> {
  const decoder = new TextDecoder();
  let seen = "";
  while (!seen.includes(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${JSON.stringify(text)} did not come; seen: ${seen}`);
    seen += decoder.decode(value, { stream: true });
  }
  return seen;
}
