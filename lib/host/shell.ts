// Programs, with no shell in between and no policy: lib/policy/guard_shell.ts puts one around it.
import type { Shell, ShellResult } from "../core/world.ts";
import { CappedText } from "./capped_text.ts";
import { startChild } from "./child_start.ts";
import { atExit } from "./process.ts";
import { endGroup, killGroup } from "./process_group.ts";

const DEFAULT_MAX_BYTES = 1024 * 1024;
/** How long output may still come after the end of a command and of what it left behind. */
const LAST_OUTPUT_MS = 2_000;

type RunOptions = Parameters<Shell["run"]>[1];

/** The programs of this machine. */
export function hostShell(): Shell {
  return {
    async run(command, options) {
      options.signal?.throwIfAborted();
      const { args = [], cwd, env = {}, stdin } = options;
      const child = startChild(command, {
        args,
        env,
        stdin: stdin === undefined ? "null" : "piped",
        ...(cwd !== undefined && { cwd }),
      });
      return await finish(child, options);
    },
  };
}

async function finish(child: Deno.ChildProcess, options: RunOptions): Promise<ShellResult> {
  const { signal, onOutput } = options;
  const capped = (stream: "stdout" | "stderr") =>
    new CappedText(child[stream], {
      maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
      ...(onOutput && { onText: (text) => onOutput(text, stream) }),
    });
  const output = { stdout: capped("stdout"), stderr: capped("stderr") };
  if (options.stdin !== undefined) feed(child.stdin, options.stdin);
  using exit = new DisposableStack();
  exit.use(atExit(() => killGroup(child)));
  await endOrAbort(child, signal);
  // Also after a normal end: nothing that a command started goes on after it.
  await endGroup(child, Promise.allSettled([child.status, output.stdout.done, output.stderr.done]));
  exit.dispose();
  const { code } = await child.status;
  await Promise.all([output.stdout.end(LAST_OUTPUT_MS), output.stderr.end(LAST_OUTPUT_MS)]);
  signal?.throwIfAborted();
  const truncated = output.stdout.truncated || output.stderr.truncated;
  return { exitCode: code, stdout: output.stdout.text, stderr: output.stderr.text, truncated };
}

async function endOrAbort(child: Deno.ChildProcess, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onAbort = () => resolve();
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) resolve();
  await Promise.race([child.status, promise]);
  signal?.removeEventListener("abort", onAbort);
}

/** A command need not read its input to the end. */
function feed(stdin: WritableStream<Uint8Array>, text: string): void {
  const writer = stdin.getWriter();
  writer.write(new TextEncoder().encode(text)).then(() => writer.close()).catch(() => {});
}
