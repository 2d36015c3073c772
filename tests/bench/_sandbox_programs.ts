// Programs of the same form as `orrery` here (`deno run`, or a compiled binary), for comparison: one that does nothing and one that waits.

import { join } from "node:path";
import { runProgram } from "../_run.ts";

/** Commands that can be started. */
export interface PlainPrograms extends AsyncDisposable {
  readonly empty: readonly string[];
  readonly idle: readonly string[];
}

const IDLE = "setInterval(() => {}, 1e9);\nconsole.log('idle');\n";

/** Whether `orrery` is the compiled binary here. */
export const isBinary: boolean = (Deno.env.get("ORRERY_BINARY") ?? "") !== "";

/** Makes them. @throws {Error} when they cannot be compiled */
export async function plainPrograms(): Promise<PlainPrograms> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-plain-" });
  const commandOf = async (name: string, text: string): Promise<readonly string[]> => {
    const script = join(folder, `${name}.js`);
    await Deno.writeTextFile(script, text);
    return isBinary
      ? [await compiled(script)]
      : [Deno.execPath(), "run", "--no-prompt", "--no-config", "--no-lock", script];
  };
  return {
    empty: await commandOf("empty", ""),
    idle: await commandOf("idle", IDLE),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function compiled(script: string): Promise<string> {
  const output = script.replace(/\.js$/, "");
  const flags = ["-A", "--no-check", "--no-config", "--no-lock", "--no-code-cache"];
  const runtime = Deno.env.get("DENORT_BIN");
  const { code, stderr } = await runProgram([Deno.execPath(), "compile", ...flags, "-o", output, script], {
    timeoutMs: 120_000,
    ...(runtime === undefined ? {} : { env: { DENORT_BIN: runtime } }),
  });
  if (code !== 0) throw new Error(`an empty program cannot be compiled: ${stderr}`);
  return output;
}
