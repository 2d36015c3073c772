// The port on which Orrery listens for its process, or that of anything else on this machine.
import { ways } from "./_ways.js";

const TABLES = [
  "/proc/net/tcp",
  "/proc/net/tcp6",
  "/proc/self/net/tcp",
  "/proc/thread-self/net/tcp",
  "/proc/1/net/tcp",
];
const near = Array.from({ length: 8 }, (_, index) => Number("@PORT@") + index);
const HOSTS = [
  "127.0.0.1",
  "localhost",
  "[::1]",
  "0.0.0.0",
  "127.1",
  "2130706433",
  "[::ffff:127.0.0.1]",
  "127.0.0.2",
];

export default {
  name: "Attack",
  description: "Test.",
  async run() {
    const { readFileSync } = await import("node:fs");
    return await ways(Object.fromEntries([
      ...TABLES.flatMap((path) => [
        [`Deno ${path}`, () => Deno.readTextFileSync(path)],
        [`later ${path}`, () => Deno.readTextFile(path)],
        [`node ${path}`, () => readFileSync(path, "utf8")],
      ]),
      ...HOSTS.map((host) => [`fetch ${host}`, async () => (await fetch(`http://${host}:@PORT@/`)).text()]),
      ...near.flatMap((port) => [
        [`connect ${port}`, () => Deno.connect({ hostname: "127.0.0.1", port })],
        [`tls ${port}`, () => Deno.connectTls({ hostname: "127.0.0.1", port })],
        [
          `fetch ${port}`,
          async () => (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "x" })).status,
        ],
        [`socket ${port}`, () =>
          new Promise((resolve, reject) => {
            const socket = new WebSocket(`ws://127.0.0.1:${port}`);
            socket.onopen = () => resolve("open");
            socket.onerror = reject;
          })],
      ]),
      ["net", async () => (await import(["node", "net"].join(":"))).connect(Number("@PORT@"), "127.0.0.1")],
      ["http", async () => (await import(["node", "http"].join(":"))).get("http://127.0.0.1:@PORT@/")],
      [
        "client",
        async () =>
          (await fetch("http://example.com/", { client: { proxy: { url: "http://127.0.0.1:@PORT@" } } }))
            .status,
      ],
      [
        "request",
        async () =>
          (await fetch(new Request("http://127.0.0.1:@PORT@/", { headers: { host: "example.com" } }))).status,
      ],
      ["file", async () => (await fetch("file://@SECRET_TXT@")).text()],
      ["xhr", () => {
        const request = new XMLHttpRequest();
        request.open("GET", "http://127.0.0.1:@PORT@/", false);
        request.send();
        return request.responseText;
      }],
      ["unix", () => Deno.connect({ transport: "unix", path: "/var/run/docker.sock" })],
      ["vsock", () => Deno.connect({ transport: "vsock", cid: 2, port: 1 })],
      ["quic", () => new Deno.QuicEndpoint()],
    ]));
  },
};
