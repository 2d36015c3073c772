// What `deno task compile` is asked to do, as data: nothing here touches a file or starts a program.

import { parseArgs } from "node:util";

/** The systems that releases are made for, as `deno compile --target` names them. */
export const TARGETS = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
] as const;

/** One of them. */
export type Target = typeof TARGETS[number];

/** A program that is made. */
export interface CompiledProgram {
  readonly target: Target;
  /** Where it is written, from the project's folder or absolute. */
  readonly output: string;
}

/** What is to be made. */
export interface CompilePlan {
  readonly programs: readonly CompiledProgram[];
  /** Writes SHA256SUMS beside the programs. */
  readonly checksums: boolean;
}

const USAGE = "deno task compile [--target TARGET|all]... [-o FILE] [--checksums]";

/**
 * Reads the arguments. Without `--target` the program is for `here` and is called `dist/orrery`; with it, its name has that of
 * the target.
 *
 * @throws {Error} for an argument that is unknown, or does not go with another one
 */
export function compilePlan(args: readonly string[], here: Target): CompilePlan {
  const { target: named = [], output, checksums = false } = readArguments(args);
  const targets = named.includes("all") ? TARGETS : [...new Set(named.map(knownTarget))];
  if (targets.length > 1 && output !== undefined) {
    throw new Error(`-o ${output}: it names one file, and there are ${targets.length} targets`);
  }
  const programs = targets.length === 0
    ? [{ target: here, output: programFile(output ?? "dist/orrery", here) }]
    : targets.map((target) => ({
      target,
      output: programFile(output ?? `dist/orrery-${target}`, target),
    }));
  return { programs, checksums };
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        target: { type: "string", multiple: true },
        output: { type: "string", short: "o" },
        checksums: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}; expected ${USAGE}`);
  }
}

function knownTarget(name: string): Target {
  const found = TARGETS.find((target) => target === name);
  if (found === undefined) {
    throw new Error(`--target ${name}: no such target, expected all or one of ${TARGETS.join(", ")}`);
  }
  return found;
}

/** The name of a program's file on its system; `deno compile` adds the ending of Windows, too. */
function programFile(file: string, target: Target): string {
  return target.includes("windows") && !file.endsWith(".exe") ? `${file}.exe` : file;
}

/** The modules that the program is made of. */
export const MODULES = "dist/small";

/** The folder of them with what the program reads from inside itself. */
export const ASSETS = "assets";

/** What the web page loads, made before the program is (`lib/server/pages/assets.ts`). */
export const PAGE_ASSETS = `${MODULES}/${ASSETS}/page.json`;

/** The pages of help and the project of `orrery init` (`lib/cli/help.ts`). */
export const HELP_ASSETS = `${MODULES}/${ASSETS}/help.json`;

/**
 * The command of Deno that bundles a module. It is done twice: the first pass resolves what packages `require`, the second makes it small.
 */
export function bundleCommand(
  file: string,
  { to, isSmall }: { readonly to: string; readonly isSmall: boolean },
): readonly string[] {
  return ["bundle", "--quiet", ...isSmall ? ["--minify"] : [], "--code-splitting", "--outdir", to, file];
}

/** The command of Deno that makes one program of the bundle. This machine's own needs no `--target`, and no runtime to choose. */
export function compileCommand({ target, output }: CompiledProgram, here: Target): readonly string[] {
  const flags = ["--quiet", "-A", "--no-check", "--no-config", "--no-lock", "--no-code-cache"];
  return [
    "compile",
    ...flags,
    ...target === here ? [] : ["--target", target],
    "--include",
    `${MODULES}/${ASSETS}`,
    "-o",
    output,
    `${MODULES}/main.js`,
  ];
}
