// The server, held against the least that its stack can do, in one run: `POST /v1/runs` of a call file with one built-in gadget against a
// bare Hono route that echoes the same body as JSON, by turns; and 200 event streams of 50 events a second. Each server is a process of its
// own, and so is whoever asks. Ours does all that it does for anybody: it looks at Host and Origin, checks the body, makes a run, runs it.

import { fileURLToPath } from "node:url";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const ROUNDS = 7;
const ROUND_S = 3;
const WARM_S = 6;
const CONNECTIONS = 32;
const STREAMS = 200;

const BODY = JSON.stringify({ file: "one.calls" });
const CALLS = "!!!GADGET_START:Calculate:sum\n!!!ARG:expression\n1 + 2\n!!!GADGET_END\n";
const SETTINGS = "limits:\n  runs: 256\n";

/** Each waits for the one before: one begins and one ends every 80 ms, for longer than anybody looks. */
function waits(): string {
  const calls = Array.from(
    { length: 330 },
    (_, i) =>
      `!!!GADGET_START:Wait:w${i}${i === 0 ? "" : `:w${i - 1}`}\n!!!ARG:seconds\n0.08\n!!!GADGET_END\n`,
  );
  return calls.join("");
}

/** The rows of the table. */
export async function benchServer(): Promise<readonly Row[]> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/orrery.yaml`, SETTINGS);
    await Deno.writeTextFile(`${folder}/one.calls`, CALLS);
    await Deno.writeTextFile(`${folder}/waits.calls`, waits());
    await Deno.writeTextFile(`${folder}/post.lua`, luaOf(BODY));
    await using bare = await listening(["run", "-A", here("_bare_server.ts")], folder);
    return [...await requestRows(folder, bare), ...await streamRows(folder, bare)];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function requestRows(folder: string, bare: Listening): Promise<readonly Row[]> {
  const missing = await missingWrk();
  if (missing !== undefined) {
    console.log(`POST /v1/runs: not run here: ${missing}`);
    return [];
  }
  await using ours = await served(folder, ["--ephemeral"]);
  await using kept = await served(folder, []);
  const script = `${folder}/post.lua`;
  const servers = [bare, ours, kept];
  for (const { origin } of servers) await load(origin, { script, seconds: WARM_S });
  const rates: number[][] = servers.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, { origin }] of servers.entries()) {
      rates[i]?.push(await load(origin, { script, seconds: ROUND_S }));
    }
  }
  await assertDone(ours.origin);
  await assertDone(kept.origin);
  const [echoes = [], runs = [], keptRuns = []] = rates;
  const of = "the echo";
  const share = (of: readonly number[]): number => median(of.map((rate, i) => rate / (echoes[i] ?? NaN)));
  return [
    { what: "POST, a bare Hono route that echoes JSON", value: median(echoes), unit: "/s" },
    {
      what: "POST /v1/runs, one built-in gadget, --ephemeral",
      value: median(runs),
      unit: "/s",
      ratio: share(runs),
      of,
      limit: 0.08,
      atLeast: true,
    },
    { what: "the same, kept", value: median(keptRuns), unit: "/s", ratio: share(keptRuns), of },
  ];
}

async function streamRows(folder: string, bare: Listening): Promise<readonly Row[]> {
  await using ours = await served(folder, ["--ephemeral"]);
  const all = [
    { what: "a bare Hono route", found: await streamed(bare.origin, "bare") },
    { what: "a run, read by all", found: await streamed(ours.origin, "readers"), limit: 50 },
    {
      what: "50 runs, four of each",
      found: await streamed(ours.origin, "runs"),
      limit: 50,
    },
  ];
  return all.flatMap(({ what, found, limit }) => [
    {
      what: `${STREAMS} event streams of ${what}: events`,
      value: median(found.map(({ perSecond }) => perSecond)),
      unit: "/s",
    },
    { what: "their delay, p50", value: median(found.map(({ p50 }) => p50)), unit: "ms" },
    {
      what: "the same, p99",
      value: median(found.map(({ p99 }) => p99)),
      unit: "ms",
      ...(limit !== undefined && { limit }),
    },
  ]);
}

interface Listening extends AsyncDisposable {
  readonly origin: string;
}

/** `orrery serve` as anybody starts it. */
async function served(folder: string, flags: readonly string[]): Promise<Listening> {
  const main = here("../../main.ts");
  return await listening(
    ["run", "-A", main, "serve", "--no-token", "--quiet", "--port", "0", ...flags],
    folder,
  );
}

/** A server in a process of its own, that says first where it is. */
async function listening(args: readonly string[], cwd: string): Promise<Listening> {
  const child = new Deno.Command(Deno.execPath(), { args: [...args], cwd, stdin: "null", stdout: "piped" })
    .spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  while (!said.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the server ended before it listened: ${said}`);
    said += value;
  }
  return {
    origin: said.trim(),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await reader.cancel();
      await child.status;
    },
  };
}

/** Why there is no wrk. */
async function missingWrk(): Promise<string | undefined> {
  try {
    await new Deno.Command("wrk", { args: ["-v"], stdout: "null", stderr: "null" }).output();
    return undefined;
  } catch (error) {
    return error instanceof Deno.errors.NotFound
      ? "wrk is not installed, and a load script here would be slower than what it measures"
      : `wrk cannot be started: ${String(error)}`;
  }
}

function luaOf(body: string): string {
  return `wrk.method = "POST"\nwrk.body = '${body}'\nwrk.headers["Content-Type"] = "application/json"\n`;
}

/** Requests a second. @throws {Error} when one of them was not answered well */
async function load(
  origin: string,
  { script, seconds }: { readonly script: string; readonly seconds: number },
): Promise<number> {
  const args = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, "-s", script, `${origin}/v1/runs`];
  const { stdout } = await new Deno.Command("wrk", { args }).output();
  const said = new TextDecoder().decode(stdout);
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(said) ?? [];
  if (rate === undefined || /Non-2xx|Socket errors/.test(said)) {
    throw new Error(`wrk ${args.join(" ")}: ${said}`);
  }
  return Number(rate);
}

/** What was answered with 202 has been done, too. */
async function assertDone(origin: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 500));
  const answer = await fetch(`${origin}/v1/runs?limit=200`);
  const { runs }: { runs: { status: string; value?: unknown }[] } = await answer.json();
  if (runs.length < 200 || !runs.every(({ status, value }) => status === "done" && value === 3)) {
    throw new Error(`${runs.length} runs, not all of them done: ${JSON.stringify(runs.slice(0, 3))}`);
  }
}

interface Window {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

async function streamed(origin: string, what: "bare" | "readers" | "runs"): Promise<readonly Window[]> {
  const args = ["run", "-A", here("_sse_load.ts"), origin, what, String(STREAMS)];
  const { code, stdout } = await new Deno.Command(Deno.execPath(), { args, stdin: "null" }).output();
  const lines = new TextDecoder().decode(stdout).trim().split("\n");
  if (code !== 0) throw new Error(`_sse_load.ts ${what} ended with ${code}`);
  return lines.map((line) => JSON.parse(line));
}

function here(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
