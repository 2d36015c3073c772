// deno task compile [--target TARGET|all]... [-o FILE] [--checksums]
//
// Makes the program from a bundle: dist/orrery for this machine, dist/orrery-TARGET for a target. Runtimes of other systems are
// fetched by `deno compile`.

import { dirname, join } from "node:path";
import { checksumsOf } from "./checksums.ts";
import {
  ASSETS,
  bundleCommand,
  compileCommand,
  type CompiledProgram,
  type CompilePlan,
  compilePlan,
  HELP_ASSETS,
  MODULES,
  PAGE_ASSETS,
  type Target,
  TARGETS,
} from "./compile_plan.ts";
import { helpFiles } from "../lib/cli/help.ts";
import { joinStart } from "./join_start.ts";
import { makePageAssets } from "../lib/service/look/page_assets.ts";
import { packFolder } from "./pack_folder.ts";
import { programTarget } from "./program_target.ts";

/** @throws {Error} where Orrery has no releases */
function thisMachine(): Target {
  const found = TARGETS.find((target) => target === Deno.build.target);
  if (found === undefined) throw new Error(`${Deno.build.target}: expected one of ${TARGETS.join(", ")}`);
  return found;
}

async function compile({ programs, checksums }: CompilePlan, here: Target): Promise<void> {
  for (const program of programs) await checkRuntime(program);
  try {
    await removeBundles();
    await deno(bundleCommand("main.ts", { to: "dist/bundle", isSmall: false }));
    await joinStart("dist/bundle", "dist/joined");
    await deno(bundleCommand("dist/joined/main.js", { to: MODULES, isSmall: true }));
    await packFolder(MODULES, ASSETS);
    await Deno.writeTextFile(PAGE_ASSETS, JSON.stringify(await makePageAssets()));
    await Deno.writeTextFile(HELP_ASSETS, JSON.stringify(Object.fromEntries(await helpFiles(""))));
    for (const program of programs) {
      await Deno.mkdir(dirname(program.output), { recursive: true });
      await deno(compileCommand(program, here));
    }
  } finally {
    await removeBundles();
  }
  if (!checksums) return;
  const files = programs.map(({ output }) => output);
  await Deno.writeTextFile(join(dirname(files[0] ?? ""), "SHA256SUMS"), await checksumsOf(files));
}

/** `deno compile` takes the runtime that DENORT_BIN names for every target, and then says nothing of it. */
async function checkRuntime({ target }: CompiledProgram): Promise<void> {
  const file = Deno.env.get("DENORT_BIN") ?? "";
  if (file === "") return;
  using runtime = await Deno.open(file);
  const head = new Uint8Array(4096);
  const found = programTarget(head.subarray(0, await runtime.read(head) ?? 0));
  if (found === target) return;
  throw new Error(
    `DENORT_BIN: ${file} is a runtime for ${found ?? "no known system"}, expected one for ${target}; ` +
      "without DENORT_BIN deno compile fetches its own",
  );
}

async function removeBundles(): Promise<void> {
  for (const folder of ["dist/bundle", "dist/joined", MODULES]) {
    await Deno.remove(folder, { recursive: true }).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
}

/** @throws {Error} when it fails; it has said why */
async function deno(args: readonly string[]): Promise<void> {
  const { code } = await new Deno.Command(Deno.execPath(), { args: [...args], stdin: "null" }).spawn().status;
  if (code !== 0) throw new Error(`deno ${args.join(" ")}: ended with exit code ${code}`);
}

try {
  Deno.chdir(join(import.meta.dirname ?? "", ".."));
  const here = thisMachine();
  await compile(compilePlan(Deno.args, here), here);
} catch (error) {
  console.error(`compile: ${error instanceof Error ? error.message : error}`);
  Deno.exit(1);
}
