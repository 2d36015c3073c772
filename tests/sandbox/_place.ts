// A place for attacks: a project, secrets beside it, a server on loopback, a folder for temporary files of its own; and what
// must hold of every run there, whatever its gadgets try.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { leftProcesses, markedProcesses, seesProcesses } from "../_marked_processes.ts";
import { type TestProject, testProject } from "../_project.ts";
import { runsInside } from "../_run.ts";
import { ProcessWatch } from "./_processes.ts";

/** What no gadget may ever see: it stands in the files outside, in the answers of the server, and in a variable. */
export const SECRET = "TOPSECRET";

/** The variable of Orrery's own environment that holds it. */
export const SECRET_VARIABLE = "ORRERY_TEST_SECRET";

/** An event of a run, as a line of `--jsonl`. */
export interface Told {
  readonly type: string;
  readonly at: number;
  readonly invocationId?: string;
  readonly result?: unknown;
  readonly error?: string;
  readonly code?: string;
  readonly reason?: string;
  readonly text?: string;
  readonly status?: string;
  readonly flag?: string;
}

/** How a call ended. */
export interface Outcome {
  readonly isError: boolean;
  readonly result: unknown;
  /** Empty where there is none. */
  readonly error: string;
  readonly code: string;
  /** From its start to its end. */
  readonly ms: number;
}

/** What came of a run. */
export interface AttackRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** All that was written to stdout, of which `stdout` is the first 64 MiB. */
  readonly stdoutBytes: number;
  readonly events: readonly Told[];
  readonly ownPeakMb: number;
  readonly childPeakMb: number;
  readonly children: number;
  /** Processes that live on: their numbers, or what is known of them. */
  readonly left: readonly (number | string)[];
  /** @throws {AssertionError} unless the call has exactly one outcome */
  outcome(id: string): Outcome;
}

/** How to run. */
export interface AttackOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Of a call; default 2. */
  readonly timeoutSeconds?: number;
  /** Of the whole run; default 40,000. */
  readonly timeoutMs?: number;
  /** Default 1: one call after the other, so that a later one shows what an earlier one left. */
  readonly concurrency?: number;
  /** What stands for `orrery`; by default what ORRERY_BINARY says. */
  readonly command?: readonly string[];
  /** While it runs. */
  readonly during?: (pid: number) => void;
}

/** A place for attacks. */
export interface AttackPlace extends AsyncDisposable {
  readonly project: TestProject;
  /** The folder with the secrets, beside the project. */
  readonly outside: string;
  readonly temporary: string;
  readonly port: number;
  /** What the server was sent, a text a connection. */
  readonly received: readonly string[];
  /** Puts the places of this place into the text of a module. */
  filled(text: string): string;
  /** Writes a file of the project, filled. */
  add(path: string, text: string): Promise<void>;
  /** Runs these calls. */
  run(calls: string, options?: AttackOptions): Promise<AttackRun>;
  /** Runs any command, with `--jsonl` or without. */
  command(args: readonly string[], options?: AttackOptions): Promise<AttackRun>;
  /** @throws {AssertionError} when a secret got out, a request was made, or something was written or left behind */
  assertHarmless(run: AttackRun, options?: { readonly written?: RegExp }): Promise<void>;
}

/** What a busy machine may need beyond a call's timeout for a new process, a kill and a result of many megabytes. */
export const SLACK_MS = 2500;

/** What a run has started may take so long to end behind it. */
const LEAVING_MS = 2_000;
const MOST_STDOUT = 64 * 2 ** 20;

/** The text of one call. */
export function callOf(
  header: string,
  args: Readonly<Record<string, string | number>> = {},
): string {
  const lines = Object.entries(args).map(([name, value]) => `!!!ARG:${name}\n${value}\n`).join("");
  return `!!!GADGET_START:${header}\n${lines}!!!GADGET_END\n`;
}

