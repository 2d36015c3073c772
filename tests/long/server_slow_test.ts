// Clients that take their time, and clients that never stop: the server answers everybody else meanwhile, and lets go of them.

import assert from "node:assert/strict";
import { served as servedFiles } from "../_served_project.ts";
import { codeOf, sendRaw, TOKEN } from "../_server.ts";
import { pause } from "../_waiting.ts";

interface Slow {
  readonly port: number;
  /** The head of a POST with this length, or chunked. */
  head(path: string, length: number | undefined, type?: string): string;
}

async function served(work: (at: Slow) => Promise<void>): Promise<void> {
  await using server = await servedFiles({}, ["--quiet"]);
  const { port } = server;
  const head: Slow["head"] = (path, length, type = "application/json") =>
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: ${type}\r\n` +
    `${length === undefined ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`}\r\n\r\n`;
  await work({ port, head });
  assert.equal(server.told(), "");
  assert.deepEqual((await server.json("/v1/runs")).body.runs, []);
}

const encode = (text: string) => new TextEncoder().encode(text);

/** Sends a piece every so often until there is an answer or 20 s are over; gives it, and after how many ms. */
async function dripped(
  port: number,
  { head, piece, everyMs }: { readonly head: string; readonly piece: string; readonly everyMs: number },
): Promise<{ readonly text: string; readonly ms: number }> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const start = performance.now();
  await connection.write(encode(head));
  let isOver = false;
  const dripping = (async () => {
    while (!isOver && performance.now() - start < 20_000) {
      await pause(everyMs);
      await connection.write(encode(piece)).catch(() => undefined);
    }
  })();
  const bytes = new Uint8Array(65_536);
  const late = setTimeout(() => connection.close(), 20_000);
  const count = await connection.read(bytes).catch(() => null);
  clearTimeout(late);
  isOver = true;
  const ms = performance.now() - start;
  await dripping;
  return { text: new TextDecoder().decode(bytes.subarray(0, count ?? 0)), ms };
}

Deno.test("heads that never end hold nobody else up", async () => {
  await served(async ({ port }) => {
    const open: Deno.Conn[] = [];
    try {
      for (let n = 0; n < 400; n++) {
        const connection = await Deno.connect({ hostname: "127.0.0.1", port });
        open.push(connection);
        await connection.write(encode(n % 2 === 0 ? "GET /healthz HT" : `GET /healthz HTTP/1.1\r\nX-${n}: `));
      }
      const start = performance.now();
      for (let n = 0; n < 20; n++) {
        for (const connection of open.slice(0, 50)) await connection.write(encode("x"));
        const answer = await fetch(`http://127.0.0.1:${port}/healthz`, {
          signal: AbortSignal.timeout(5_000),
        });
        assert.equal(answer.status, 200);
        await answer.body?.cancel();
      }
      assert.ok(performance.now() - start < 5_000);
    } finally {
      for (const connection of open) connection.close();
    }
  });
});

Deno.test("a head without an end is refused", async () => {
  await served(async ({ port }) => {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port });
    await connection.write(encode("GET /healthz HTTP/1.1\r\n"));
    const line = encode(`X: ${"y".repeat(8_000)}\r\n`);
    let sent = 0;
    const bytes = new Uint8Array(1_024);
    const reading = connection.read(bytes).catch(() => null);
    let isOver = false;
    reading.then(() => isOver = true);
    while (!isOver && sent < 64 * 2 ** 20) {
      const count = await connection.write(line).catch(() => 0);
      if (count === 0) break;
      sent += count;
    }
    const text = new TextDecoder().decode(bytes.subarray(0, await reading ?? 0));
    assert.ok(sent < 64 * 2 ** 20, `${sent} bytes of a head were taken`);
    assert.ok(text === "" || /^HTTP\/1\.1 4\d\d /.test(text), text);
  });
});

Deno.test("a body that comes too slowly is not waited for", async () => {
  await served(async ({ port, head }) => {
    const results = await Promise.all([
      dripped(port, { head: head("/v1/runs", 5_000), piece: " ", everyMs: 700 }), // small: ten seconds for all of it
      dripped(port, { head: head("/v1/runs", 5_000), piece: "", everyMs: 5_000 }),
      dripped(port, { head: head("/v1/runs", 1_000_000), piece: "", everyMs: 5_000 }), // large: ten seconds without a piece
      dripped(port, { head: head("/v1/runs", undefined), piece: "", everyMs: 5_000 }),
      dripped(port, { head: head("/mcp", undefined), piece: "", everyMs: 5_000 }),
      dripped(port, {
        head: head("/login", 500, "application/x-www-form-urlencoded"),
        piece: "t",
        everyMs: 900,
      }),
    ]);
    for (const [index, { text, ms }] of results.entries()) {
      assert.match(text, /^HTTP\/1\.1 408 /, `${index}: ${text}`);
      assert.match(text, /"code":"slow"/);
      assert.ok(ms > 8_000 && ms < 18_000, `${index}: ${ms} ms`);
    }
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
    assert.equal(answer.status, 200);
    await answer.body?.cancel();
  });
});

Deno.test("a body that is too large is not read to its end", async () => {
  await served(async ({ port, head }) => {
    const limits = {
      "/v1/runs": 10,
      "/v1/check": 10,
      "/mcp": 10,
      "/v1/chat/completions": 30,
      "/v1/conversations": 30,
    };
    for (const [path, mib] of Object.entries(limits)) { // 30: with files
      const told = await sendRaw(port, `${head(path, mib * 2 ** 20 + 1)}{`);
      assert.equal(told.status, 413, path);
      const { text, sent } = await flooded(port, head(path, undefined));
      assert.match(text, /^HTTP\/1\.1 413 /, `${path}: ${text}`);
      assert.ok(sent < (mib + 30) * 2 ** 20, `${path}: ${sent} bytes were taken`);
    }
    const whole = encode(`{"file":"${"x".repeat(10 * 2 ** 20 - 11)}"}`);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: whole,
    });
    assert.equal(whole.length, 10 * 2 ** 20);
    assert.equal(answer.status, 400); // as large as one may be, and no name of a file
    assert.equal(codeOf(await answer.text()), "invalid");
  });
});

/** Sends chunk after chunk of a JSON text until there is an answer or the connection is closed. */
async function flooded(
  port: number,
  head: string,
): Promise<{ readonly text: string; readonly sent: number }> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const chunk = encode(`10000\r\n${" ".repeat(65_536)}\r\n`);
  await connection.write(encode(head));
  const bytes = new Uint8Array(65_536);
  let isOver = false;
  const reading = connection.read(bytes).catch(() => null).finally(() => isOver = true);
  let sent = 0;
  while (!isOver && sent < 64 * 2 ** 20) {
    const count = await connection.write(chunk.subarray(sent % chunk.length)).catch(() => 0);
    if (count === 0) break;
    sent += count;
    if (sent % (2 ** 22) < count) await pause(1);
  }
  const late = setTimeout(() => connection.close(), 5_000);
  const count = await reading;
  clearTimeout(late);
  return { text: new TextDecoder().decode(bytes.subarray(0, count ?? 0)), sent };
}
