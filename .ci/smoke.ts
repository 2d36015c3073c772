// deno task smoke [TARGET]
//
// Tries a program of dist/ on the system that it is for, as far as every system can: the checksum of one made with --target, its
// version, calls from a pipe, and an example that reads SQLite and loads a gadget from the disk. `deno task test:binary` tries much more.

import { join } from "node:path";
import config from "../deno.json" with { type: "json" };
import { checksumsOf } from "./checksums.ts";
import { compilePlan, type Target, TARGETS } from "./compile_plan.ts";

const ROOT = join(import.meta.dirname ?? "", "..");

/** @throws {Error} that says what was printed, and what was expected */
async function smoke(file: string): Promise<void> {
  if (Deno.build.os !== "windows") await Deno.chmod(file, 0o755); // what was downloaded cannot be run
  const folder = await Deno.makeTempDir({ prefix: "orrery smoke " });
  try {
    const run = (args: readonly string[], options: { cwd?: string; stdin?: string } = {}) =>
      outputOf(file, args, { cwd: folder, stdin: "", ...options });
    expect(await run(["--version"]), new RegExp(`^orrery ${config.version.replaceAll(".", "\\.")}\\b`));
    const calls = "!!!GADGET_START:Calculate\n!!!ARG:expression\n6 * 7\n!!!GADGET_END\n";
    expect(await run(["run", "-"], { stdin: calls }), /^42\r?\n$/);
    const chart = join(ROOT, "examples", "chart");
    const args = ["run", "chart.calls", "--gadget", "bar_chart.js", "--ephemeral"];
    expect(await run(args, { cwd: chart }), /^Jupiter +█+ 155$/m);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What is released has a line in SHA256SUMS beside it. @throws {Error} where it has not, or another one */
async function checkChecksum(file: string): Promise<void> {
  const known = await Deno.readTextFile(join(file, "..", "SHA256SUMS"));
  const line = await checksumsOf([file]);
  if (!known.includes(line)) throw new Error(`SHA256SUMS has no line ${JSON.stringify(line)}`);
}

interface Run {
  readonly command: string;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function outputOf(
  file: string,
  args: readonly string[],
  { cwd, stdin }: { cwd: string; stdin: string },
): Promise<Run> {
  const child = new Deno.Command(file, {
    args: [...args],
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  })
    .spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(stdin)).then(() => writer.close()).catch(() => {}); // --version reads nothing
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { command: args.join(" "), code, stdout: text(stdout), stderr: text(stderr) };
}

function expect({ command, code, stdout, stderr }: Run, pattern: RegExp): void {
  if (code !== 0 || !pattern.test(stdout)) {
    throw new Error(
      `orrery ${command}: expected exit code 0 and ${pattern}, found ${code}\n${stdout}\n${stderr}`,
    );
  }
  console.log(`ok    orrery ${command}`);
}

const here = TARGETS.find((target): target is Target => target === Deno.build.target);
try {
  if (here === undefined) throw new Error(`${Deno.build.target}: there are no releases for it`);
  const [target] = Deno.args;
  const [program] = compilePlan(target === undefined ? [] : ["--target", target], here).programs;
  const file = join(ROOT, program?.output ?? "");
  if (target !== undefined) await checkChecksum(file);
  await smoke(file);
} catch (error) {
  console.error(`smoke: ${error instanceof Error ? error.message : error}`);
  Deno.exit(1);
}
