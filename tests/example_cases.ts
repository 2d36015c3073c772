// The examples and what they print: a file of tests/spec/examples/ for each run, so that the same runs are made with
// main.ts and with the binary.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { readProject } from "./architecture/project_tree.ts";
import { assertOutput } from "./documentation/expected_output.ts";
import { PROJECT_ROOT, type RunOptions, type RunResult } from "./_run.ts";

/** One run of an example, as its file in tests/spec/examples/ tells it. In the texts `…` stands for anything in a line. */
export interface ExampleCase {
  /** The name of its file, without the ending. */
  readonly name: string;
  /** The folder of the example, from the project; a copy of it is the working folder of the run. */
  readonly folder: string;
  readonly args: readonly string[];
  readonly stdin?: string;
  /** It imports packages, which the compiled binary cannot. */
  readonly needsPackages?: boolean;
  /** The exit code; default 0. */
  readonly code?: number;
  readonly stdout: string;
  readonly stderr?: string;
  /** Files of the working folder after the run, and their text. */
  readonly files?: Readonly<Record<string, string>>;
}

const CASES = join(PROJECT_ROOT, "tests", "spec", "examples");

/** All cases, sorted by name. */
export async function exampleCases(): Promise<readonly ExampleCase[]> {
  const files = (await Array.fromAsync(Deno.readDir(CASES))).map(({ name }) => name).filter((name) =>
    name.endsWith(".json")
  );
  return await Promise.all(
    files.sort().map(async (file) => {
      const data: Omit<ExampleCase, "name"> = JSON.parse(await Deno.readTextFile(join(CASES, file)));
      return { ...data, name: file.replace(/\.json$/, "") };
    }),
  );
}

/**
 * Runs a case in a copy of its folder and compares.
 *
 * @throws {assert.AssertionError} when it prints, writes or ends otherwise than its file says.
 */
export async function tryExample(
  example: ExampleCase,
  run: (args: readonly string[], options: RunOptions) => Promise<RunResult>,
): Promise<void> {
  const copy = await Deno.makeTempDir({ prefix: "orrery-example-" });
  try {
    for (const path of (await readProject(join(PROJECT_ROOT, example.folder))).keys()) {
      await Deno.mkdir(dirname(join(copy, path)), { recursive: true });
      await Deno.copyFile(join(PROJECT_ROOT, example.folder, path), join(copy, path));
    }
    const stdin = example.stdin === undefined ? {} : { stdin: example.stdin };
    const result = await run(example.args, { cwd: copy, ...stdin });
    assert.equal(result.code, example.code ?? 0, result.stderr);
    assertOutput(result.stdout, example.stdout, `${example.name}, stdout`);
    if (example.stderr !== undefined) assertOutput(result.stderr, example.stderr, `${example.name}, stderr`);
    for (const [file, text] of Object.entries(example.files ?? {})) {
      assertOutput(await Deno.readTextFile(join(copy, file)), text, `${example.name}, ${file}`);
    }
  } finally {
    await Deno.remove(copy, { recursive: true });
  }
}
