// What the process of a gadget is in the tests of its start: it says its token in many ways. How is in `behaviour.txt` of its folder.

import { encodeFrame, FrameReader } from "../lib/core/frames.ts";

const behaviour = Deno.readTextFileSync("behaviour.txt");
if (behaviour === "exit") {
  console.error("no luck");
  Deno.exit(7);
}
const line = new Uint8Array(4096);
const { at, token } = JSON.parse(
  new TextDecoder().decode(line.subarray(0, Deno.stdin.readSync(line) ?? 0)),
);
const connect = (): Promise<Deno.Conn> =>
  "path" in at
    ? Deno.connect({ transport: "unix", path: at.path })
    : Deno.connect({ hostname: "127.0.0.1", port: at.port });
const hello = (token: string) => new TextEncoder().encode(token);

if (behaviour === "silent") await new Promise((resolve) => setTimeout(resolve, 60_000));
if (behaviour === "strangers") {
  for (let at = 0; at < 40; at++) await connect(); // say nothing
  await (await connect()).write(hello("0".repeat(64)));
  await (await connect()).write(new Uint8Array([255, 255, 255, 255, 0, 0, 0, 0]));
  await (await connect()).write(new Uint8Array([0, 0, 0, 1, 0, 0, 0, 0, 123]));
  (await connect()).close();
}
const connection = await connect();
if (behaviour === "stall") {
  await connection.write(hello(token).subarray(0, 20));
  await new Promise((resolve) => setTimeout(resolve, 60_000));
}
if (behaviour === "die") {
  await connection.write(hello(token).subarray(0, 20));
  Deno.exit(9);
}
await connection.write(hello(token));
if (behaviour === "twice") {
  const second = await connect().catch(() => undefined);
  await second?.write(hello(token)).catch(() => undefined);
}
if (behaviour === "flood") {
  const text = "x".repeat(1000);
  const log = encodeFrame({ type: "log", text });
  const many = new Uint8Array(log.length * 100);
  for (let at = 0; at < 100; at++) many.set(log, at * log.length);
  const reader = new FrameReader({ maxBytes: 1e9 });
  const buffer = new Uint8Array(65_536);
  const count = await connection.read(buffer) ?? 0;
  reader.push(buffer.subarray(0, count));
  const gadget = { name: "Flood", isLinked: true, hasFormat: false, isValidating: false, warnings: [] };
  await connection.write(encodeFrame({ type: "loaded", gadget }));
  while (true) for (let at = 0; at < many.length;) at += await connection.write(many.subarray(at));
}
if (behaviour === "loop") { while (true); }
if (behaviour === "memory") {
  const kept: unknown[] = [];
  while (true) kept.push({ at: kept.length, text: [kept.length] });
}

const reader = new FrameReader({ maxBytes: 1e9 });
const buffer = new Uint8Array(65_536);
for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
  for (const { value } of reader.push(buffer.subarray(0, count))) {
    // deno-lint-ignore no-explicit-any
    const message = value as any;
    if (message.type === "load") {
      const gadget = { name: "Echo", isLinked: true, hasFormat: false, isValidating: false, warnings: [] };
      await connection.write(encodeFrame({ type: "loaded", gadget }));
    }
    if (message.type === "call") {
      await connection.write(encodeFrame({ type: "result", id: message.id, value: message.input }));
    }
  }
}
