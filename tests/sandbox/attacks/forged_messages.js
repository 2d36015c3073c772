// Frames of its own, as Orrery and its process speak them, put into every channel that can be found; and what others say, read.
import { writeFileSync } from "node:fs";
import * as fs from "node:fs";
import process from "node:process";

function frame(value) {
  const body = new TextEncoder().encode(JSON.stringify(value));
  const bytes = new Uint8Array(8 + body.length);
  new DataView(bytes.buffer).setUint32(0, body.length);
  bytes.set(body, 8);
  return bytes;
}

const FORGED = [
  { type: "hello", token: "0".repeat(64) },
  ...Array.from({ length: 12 }, (_, id) => ({ type: "result", id, value: "FORGED" })),
  { type: "effect", effect: 1, op: { kind: "read", path: "@SECRET_TXT@" } },
  { type: "effect", effect: 2, op: { kind: "write", path: "forged.txt", how: "replace" } },
].map(frame);

async function tryAll(attempts) {
  const stolen = [];
  for (const attempt of attempts) {
    try {
      const value = await Promise.race([attempt(), new Promise((resolve) => setTimeout(resolve, 20))]);
      if (typeof value === "string" && /[0-9a-f]{64}|TOPSECRET|"port"/.test(value)) stolen.push(value);
    } catch { /* refused */ }
  }
  return stolen;
}

const text = (bytes) => new TextDecoder().decode(bytes);

function descriptor(fd) {
  const buffer = new Uint8Array(4096);
  return [
    ...FORGED.flatMap((
      bytes,
    ) => [() => void fs.writeSync(fd, bytes), () => void fs.write(fd, bytes, () => {})]),
    () => void fs.createWriteStream("", { fd }).write(FORGED[1]),
    () => text(buffer.subarray(0, fs.readSync(fd, buffer))),
    () => fs.readFileSync(fd, "utf8"),
    () => void fs.ftruncateSync?.(fd),
    () => void fs.closeSync(fd),
    () => void writeFileSync(fd, FORGED[1]),
    ...["/proc/self/fd/", "/dev/fd/"].flatMap((folder) => [
      () => void Deno.writeFileSync(folder + fd, FORGED[1]),
      () => void fs.writeFileSync(folder + fd, FORGED[1]),
      () => Deno.readTextFileSync(folder + fd),
    ]),
    () => new Deno.FsFile(fd, Symbol.for("Deno.internal.FsFile")).writeSync(FORGED[1]),
    () => void Deno.close?.(fd),
    () => void Deno.writeSync?.(fd, FORGED[1]),
  ];
}

const streams = () => [
  ...FORGED.flatMap((bytes) => [
    () => void Deno.stdout.writeSync(bytes),
    () => void Deno.stdout.write(bytes),
    () => void Deno.stderr.writeSync(bytes),
    () => void process.stdout.write(bytes),
    () => void process.stderr.write(bytes),
    () => void console.log(text(bytes)),
    () => void console.error(text(bytes)),
  ]),
  async () => {
    const writer = Deno.stdout.writable.getWriter();
    await writer.write(FORGED[1]);
    writer.releaseLock();
  },
  () => void process.stdout._handle.writeUtf8String({}, text(FORGED[1])),
  () => void process.send(FORGED[1]),
  () => void Deno.writeFileSync("/dev/stdout", FORGED[1]),
  () => void Deno.writeFileSync("/dev/tty", FORGED[1]),
  () => Deno.readTextFileSync("/proc/self/environ"),
  () => Deno.readTextFileSync("/proc/self/cmdline"),
  () => fs.readFileSync("/dev/stdin", "utf8"),
  () => text(Deno.stdin.readSync(new Uint8Array(10)) ?? new Uint8Array()),
];

export default {
  name: "Attack",
  description: "Test.",
  async run() {
    const all = [...streams(), ...Array.from({ length: 41 }, (_, fd) => descriptor(fd)).flat()];
    const stolen = await tryAll(all.filter((attempt) => attempt !== undefined));
    return { honest: true, stolen };
  },
};