/** Makes a place; `await using` removes it. */
export async function attackPlace(
  files: Readonly<Record<string, string>> = {},
  options: {
    readonly answer?: string;
    /** Commands run inside the test's process where they can: for what a project brings, not for what its gadgets do. */
    readonly inside?: boolean;
  } = {},
): Promise<AttackPlace> {
  const project = await testProject();
  const home = dirname(project.folder);
  const [outside, temporary] = [join(home, "outside"), join(home, "tmp")];
  await Deno.mkdir(outside);
  await Deno.mkdir(temporary);
  await Deno.writeTextFile(join(outside, "secret.txt"), `${SECRET}\n`);
  await Deno.writeTextFile(join(outside, "secret.json"), JSON.stringify(SECRET));
  await Deno.writeTextFile(join(outside, "secret.js"), `export default ${JSON.stringify(SECRET)};\n`);
  const server = secretServer(options.answer);
  const filled = (text: string) =>
    text.replaceAll("@SECRET_TXT@", join(outside, "secret.txt"))
      .replaceAll("@SECRET_JSON@", join(outside, "secret.json"))
      .replaceAll("@SECRET_JS@", join(outside, "secret.js"))
      .replaceAll("@OUTSIDE@", outside)
      .replaceAll("@PROJECT@", project.folder)
      .replaceAll("@TEMPORARY@", temporary)
      .replaceAll("@PORT@", String(server.port));
  const env = { ...project.env, TMPDIR: temporary, [SECRET_VARIABLE]: SECRET };
  const before = new Map<string, string>();
  const place: AttackPlace = {
    project,
    outside,
    temporary,
    port: server.port,
    received: server.received,
    filled,
    add: (path, text) => project.write(path, filled(text)),
    async run(calls, { args = [], concurrency = 1, timeoutSeconds = 2, ...rest } = {}) {
      await project.write("attack.calls", calls);
      const flags = ["--jsonl", "--timeout", String(timeoutSeconds), "--concurrency", String(concurrency)];
      return await place.command(["run", "attack.calls", ...flags, ...args], rest);
    },
    async command(args, rest = {}) {
      before.clear();
      for (const [path, text] of await contents(home)) before.set(path, text);
      const all = { ...rest, env: { ...env, ...rest.env } };
      return await (options.inside && runsInside() ? inside : watched)(project, args, all);
    },
    async assertHarmless(run, { written = /^$/ } = {}) {
      assertNoSecret({ stdout: run.stdout, stderr: run.stderr });
      for (const [path, text] of await contents(join(project.folder, ".orrery"))) {
        const isSource = path.includes("gadgets") && before.size > 0 &&
          [...before].some(([own, source]) => own.includes("/gadgets/") && source.includes(SECRET));
        if (!isSource) assertNoSecret({ [`.orrery/${path}`]: text });
      }
      assert.deepEqual(server.received, [], "the server was asked");
      assert.deepEqual(run.left, [], "processes live on");
      assert.deepEqual(
        [...Deno.readDirSync(temporary)].map(({ name }) => name),
        [],
        "temporary files are left",
      );
      assertUnchanged(before, await contents(home), written);
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await project[Symbol.asyncDispose]();
    },
  };
  for (const [path, text] of Object.entries(files)) await place.add(path, text);
  return place;
}

function assertNoSecret(texts: Readonly<Record<string, string>>): void {
  for (const [where, text] of Object.entries(texts)) {
    const at = text.indexOf(SECRET);
    assert.ok(
      at < 0,
      `${where} has the secret: ${JSON.stringify(text.slice(Math.max(0, at - 300), at + 60))}`,
    );
  }
}

/** What Orrery keeps of a project, and of what its user accepted. */
const KEPT =
  /^project\/\.orrery(\/(\.gitignore|orrery\.db[^/]*|gadgets[^/]*(\/.*)?))?$|^state(\/.*)?$|^config$/;

function assertUnchanged(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  written: RegExp,
): void {
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    if (KEPT.test(path) || written.test(path)) continue;
    assert.equal(after.get(path), before.get(path), `${path} was changed`);
  }
}

/** Files and folders below a folder, by their path from it; of a link what it says. */
async function contents(folder: string, base = ""): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const entries = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
  for (const { name, isFile, isDirectory, isSymlink } of entries) {
    const [path, real] = [base + name, join(folder, name)];
    if (isDirectory) {
      found.set(path, "a folder");
      for (const [inner, text] of await contents(real, `${path}/`)) found.set(inner, text);
    } else {
      const read = isSymlink ? Deno.readLink(real) : isFile ? Deno.readFile(real).then(latin1) : undefined;
      found.set(path, await read?.catch(() => "cannot be read") ?? "a pipe");
    }
  }
  return found;
}

const latin1 = (bytes: Uint8Array): string => new TextDecoder("latin1").decode(bytes);

/** Whoever connects is answered with the secret, and noted. */
function secretServer(answer = SECRET): {
  readonly port: number;
  readonly received: string[];
  close(): Promise<void>;
} {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const received: string[] = [];
  const serve = async (connection: Deno.Conn) => {
    const bytes = new Uint8Array(4096);
    const length = await connection.read(bytes);
    received.push(latin1(bytes.subarray(0, length ?? 0)));
    const reply = `HTTP/1.1 200 OK\r\ncontent-length: ${answer.length}\r\nconnection: close\r\n\r\n${answer}`;
    await connection.write(new TextEncoder().encode(reply));
    connection.close();
  };
  const serving = (async () => {
    for await (const connection of listener) serve(connection).catch(() => received.push("broken off"));
  })();
  return {
    port: listener.addr.port,
    received,
    async close() {
      listener.close();
      await serving.catch(() => {});
    },
  };
}

