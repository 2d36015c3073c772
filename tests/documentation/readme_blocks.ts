// The blocks of README.md, and how one is tried out. The info string of a block may say
//   no-run: WHY       it is not run, and why
//   needs=PROGRAM    it is run where there is such a program
//   file=PATH         it is written to that file, for the blocks after it
// The next block is what it prints when that is a `text` block under the same heading (`text all`: stderr too). For `ts`
// the `// =>` comments of the block do the same.

import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT, type RunResult } from "../_run.ts";
import { arrowComments, assertOutput } from "./expected_output.ts";
import { type Fence, fencesOf } from "./fences.ts";
import type { Workplace } from "./workplace.ts";

/** A block of README.md that is no output of another one. */
export interface ReadmeBlock extends Fence {
  /** `README.md:LINE LANGUAGE BEGINNING`, or of another page */
  readonly name: string;
  /** `README.md:LINE` */
  readonly where: string;
  /** A script and a module are run, a file is written, the rest is only shown. */
  readonly kind: "script" | "module" | "file" | "shown";
}

/**
 * All of them, in their order.
 *
 * @param page another page than README.md, from the root of the project
 * @throws {assert.AssertionError} for one that is neither run nor says why
 */
export async function readmeBlocks(page = "README.md"): Promise<readonly ReadmeBlock[]> {
  const fences = fencesOf(await Deno.readTextFile(join(PROJECT_ROOT, page)));
  return fences.filter(({ language }) => language !== "text" && language !== "").map((fence) => {
    const where = `${page}:${fence.line}`;
    const name = `${where} ${fence.language} ${fence.text.split("\n", 1)[0]}`;
    return { ...fence, where, name, kind: kindOf(fence, where) };
  });
}

function kindOf({ language, info }: Fence, where: string): ReadmeBlock["kind"] {
  const reason = /no-run:(.*)$/.exec(info)?.[1]?.trim();
  if (reason !== undefined) {
    assert.ok(reason !== "", `${where}: say why it is not run`);
    return "shown";
  }
  if (fileOf(info) !== undefined) return "file";
  if (language === "ts") return "module";
  if (language === "sh") return "script";
  assert.ok(
    !/^(bash|zsh|shell|console|js|javascript|typescript)$/.test(language),
    `${where}: write sh or ts, so that it is run`,
  );
  return "shown";
}

const fileOf = (info: string): string | undefined => /(?:^|\s)file=(\S+)/.exec(info)?.[1];

/** Writes the file of a block. */
export async function writeBlock(
  place: Pick<Workplace, "write">,
  { info, text }: ReadmeBlock,
): Promise<void> {
  const file = fileOf(info);
  if (file !== undefined) await place.write(file, text);
}

/**
 * Runs a script and compares. One that kills is given three tries: on a busy machine the kill may come before there is anything to stop.
 *
 * @throws {assert.AssertionError} when it ends or prints otherwise than README.md shows
 */
export async function tryScript(
  place: Pick<Workplace, "shell">,
  block: ReadmeBlock,
  tries = /\bkill\b/.test(block.text) ? 3 : 1,
): Promise<RunResult> {
  const { where, info, text, expected } = block;
  const missing = await missingProgram(place, info);
  if (missing !== undefined) {
    console.log(`not run here: ${block.name}; there is no ${missing}`);
    return { code: 0, stdout: "", stderr: "" };
  }
  const run = await place.shell(text, { merged: expected?.info === "all" });
  const wanted = Number(/exit=(\d+)/.exec(info)?.[1] ?? 0);
  try {
    assert.equal(run.code, wanted, `${where}: exit code ${run.code}\n${run.stdout}\n${run.stderr}`);
    if (expected !== undefined) assertOutput(run.stdout, expected.text, where);
    return run;
  } catch (error) {
    if (tries <= 1) throw error;
    return await tryScript(place, block, tries - 1);
  }
}

async function missingProgram(place: Pick<Workplace, "shell">, info: string): Promise<string | undefined> {
  const needed = /needs=(\S+)/.exec(info)?.[1];
  if (needed === undefined) return undefined;
  return (await place.shell(`command -v ${needed}`)).code === 0 ? undefined : needed;
}

/** Runs a module and compares; its types are for documented_types_test.ts. @throws {assert.AssertionError} as `tryScript` */
export async function tryModule(place: Workplace, block: ReadmeBlock): Promise<void> {
  const { where, text } = block;
  await place.write(moduleOf(block), text);
  const run = await place.module(moduleOf(block));
  assert.equal(run.code, 0, `${where}: ${run.stderr}`);
  const expected = block.expected?.text ?? arrowComments(text);
  if (expected !== undefined) assertOutput(run.stdout, expected, where);
}

/** Its line is in the name: an error of the compiler says where it stands. */
function moduleOf({ line }: ReadmeBlock): string {
  return `readme_${line}.ts`;
}
