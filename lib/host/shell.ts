// Programs, with no shell in between and no policy: lib/policy/guard_shell.ts puts one around it.
import { isAbsolute } from "../core/path.ts";
import type { Shell, ShellResult } from "../core/world.ts";
import { CappedText } from "./capped_text.ts";
import { denoGrants } from "./deno_grants.ts";
import { hostEnv } from "./env.ts";
import { endGroup } from "./process_group.ts";

/** What a command inherits of our environment: no key among them. */
const INHERITED: readonly string[] = ["PATH", "HOME", "LANG", "TERM"];
const DEFAULT_MAX_BYTES = 1024 * 1024;
/** How long output may still come after the end of a command and of what it left behind. */
const LAST_OUTPUT_MS = 2_000;

type RunOptions = Parameters<Shell["run"]>[1];

/** The programs of this machine. */
export function hostShell(): Shell {
  return {
    async run(command, options) {
      options.signal?.throwIfAborted();
      const child = start(command, options);
      return await finish(child, options);
    },
  };
}

function start(command: string, options: RunOptions): Deno.ChildProcess {
  if (command === "") throw new Error("Cannot run a command: its name is empty");
  if (!denoGrants({ name: "run", command })) {
    throw new Error(
      `Cannot run ${JSON.stringify(command)}: Deno itself was started without --allow-run=${command}`,
    );
  }
  try {
    return new Deno.Command(command, {
      args: [...options.args ?? []],
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      env: environment(options.env ?? {}),
      clearEnv: true,
      stdin: options.stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      detached: true, // a process group of its own, so that all of it can be ended
    }).spawn();
  } catch (error) {
    throw startProblem(error, { command, cwd: options.cwd });
  }
}

/** A relative folder in PATH would let the folder a command runs in decide what a name means. */
function environment(own: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = INHERITED.flatMap((name) => {
    const value = hostEnv(name);
    return value === undefined ? [] : [[name, name === "PATH" ? absoluteOnly(value) : value] as const];
  });
  return { ...Object.fromEntries(inherited), ...own };
}

function absoluteOnly(path: string): string {
  const separator = Deno.build.os === "windows" ? ";" : ":";
  return path.split(separator).filter(isAbsolute).join(separator);
}

function startProblem(error: unknown, { command, cwd }: { command: string; cwd: string | undefined }): Error {
  const prefix = `Cannot run ${JSON.stringify(command)}`;
  const message = error instanceof Error ? error.message : String(error);
  const because = (reason: string) => new Error(`${prefix}: ${reason}`, { cause: error });
  if (message.includes("No such cwd")) {
    return because(`there is no folder ${JSON.stringify(cwd)} to run it in`);
  }
  if (error instanceof Deno.errors.NotFound) {
    return because(
      command.includes("/") ? "no such file" : "no program of this name is in the folders of PATH",
    );
  }
  if (error instanceof Deno.errors.NotCapable) {
    return because(
      `Deno itself was started without the permission (${message.replace(/, run again.*$/s, "")})`,
    );
  }
  if (error instanceof Deno.errors.PermissionDenied) return because("it is not an executable file");
  return because(message.replace(/^Failed to spawn '.*?': /s, "").replace(/ \(os error \d+\)$/, ""));
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
  await endOrAbort(child, signal);
  // Also after a normal end: nothing that a command started goes on after it.
  await endGroup(child, Promise.allSettled([child.status, output.stdout.done, output.stderr.done]));
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