/** Runs `orrery` in this process: nothing is known of its memory and of how many children it has then. */
async function inside(
  project: TestProject,
  args: readonly string[],
  { timeoutMs = 40_000, env, stdin }: AttackOptions,
): Promise<AttackRun> {
  const home = dirname(project.folder);
  const known = seesProcesses ? markedProcesses(home) : [];
  const { code, stdout, stderr } = await project.run(args, { timeoutMs, env, stdin });
  const left = seesProcesses ? await leftProcesses(home, LEAVING_MS, known) : [];
  const unwatched = { ownPeakMb: NaN, childPeakMb: NaN, children: NaN };
  return {
    ...unwatched,
    ...toldBy(args, { stdout, stderr }),
    left,
    exitCode: code,
    stdoutBytes: stdout.length,
  };
}

/** Runs `orrery` under watch. */
async function watched(
  project: TestProject,
  args: readonly string[],
  options: AttackOptions,
): Promise<AttackRun> {
  const { timeoutMs = 40_000, env = {}, stdin = "", command, during } = options;
  const child = project.start(args, { env, ...(command && { command }) });
  const watch = new ProcessWatch(child.pid);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  during?.(child.pid);
  const [out, err, status] = await Promise.all([
    firstOf(child.stdout),
    firstOf(child.stderr),
    child.status,
    feed(child.stdin, stdin),
  ]);
  clearTimeout(timer);
  watch.stop();
  const left = await watch.left();
  for (const pid of left) Deno.kill(pid, "SIGKILL");
  const said = saidBy({ stdout: out.text, stderr: err.text });
  assert.ok(!isLate, `orrery ${args.join(" ")}: not done after ${timeoutMs} ms${said}`);
  assert.equal(status.signal, null, `orrery was ended by ${status.signal}${said}`);
  return {
    ...toldBy(args, { stdout: out.text, stderr: err.text }),
    exitCode: status.code,
    stdoutBytes: out.bytes,
    ownPeakMb: watch.ownPeakMb,
    childPeakMb: watch.childPeakMb,
    children: watch.count,
    left,
  };
}

function toldBy(args: readonly string[], { stdout, stderr }: Pick<AttackRun, "stdout" | "stderr">) {
  // What is cut off ends in the middle of a line; the number of its bytes is for the test to judge.
  const whole = stdout.slice(0, stdout.lastIndexOf("\n") + 1);
  const events = args.includes("--jsonl") ? eventsOf(whole) : [];
  const said = saidBy({ stdout, stderr });
  return { stdout, stderr, events, outcome: (id: string) => outcomeOf(id, events, said) };
}

function saidBy({ stdout, stderr }: Pick<AttackRun, "stdout" | "stderr">): string {
  return `\nstdout: ${stdout.slice(0, 4000)}\nstderr: ${stderr.slice(0, 4000)}`;
}

async function feed(stdin: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stdin.getWriter();
  // A program that does not read it is no error.
  await writer.write(new TextEncoder().encode(text)).catch(() => {});
  await writer.close().catch(() => {});
}

/** Reads to the end and keeps the first 64 MiB. */
async function firstOf(
  stream: ReadableStream<Uint8Array>,
): Promise<{ readonly text: string; readonly bytes: number }> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const piece of stream) {
    if (bytes < MOST_STDOUT) text += decoder.decode(piece, { stream: true });
    bytes += piece.length;
  }
  return { text, bytes };
}

function eventsOf(stdout: string): readonly Told[] {
  const lines = stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      assert.fail(`a line of stdout is no event: ${line.slice(0, 300)}`);
    }
  });
}

function outcomeOf(id: string, events: readonly Told[], said: string): Outcome {
  const own = events.filter(({ invocationId }) => invocationId === id);
  const ends = own.filter(({ type }) => ["call-result", "call-error", "call-skip"].includes(type));
  assert.equal(ends.length, 1, `call ${id} has ${ends.length} outcomes${said}`);
  const [end] = ends;
  assert.ok(end !== undefined && end.type !== "call-skip", `call ${id} was skipped${said}`);
  const start = own.find(({ type }) => type === "call-run")?.at ?? end.at;
  return {
    isError: end.type === "call-error",
    result: end.result,
    error: end.error ?? "",
    code: end.code ?? "",
    ms: end.at - start,
  };
}
