// Events over HTTP (events.md, server.md): a client that nobody here wrote drops and resumes without loss or repetition; readers that are
// slow, or leave, hold nothing back.

import assert from "node:assert/strict";
import { EventSource } from "eventsource";
import { systemClock } from "../mod.ts";
import { isRecord } from "../lib/core/json.ts";
import { TextStreams } from "../lib/server/text_streams.ts";
import type { FakeRun } from "./_fake_service.ts";
import { TOKEN } from "./_server.ts";
import { serveFake } from "./_fake_service.ts";
import type { ServedFake } from "./_fake_service.ts";

/** A run that logs so many lines, and waits a little between them. */
function logging(lines: number, { pauseMs = 1 }: { readonly pauseMs?: number } = {}): FakeRun {
  return async ({ tell, signal }) => {
    for (let n = 1; n <= lines; n++) {
      tell({ type: "call-log", invocationId: "call", line: 1, text: `line ${n}` });
      await systemClock.sleep(pauseMs, signal);
    }
    return { value: lines };
  };
}

async function begin(served: ServedFake): Promise<string> {
  const { id } = await (await served.ask("/v1/runs", { body: { file: "a.calls" } })).json();
  assert.ok(typeof id === "string");
  return id;
}

Deno.test("a client that is cut off again and again has every event once, in order", async () => {
  await using served = serveFake({ start: () => logging(300) });
  const id = await begin(served);
  const seen: number[] = [];
  let connections = 0;
  const cuts = new Set<AbortController>();
  const over = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const limit = setTimeout(() => late.reject(new Error("it takes more than a minute")), 60_000);
  // EventSource reads with this: each connection is cut after a few events, in the middle of one.
  const source = new EventSource(`${served.origin}/v1/runs/${id}/events`, {
    fetch: async (url, init) => {
      connections++;
      const cut = new AbortController();
      cuts.add(cut);
      const response = await fetch(url, {
        ...init,
        signal: AbortSignal.any([cut.signal, ...init?.signal ? [init.signal] : []]),
        headers: { ...init?.headers, authorization: `Bearer ${TOKEN}` },
      });
      if (response.status === 204) over.resolve();
      return connections > 12 || response.body === null
        ? response
        : new Response(response.body.pipeThrough(cutting(600 + 137 * connections)), response);
    },
  });
  try {
    for (const type of ["run-start", "call-log", "run-end"]) {
      source.addEventListener(type, ({ data, lastEventId }) => {
        const event: unknown = JSON.parse(data);
        assert.ok(isRecord(event) && event.type === type && String(event.seq) === lastEventId);
        seen.push(Number(lastEventId));
      });
    }
    await Promise.race([over.promise, late.promise]);
  } finally {
    clearTimeout(limit);
    source.close();
    for (const cut of cuts) cut.abort();
  }
  assert.ok(connections > 3, `${connections} connections`);
  assert.deepEqual(seen, Array.from({ length: 302 }, (_, index) => index + 1));
});

/** Lets so many bytes through, and then ends as a connection does that breaks. */
function cutting(bytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let left = bytes;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, Math.max(0, left)));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  });
}

Deno.test("events go on behind the one that a reader has, and one that is over says so", async () => {
  await using served = serveFake({ start: () => logging(3) });
  const id = await begin(served);
  await (await served.ask(`/v1/runs/${id}?wait=5`)).body?.cancel();
  const idsOf = async (path: string, headers = {}) =>
    [...(await (await served.ask(path, { headers })).text()).matchAll(/^id: (\d+)$/gm)].map(([, seq]) =>
      Number(seq)
    );
  const path = `/v1/runs/${id}/events`;
  assert.deepEqual(await idsOf(path), [1, 2, 3, 4, 5]);
  assert.deepEqual(await idsOf(`${path}?after=3`), [4, 5]);
  assert.deepEqual(await idsOf(path, { "last-event-id": "2" }), [3, 4, 5]);
  assert.deepEqual(await idsOf(`${path}?after=0`, { "last-event-id": "4" }), [5]);
  for (
    const [given, headers] of [[path, { "last-event-id": "5" }], [`${path}?after=5`, {}], [
      `${path}?after=99`,
      {},
    ]] as const
  ) {
    assert.equal((await served.ask(given, { headers })).status, 204);
  }
  for (const last of ["x", "-1", "1.5", "", "9".repeat(20)]) {
    const response = await served.ask(path, { headers: { "last-event-id": last } });
    assert.equal(response.status, 400, last);
    await response.body?.cancel();
  }
  const negative = await served.ask(`${path}?after=-1`);
  assert.equal(negative.status, 400);
  await negative.body?.cancel();
});

