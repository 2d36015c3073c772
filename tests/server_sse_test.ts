// Events over HTTP (events.md, server.md): a client that nobody here wrote drops and resumes without loss or repetition; readers that are
// slow, or leave, hold nothing back.

import assert from "node:assert/strict";
import { EventSource } from "eventsource";
import { begun, endOf, ran, runOf } from "./_http_runs.ts";
import { served } from "./_served_project.ts";
import { statusOf, TOKEN } from "./_server.ts";

const call = (header: string, fields: Readonly<Record<string, string>>): string =>
  `!!!GADGET_START:${header}\n${
    Object.entries(fields).map(([name, value]) => `!!!ARG:${name}\n${value}\n`).join("")
  }!!!GADGET_END\n`;

const CALLS = 100;
const READS = 12;

const FILES = {
  "sum.calls": call("Calculate:sum", { expression: "1 + 1" }),
  "pause.calls": call("Wait:pause", { seconds: "60" }),
  // One behind the other, so that there is always something to come.
  "many.calls": Array.from(
    { length: CALLS },
    (_, n) => call(`Calculate:c${n}${n === 0 ? "" : `:c${n - 1}`}`, { expression: String(n) }),
  ).join(""),
  "big.txt": "x".repeat(900_000),
  "big.calls": Array.from({ length: READS }, (_, n) => call(`ReadFile:r${n}`, { path: "big.txt" })).join(""),
};

Deno.test("a client that is cut off again and again has every event once, in order", async () => {
  await using server = await served(FILES);
  const id = await begun(server, { file: "many.calls" });
  const seen: number[] = [];
  let connections = 0;
  const cuts = new Set<AbortController>();
  const over = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const limit = setTimeout(() => late.reject(new Error("it takes more than a minute")), 60_000);
  // EventSource reads with this: each connection is cut after a few events, in the middle of one.
  const source = new EventSource(`${server.origin}/v1/runs/${id}/events`, {
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
      return connections > 5 || response.body === null
        ? response
        : new Response(response.body.pipeThrough(cutting(600 + 1_337 * connections)), response);
    },
  });
  try {
    for (const type of ["run-start", "call-open", "call-run", "call-result", "run-end"]) {
      source.addEventListener(type, ({ data, lastEventId }) => {
        const event = JSON.parse(data);
        assert.ok(event.type === type && String(event.seq) === lastEventId);
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
  assert.deepEqual(seen, Array.from({ length: 3 * CALLS + 2 }, (_, index) => index + 1));
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
  await using server = await served(FILES);
  const { id } = await ran(server, { file: "sum.calls" });
  const idsOf = async (path: string, headers = {}) =>
    [...(await (await server.ask(path, { headers })).text()).matchAll(/^id: (\d+)$/gm)].map(([, seq]) =>
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
    assert.equal((await server.ask(given, { headers })).status, 204);
  }
  for (const last of ["x", "-1", "1.5", "", "9".repeat(20)]) {
    assert.equal(await statusOf(await server.ask(path, { headers: { "last-event-id": last } })), 400, last);
  }
  assert.equal(await statusOf(await server.ask(`${path}?after=-1`)), 400);
});

Deno.test("a reader that reads nothing holds neither the run nor the memory back, and one that leaves leaves the run", async () => {
  await using server = await served(FILES);
  const id = await begun(server, { file: "big.calls" });
  using idle = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await idle.write(new TextEncoder().encode(
    `GET /v1/runs/${id}/events HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
  ));
  const { status, calls } = await endOf(server, id);
  assert.deepEqual([status, calls.length], ["done", READS]);

  const paused = await begun(server, { file: "pause.calls" });
  const left = await server.ask(`/v1/runs/${paused}/events`);
  const reader = left.body?.getReader();
  assert.match(new TextDecoder().decode((await reader?.read())?.value), /^retry: 1000\n\n/);
  await reader?.cancel();
  const head = await server.ask(`/v1/runs/${paused}/events`, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("content-type")], [200, "text/event-stream"]);
  assert.equal((await runOf(server, paused)).status, "running", "the run goes on without its reader");
});
