// `orrery serve` as a process of its own, in a project of a test: asked over its socket, told to end, or killed.

import { askServer, TOKEN } from "./_server.ts";
import type { AskOptions } from "./_server.ts";
import type { TestProject } from "./_project.ts";

/** A server that is another process. */
export interface ServedProject extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  readonly pid: number;
  /** How it ended: 128 + the number of the signal when one ended it. */
  readonly exit: Promise<number>;
  /** What it has told on stderr so far. */
  told(): string;
  /** With the token, JSON where there is a body. */
  ask(path: string, options?: AskOptions): Promise<Response>;
  /** The same, as JSON; `status` and all fields of the answer. */
  json(path: string, options?: AskOptions): Promise<Answered>;
  signal(signal: Deno.Signal): void;
}

/** An answer that was read. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

const START_MS = 30_000;

/** Starts it and waits until it listens; `await using` kills what is left of it. */
export async function serveProject(
  project: TestProject,
  args: readonly string[] = [],
  { token = TOKEN }: { readonly token?: string } = {},
): Promise<ServedProject> {
  const child = project.start(["serve", "--port", "0", "--token", token, ...args]);
  await child.stdin.close();
  let told = "";
  const stderr = collect(child.stderr, (text) => void (told += text));
  const first = Promise.withResolvers<string>();
  const late = setTimeout(() => first.reject(new Error(`it did not listen in time: ${told}`)), START_MS);
  let line = "";
  const stdout = collect(child.stdout, (text) => {
    line += text;
    if (line.includes("\n")) first.resolve(line.slice(0, line.indexOf("\n")));
  });
  const exit = child.status.then(({ code }) => code);
  exit.then((code) => first.reject(new Error(`it ended with ${code}: ${told}`)));
  first.promise.catch(() => undefined);
  const end = async (): Promise<void> => {
    clearTimeout(late);
    try {
      child.kill("SIGKILL");
    } catch { /* it has ended */ }
    await Promise.all([exit, stdout, stderr]);
  };
  let origin;
  try {
    origin = await first.promise;
  } catch (error) {
    await end();
    throw error;
  }
  clearTimeout(late);
  const ask: ServedProject["ask"] = (path, options) => askServer(origin, path, options);
  return {
    origin,
    port: Number(new URL(origin).port),
    pid: child.pid,
    exit,
    told: () => told,
    ask,
    async json(path, options) {
      const answer = await ask(path, options);
      const { status, headers } = answer;
      const text = await answer.text();
      return { status, headers, body: text === "" ? {} : JSON.parse(text) };
    },
    signal: (signal) => child.kill(signal),
    [Symbol.asyncDispose]: end,
  };
}

async function collect(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}
