// What the turn costs over reading the same stream by hand; and what many runs at once take.

import { openModels } from "../../lib/models/open_models.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { fakeModel } from "../../lib/core/fake_model.ts";
import { ask } from "../../lib/run/dialog/dialog.ts";
import { createCatalog } from "../../mod.ts";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const DELTAS = 20_000;
const SAMPLES = 7;
const RUNS = 1_000;

/** The rows of the table: 20,000 small deltas by hand and through the turn, and the memory of 1,000 runs at once. */
export async function benchTurn(): Promise<readonly Row[]> {
  return [...await benchDeltas(), ...await benchRuns()];
}

async function benchDeltas(): Promise<readonly Row[]> {
  const text = Array.from({ length: DELTAS }, (_, i) => `word${i % 10} `).join("");
  await using server = await deltaServer();
  const url = `http://127.0.0.1:${server.port}/v1`;
  const models = openModels({
    settings: { providers: { bench: { type: "openai-compatible", baseURL: url } } },
    env: () => undefined,
    fetch,
    clock: systemClock,
    files: { readText: () => Promise.reject(new Error("no files")) },
  });
  const model = await models.find("bench/test");
  const echo = { name: "Echo", description: "Echo.", run: () => "echo" };
  const byHand: number[] = [];
  const byTurn: number[] = [];
  for (let i = 0; i < SAMPLES + 2; i++) {
    const hand = await timed(async () => {
      const length = await readByHand(`${url}/chat/completions`);
      if (length !== text.length) throw new Error(`by hand: ${length} characters`);
    });
    const turn = await timed(async () => {
      let value: unknown;
      for await (const event of ask("Go", { model, catalog: createCatalog([echo]), tools: ["Echo"] })) {
        if (event.type === "run-end") value = event.value;
      }
      if (value !== text) throw new Error("the turn gave another text");
    });
    if (i >= 2) {
      byHand.push(hand);
      byTurn.push(turn);
    }
  }
  return [
    { what: "20,000 deltas, read and parsed by hand", value: median(byHand), unit: "ms" },
    { what: "20,000 deltas, through the turn", value: median(byTurn), unit: "ms" },
    {
      what: "a delta through the turn, over one by hand",
      value: (median(byTurn) - median(byHand)) / DELTAS * 1000,
      unit: "us",
      limit: 20,
    },
  ];
}

interface DeltaServer extends AsyncDisposable {
  readonly port: number;
}

async function deltaServer(): Promise<DeltaServer> {
  const file = decodeURIComponent(new URL("./_delta_server.ts", import.meta.url).pathname);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", file, String(DELTAS)],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  return {
    port: Number(value),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
    },
  };
}

/** Reads an OpenAI chat stream with nothing but the platform. */
async function readByHand(url: string): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "test", stream: true, messages: [{ role: "user", content: "Go" }] }),
  });
  let buffer = "";
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? new ReadableStream<Uint8Array>()) {
    buffer += decoder.decode(bytes, { stream: true });
    const events = buffer.split("\n\n");
    buffer = events.pop() ?? "";
    for (const event of events) {
      if (!event.startsWith("data: ") || event === "data: [DONE]") continue;
      text += JSON.parse(event.slice(6)).choices[0]?.delta?.content ?? "";
    }
  }
  return text.length;
}

async function benchRuns(): Promise<readonly Row[]> {
  const before = Deno.memoryUsage().rss;
  let most = 0;
  const block = "!!!GADGET_START:Wait:w\n!!!GADGET_END\n";
  const wait = {
    name: "Wait",
    description: "Waits.",
    run: () => new Promise((resolve) => setTimeout(() => resolve("ok"), 200)),
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: RUNS }, async () => {
    const model = fakeModel([`I wait.\n${block}`, "Done. ".repeat(200)]);
    for await (const event of ask("Go", { model, catalog: createCatalog([wait]), tools: ["Wait"] })) {
      if (event.type === "call-result") most = Math.max(most, Deno.memoryUsage().rss);
    }
  }));
  most = Math.max(most, Deno.memoryUsage().rss);
  return [
    { what: "1,000 runs at once, in all", value: performance.now() - start, unit: "ms" },
    { what: "their memory over the process before", value: (most - before) / 1e6, unit: "MB", limit: 600 },
  ];
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
