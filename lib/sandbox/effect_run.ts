import { decodeUtf8 } from "../core/file_text.ts";
import { MAX_EFFECT_BYTES } from "../core/effect_limits.ts";
import type { EffectOp } from "../core/gadget_message.ts";
import type { Shell, ShellResult } from "../core/world.ts";
import { notThere, tooLarge } from "./effect_failure.ts";
import type { EffectSuccess } from "./effects.ts";

/** Of each of stdout and stderr: the two go back beside each other. */
const MAX_OUTPUT_BYTES = MAX_EFFECT_BYTES / 2;

/** A command of a gadget, without a shell. Its output is text: what is no UTF-8 in it is U+FFFD. @param bytes its stdin, UTF-8 */
export async function performRun(
  { command, args, cwd, env }: EffectOp & { readonly kind: "run" },
  bytes: Uint8Array,
  { shell, signal }: { readonly shell: Shell; readonly signal: AbortSignal },
): Promise<EffectSuccess> {
  const shown = JSON.stringify(command);
  const result = await missing(() =>
    shell.run(command, {
      args,
      env,
      signal,
      maxBytes: MAX_OUTPUT_BYTES,
      cwd,
      ...(bytes.length > 0 && { stdin: stdinText(shown, bytes) }),
    })
  );
  if (result.truncated) {
    const most = `at most ${MAX_OUTPUT_BYTES} of each stream are possible`;
    throw tooLarge(
      `Cannot take the output of ${shown}: ${result.dropped} bytes of it are more than fits, ${most}`,
    );
  }
  return outputOf(result);
}

/** A program that is not there is told from one that fails: gadgets try one program, then another. */
async function missing(work: () => Promise<ShellResult>): Promise<ShellResult> {
  try {
    return await work();
  } catch (error) {
    const isMissing = error instanceof Error && error.cause instanceof Error &&
      error.cause.name === "NotFound";
    throw isMissing ? notThere(error) : error;
  }
}

function stdinText(shown: string, bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  if ("text" in decoded) return decoded.text;
  throw new Error(`Cannot run ${shown}: its stdin is not UTF-8 text (byte ${decoded.wrongAt})`);
}

function outputOf({ exitCode, stdout, stderr }: ShellResult): EffectSuccess {
  const [out, error] = [new TextEncoder().encode(stdout), new TextEncoder().encode(stderr)];
  const bytes = new Uint8Array(out.length + error.length);
  bytes.set(out);
  bytes.set(error, out.length);
  return { ok: { exitCode, stdoutBytes: out.length }, bytes };
}
