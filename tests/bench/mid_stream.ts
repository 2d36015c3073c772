// From the last byte of a block at the socket to the start of its gadget, while later tokens still arrive (200 a second): under 1 ms at
// the 99th percentile, over one commit of the journal where the gadget may not be done twice.

import type { RunJournal } from "../../lib/core/journal.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { thisProcess } from "../../lib/host/process_alive.ts";
import { sqliteJournal } from "../../lib/journal/sqlite_journal.ts";
import { openModels } from "../../lib/models/open_models.ts";
import { ask } from "../../lib/run/dialog.ts";
import type { DialogOptions } from "../../lib/run/dialog.ts";
import { createCatalog } from "../../mod.ts";
import type { AnyGadget } from "../../mod.ts";
import type { Row } from "./_table.ts";

const BLOCKS = 100;
const TOKEN_MS = 5;

/** Streams blocks and words, a token at a time. */
function slowServer(): { url: string; stop(): Promise<void> } {
  let asked = 0;
  const encoder = new TextEncoder();
  const event = (content: string): Uint8Array =>
    encoder.encode(`data: ${JSON.stringify({ id: "x", choices: [{ index: 0, delta: { content } }] })}\n\n`);
  const end = encoder.encode(
    `data: ${
      JSON.stringify({ id: "x", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
    }\n\ndata: [DONE]\n\n`,
  );
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    const isFirst = asked++ === 0;
    const stream = new ReadableStream<Uint8Array>({
      async start(controller) {
        for (let i = 0; isFirst && i < BLOCKS; i++) {
          const tokens = [
            `!!!GADGET_START:Tick:t${i}\n`,
            "!!!ARG:n\n",
            `${i}\n`,
            "!!!GADGET",
            "_END\n",
            "and ",
            "then\n",
          ];
          for (const token of tokens) {
            await new Promise((resolve) => setTimeout(resolve, TOKEN_MS));
            controller.enqueue(event(token));
          }
        }
        controller.enqueue(event("done"));
        controller.enqueue(end);
        controller.close();
      },
    });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/v1`,
    stop: () => server.shutdown(),
  };
}

/** A fetch that notes when the last byte of each block is there. */
function watchedFetch(arrivedAt: number[]): typeof fetch {
  const decoder = new TextDecoder();
  return async (input, init) => {
    const response = await fetch(input, init);
    const noting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        if (decoder.decode(chunk).includes("_END")) arrivedAt.push(performance.now());
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body?.pipeThrough(noting) ?? null, { headers: response.headers });
  };
}

async function delays(idempotent: boolean, options: Partial<DialogOptions>): Promise<number[]> {
  const server = slowServer();
  const startedAt: number[] = [];
  const arrivedAt: number[] = [];
  const tick: AnyGadget = {
    name: "Tick",
    description: "Ticks.",
    idempotent,
    run: ({ n }: { n: number }) => {
      startedAt[n] = performance.now();
      return null;
    },
  } as AnyGadget;
  const models = openModels({
    settings: { providers: { slow: { type: "openai-compatible", baseURL: server.url } } },
    env: () => undefined,
    fetch: watchedFetch(arrivedAt),
    clock: systemClock,
    files: { readText: () => Promise.reject(new Error("no files")) },
  });
  const model = await models.find("slow/x");
  let deltasAfterFirst = 0;
  for await (
    const event of ask("Go", { model, catalog: createCatalog([tick]), tools: ["Tick"], ...options })
  ) {
    if (event.type === "text-delta" && startedAt.length > 0) deltasAfterFirst++;
  }
  await server.stop();
  if (startedAt.length !== BLOCKS) throw new Error(`${startedAt.length} gadgets of ${BLOCKS} started`);
  if (deltasAfterFirst < BLOCKS) throw new Error("no tokens came after the first gadget had started");
  return startedAt.map((at, i) => Math.max(0, at - (arrivedAt[i] ?? 0))).sort((a, b) => a - b);
}

/** The rows of the table: how long a whole block waits for its gadget, and what a commit takes in the same run. */
export async function benchMidStream(): Promise<readonly Row[]> {
  const plain = await delays(true, {});
  const folder = await Deno.makeTempDir();
  const journal = sqliteJournal(`${folder}/orrery.db`, { owner: thisProcess() });
  const kept = await delays(false, { journal: journal.create({ kind: "ask", input: null }) });
  const commits = commitsOf(journal.create({ kind: "test", input: null }));
  journal[Symbol.dispose]();
  await Deno.remove(folder, { recursive: true });
  return [
    { what: "last byte of a block to its gadget, p50", value: at(plain, 0.5), unit: "ms" },
    { what: "the same, p99", value: at(plain, 0.99), unit: "ms", limit: 1 },
    { what: "a commit of the journal, p50", value: at(commits, 0.5), unit: "ms" },
    { what: "last byte to a gadget that is not idempotent, p50", value: at(kept, 0.5), unit: "ms" },
    {
      what: "the same, p99, less the p99 of a commit",
      value: Math.max(0, at(kept, 0.99) - at(commits, 0.99)),
      unit: "ms",
      limit: 1,
    },
  ];
}

function commitsOf(run: RunJournal): number[] {
  const times = Array.from({ length: BLOCKS }, (_, i) => {
    const start = performance.now();
    run.begin({ key: `k${i}`, kind: "gadget", name: "x", input: { i }, idempotent: false });
    return performance.now() - start;
  });
  run.release("done");
  return times.sort((a, b) => a - b);
}

/** Of a hundred, the 99th is the second largest. */
function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.round(sorted.length * share) - 1)] ?? NaN;
}
