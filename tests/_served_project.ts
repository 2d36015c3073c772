// `orrery serve` in a project of a test: inside the process of the test, or as one of its own that can be killed.

import { main, type Program } from "../main.ts";
import { askServer, TOKEN } from "./_server.ts";
import type { AskOptions } from "./_server.ts";
import { type TestProject, testProject } from "./_project.ts";
import { type RunOptions, runsInside, testProgram } from "./_run.ts";

/** A server of a project. */
export interface Served extends AsyncDisposable {
  readonly project: TestProject;
  readonly origin: string;
  readonly port: number;
  /** How it ended: 128 + the number of the signal when one ended it. */
  readonly exit: Promise<number>;
  /** What it has told on stderr so far. */
  told(): string;
  /** With the token, JSON where there is a body. */
  ask(path: string, options?: AskOptions): Promise<Response>;
  /** The same, as JSON; `status` and all fields of the answer. */
  json(path: string, options?: AskOptions): Promise<Answered>;
}

/** A server that is another process. */
export interface ServedProject extends Served {
  readonly pid: number;
  signal(signal: Deno.Signal): void;
}

/** A server inside this process, or where that cannot be a process of its own. */
export interface ServedHere extends Served {
  /** As Ctrl-C does: gives the exit code when it has ended. */
  stop(): Promise<number>;
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
  const child = project.start(["serve", "--port", "0", ...tokenFlags(args, token), ...args]);
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
  return {
    ...asked(origin, token),
    project,
    pid: child.pid,
    exit,
    told: () => told,
    signal: (signal) => child.kill(signal),
    [Symbol.asyncDispose]: end,
  };
}

function asked(origin: string, token: string): Pick<Served, "origin" | "port" | "ask" | "json"> {
  const ask: Served["ask"] = (path, { headers, ...options } = {}) =>
    askServer(origin, path, { ...options, headers: { authorization: `Bearer ${token}`, ...headers } });
  return {
    origin,
    port: Number(new URL(origin).port),
    ask,
    async json(path, options) {
      const answer = await ask(path, options);
      const { status, headers } = answer;
      const text = await answer.text();
      return { status, headers, body: text === "" ? {} : JSON.parse(text) };
    },
  };
}

/** Serves files as a project of their own, which is removed behind it, or a project that is there. Disposing of it ends it in order. */
export async function served(
  given: TestProject | Readonly<Record<string, string>>,
  args: readonly string[] = [],
  options: Pick<RunOptions, "kinds"> = {},
): Promise<ServedHere> {
  if (isProject(given)) return await serveHere(given, args, options);
  const project = await testProject(given);
  try {
    const server = await serveHere(project, args, options);
    return {
      ...server,
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        await project[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await project[Symbol.asyncDispose]();
    throw error;
  }
}

function isProject(given: object): given is TestProject {
  return Symbol.asyncDispose in given;
}

async function serveHere(
  project: TestProject,
  args: readonly string[],
  options: Pick<RunOptions, "kinds">,
): Promise<ServedHere> {
  if (!runsInside()) {
    const child = await serveProject(project, args);
    let isStopped = false;
    const stop = (): Promise<number> => {
      if (!isStopped) child.signal("SIGTERM");
      isStopped = true;
      return child.exit;
    };
    return { ...child, stop, [Symbol.asyncDispose]: async () => void await stop() };
  }
  return await begin(project, args, options);
}

/** What is still under way is not waited for. */
async function cancelAll({ json }: Pick<Served, "json">): Promise<void> {
  const { runs = [] } = (await json("/v1/runs?status=running&limit=200")).body;
  if (!Array.isArray(runs)) return;
  await Promise.all(runs.map(({ id }) => json(`/v1/runs/${id}/cancel`, { body: {} })));
}

function tokenFlags(args: readonly string[], token: string): readonly string[] {
  return args.includes("--no-token") ? [] : ["--token", token];
}

async function begin(
  project: TestProject,
  args: readonly string[],
  options: Pick<RunOptions, "kinds">,
): Promise<ServedHere> {
  const { program, stdout, stderr } = testProgram({
    ...options,
    cwd: project.folder,
    env: project.env,
  });
  const heard = Promise.withResolvers<() => void>();
  const signals: Program["signals"] = {
    addSignalListener(signal, listener) {
      if (signal === "SIGTERM") heard.resolve(listener); // it listens once it says its address
    },
    removeSignalListener() {},
  };
  const exit = main(["serve", "--port", "0", ...tokenFlags(args, TOKEN), ...args], { ...program, signals });
  const early = exit.then((code) => Promise.reject(new Error(`it ended with ${code}: ${stderr.text}`)));
  const end = await Promise.race([heard.promise, early]);
  early.catch(() => undefined);
  let isStopped = false;
  const stop = async (): Promise<number> => {
    if (!isStopped) end();
    isStopped = true;
    return await exit;
  };
  const asking = asked(stdout.text.trim(), TOKEN);
  return {
    ...asking,
    project,
    exit,
    told: () => stderr.text,
    stop,
    async [Symbol.asyncDispose]() {
      if (!isStopped) await cancelAll(asking);
      await stop();
    },
  };
}

async function collect(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}
