// Looks for what another gadget left, looks into all processes, and sends them signals.
import { ways } from "./_ways.js";

const PLACES = [
  "/tmp/orrery-pair",
  "@TEMPORARY@/pair",
  "pair.txt",
  "@PROJECT@/pair.txt",
  "/dev/shm/orrery-pair",
];

export default {
  name: "Reader",
  description: "Test.",
  async run() {
    await new Promise((resolve) => setTimeout(resolve, 300));
    const fs = await import("node:fs");
    const pids = [
      Deno.pid,
      Deno.ppid,
      globalThis.process?.pid,
      globalThis.process?.ppid,
      1,
      ...near(Deno.pid),
      ...near(Deno.ppid),
    ];
    return await ways(Object.fromEntries([
      ...PLACES.flatMap((path) => [
        [`Deno ${path}`, () => Deno.readTextFileSync(path)],
        [`node ${path}`, () => fs.readFileSync(path, "utf8")],
        [`stat ${path}`, () => Deno.statSync(path).size],
      ]),
      ["list temporary", () => [...Deno.readDirSync("@TEMPORARY@")].map(({ name }) => name).join()],
      ["list /tmp", () => [...Deno.readDirSync("/tmp")].length],
      ["list /proc", () => [...Deno.readDirSync("/proc")].length],
      ["list modules", () => [...Deno.readDirSync(new URL(".", import.meta.url))].length],
      ["env", () => Deno.env.get("PAIRWORD")],
      ["process.env", () => globalThis.process?.env.PAIRWORD],
      ["global", () => globalThis.PAIRWORD],
      ["prototype", () => ({}).PAIRWORD],
      ["storage", () => localStorage.getItem("pair")],
      ["caches", async () => (await caches.keys()).join()],
      ["serve", async () => (await fetch("http://127.0.0.1:47113/")).text()],
      ["connect", () => Deno.connect({ port: 47_114 })],
      ["channel", () => new Promise((resolve) => new BroadcastChannel("pair").onmessage = resolve)],
      ...[...new Set(pids)].filter(Number.isInteger).flatMap((pid) => [
        [`cmdline ${pid}`, () => Deno.readTextFileSync(`/proc/${pid}/cmdline`)],
        [`environ ${pid}`, () => fs.readFileSync(`/proc/${pid}/environ`, "utf8")],
        [`mem ${pid}`, () => fs.openSync(`/proc/${pid}/mem`, "r+")],
        [`cwd ${pid}`, () => Deno.readTextFileSync(`/proc/${pid}/cwd/orrery.yaml`)],
        [`fd ${pid}`, () => [...Deno.readDirSync(`/proc/${pid}/fd`)].length],
        [`kill ${pid}`, () => Deno.kill(pid, "SIGCONT") ?? "sent"],
        [`process.kill ${pid}`, () => globalThis.process.kill(pid, 0)],
      ]),
    ]));
  },
};

function near(pid) {
  return Number.isInteger(pid) && pid > 10 ? Array.from({ length: 20 }, (_, index) => pid - 10 + index) : [];
}