Deno.test("a reader that waits gets a comment, and one that leaves is known to have left", async () => {
  const streams = new TextStreams({ idleMs: 30 });
  await using served = serveFake({ start: () => logging(1, { pauseMs: 60_000 }) }, { streams });
  const id = await begin(served);
  const left = new AbortController();
  const response = await served.ask(`/v1/runs/${id}/events`, { signal: left.signal });
  let text = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.split("\n: \n\n").length > 2 || text.split(": \n\n").length > 3) break;
  }
  assert.match(text, /^retry: 1000\n\n/);
  left.abort();
  for (let waited = 0; streams.size > 0 && waited < 5_000; waited += 20) await systemClock.sleep(20);
  assert.equal(streams.size, 0);
  const state: unknown = await (await served.ask(`/v1/runs/${id}`)).json();
  assert.ok(isRecord(state) && state.status === "running", "the run goes on without its reader");
});

Deno.test("a reader that reads nothing holds neither the run nor the memory back", async () => {
  const big = "x".repeat(4_000);
  await using served = serveFake({
    start: () => async ({ tell, signal }) => {
      for (let n = 0; n < 3_000; n++) {
        tell({ type: "call-log", invocationId: "call", line: 1, text: big });
        if (n % 100 === 0) await systemClock.sleep(0, signal);
      }
      return { value: "through" };
    },
  });
  const id = await begin(served);
  using idle = await Deno.connect({ hostname: "127.0.0.1", port: served.port });
  await idle.write(new TextEncoder().encode(
    `GET /v1/runs/${id}/events HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
  ));
  const state: unknown = await (await served.ask(`/v1/runs/${id}?wait=20`)).json();
  assert.ok(isRecord(state) && state.value === "through");
});

Deno.test("a HEAD of events reads none, and leaves no reader behind", async () => {
  const streams = new TextStreams();
  await using served = serveFake({ start: () => logging(1, { pauseMs: 60_000 }) }, { streams });
  const id = await begin(served);
  const head = await served.ask(`/v1/runs/${id}/events`, { method: "HEAD" });
  assert.equal(head.status, 200);
  assert.equal(head.headers.get("content-type"), "text/event-stream");
  for (let waited = 0; streams.size > 0 && waited < 5_000; waited += 20) await systemClock.sleep(20);
  assert.equal(streams.size, 0);
});

Deno.test("so many readers and no more", async () => {
  const streams = new TextStreams({ most: 2 });
  await using served = serveFake({ start: () => logging(1, { pauseMs: 60_000 }) }, { streams });
  const id = await begin(served);
  const ends = [new AbortController(), new AbortController()];
  for (const { signal } of ends) {
    assert.equal((await served.ask(`/v1/runs/${id}/events`, { signal })).status, 200);
  }
  const more = await served.ask(`/v1/runs/${id}/events`);
  assert.equal(more.status, 503);
  assert.equal(more.headers.get("retry-after"), "1");
  assert.match(await more.text(), /"code":"readers"/);
  for (const end of ends) end.abort();
});

Deno.test("a server that stops ends what is being read, and takes nothing new", async () => {
  await using served = serveFake({ start: () => logging(1, { pauseMs: 60_000 }) });
  const id = await begin(served);
  const response = await served.ask(`/v1/runs/${id}/events`);
  const reading = response.text();
  const began = performance.now();
  await served.server.stop({ graceMs: 1_000 });
  assert.ok(performance.now() - began < 5_000);
  assert.match(await reading, /"type":"run-end","status":"stopped"/);
  await assert.rejects(served.ask("/healthz"));
});

Deno.test("whoever asks while a server closes is told so", async () => {
  await using served = serveFake();
  const { stopping, atStop } = served.server.settings;
  const last = Promise.withResolvers<void>();
  atStop(() => last.promise);
  const aborted = new Promise((resolve) => stopping.addEventListener("abort", resolve));
  const stopped = served.server.stop({ graceMs: 0 });
  await aborted;
  try {
    for (const path of ["/healthz", "/v1/runs", "/v1/models"]) {
      const response = await served.ask(path);
      assert.equal(response.status, 503, path);
      assert.match(await response.text(), /"code":"stopping"/);
    }
  } finally {
    last.resolve();
    await stopped;
  }
});
