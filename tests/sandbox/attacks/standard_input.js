// What somebody types for Orrery, or pipes into it.
import { readFileSync, readSync } from "node:fs";
import process from "node:process";
import { text, ways } from "./_ways.js";

const buffer = new Uint8Array(100);
const some = (bytes) => bytes.length === 0 ? undefined : text(bytes);

export default {
  name: "Attack",
  description: "Test.",
  run: () =>
    ways({
      prompt: () => prompt("Password?"),
      confirm: () => confirm("Sure?"),
      readSync: () => some(buffer.subarray(0, Deno.stdin.readSync(buffer) ?? 0)),
      read: async () => some(buffer.subarray(0, await Deno.stdin.read(buffer) ?? 0)),
      readable: async () => (await Deno.stdin.readable.getReader().read()).value,
      node: () => some(buffer.subarray(0, readSync(0, buffer))),
      nodeFile: () => readFileSync(0, "utf8") || undefined,
      device: () => readFileSync("/dev/stdin", "utf8") || undefined,
      descriptor: () => Deno.readTextFileSync("/proc/self/fd/0") || undefined,
      process: () => new Promise((resolve) => process.stdin.on("data", resolve)),
      tty: () => Deno.readTextFileSync("/dev/tty"),
    }),
};
