// Runs in a network of its own (tests/long/sandbox_names_test.ts): a resolver whose answers change, a public server and one on
// loopback, and a gadget, and Orrery itself, that fetch from names. Prints what came of it as JSON.

import { createSocket } from "node:dgram";
import { join } from "node:path";
import { PROJECT_ROOT } from "../_run.ts";
import { attackPlace, callOf } from "./_place.ts";

const PUBLIC = "93.184.216.34";
const PORT = 8080;
const LOOPBACK = "127.0.0.1";

type Answers = readonly string[];

/** The addresses of a name at its nth question. */
const NAMES: Readonly<Record<string, (n: number) => Answers>> = {
  "public.test": () => [PUBLIC],
  "inside.test": () => [LOOPBACK],
  "alias.test": () => [LOOPBACK],
  "mixed.test": () => [PUBLIC, LOOPBACK],
  "mixed2.test": () => [LOOPBACK, PUBLIC],
  "private.test": () => ["10.0.0.1"],
  "metadata.test": () => ["169.254.169.254"],
  "zero.test": () => ["0.0.0.0"],
  "v6.test": () => ["::1"],
  "mapped.test": () => ["::ffff:127.0.0.1"],
  "rebind.test": (n) => [n % 2 === 0 ? PUBLIC : LOOPBACK],
  "rebind2.test": (n) => [n % 2 === 1 ? PUBLIC : LOOPBACK],
  "rebind3.test": (n) => [n % 3 === 0 ? PUBLIC : LOOPBACK],
};

const asked = new Map<string, number>();

async function resolver(): Promise<void> {
  const socket = createSocket("udp4");
  socket.on("message", (question, { port, address }) => {
    socket.send(replyTo(question), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(53, LOOPBACK, resolve));
}

/** RFC 1035: the question again, and its answers, with a time to live of 0. */
function replyTo(question: Uint8Array): Uint8Array {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(new TextDecoder().decode(question.subarray(at + 1, at + 1 + length)));
    at += 1 + length;
  }
  const type = question[at + 2] ?? 0;
  const name = labels.join(".").toLowerCase();
  const isV6 = type === 28;
  const key = `${name} ${type}`;
  const n = asked.get(key) ?? 0;
  asked.set(key, n + 1);
  const addresses = (NAMES[name]?.(n) ?? []).filter((address) => address.includes(":") === isV6)
    .filter(() => type === 1 || isV6);
  const end = at + 5;
  const records = addresses.map((address) => {
    const bytes = isV6 ? v6Bytes(address) : address.split(".").map(Number);
    return [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes];
  });
  const known = Object.hasOwn(NAMES, name);
  const head = [
    question[0] ?? 0,
    question[1] ?? 0,
    0x81,
    known ? 0x80 : 0x83,
    0,
    1,
    0,
    records.length,
    0,
    0,
    0,
    0,
  ];
  return Uint8Array.from([...head, ...question.subarray(12, end), ...records.flat()]);
}

/** Of the two that are used here. */
function v6Bytes(address: string): readonly number[] {
  const zeros = new Array<number>(10).fill(0);
  return address === "::1" ? [...zeros, 0, 0, 0, 0, 0, 1] : [...zeros, 255, 255, 127, 0, 0, 1];
}

const TARGETS: Readonly<Record<string, string>> = {
  "/inside": `http://inside.test:${PORT}/`,
  "/loopback": `http://${LOOPBACK}:${PORT}/`,
  "/rebind": `http://rebind.test:${PORT}/`,
  "/zero": `http://0.0.0.0:${PORT}/`,
};

function servers(): { readonly loopback: string[] } {
  const loopback: string[] = [];
  const quiet = { onListen: () => {} };
  Deno.serve({ hostname: PUBLIC, port: PORT, ...quiet }, (request) => {
    const target = TARGETS[new URL(request.url).pathname];
    return target === undefined ? new Response("public") : Response.redirect(target);
  });
  for (const hostname of [LOOPBACK, "::1"]) {
    Deno.serve({ hostname, port: PORT, ...quiet }, (request) => {
      loopback.push(request.url);
      return new Response("TOPSECRET");
    });
  }
  return { loopback };
}

await resolver();
const { loopback } = servers();
await using place = await attackPlace({
  "gadgets/attack.js": await Deno.readTextFile(join(PROJECT_ROOT, "tests/sandbox/attacks/names.js")),
});
/** `each` stands for every name, written out. */
const [grant = "each"] = Deno.args;
const hosts = grant === "each" ? Object.keys(NAMES).map((name) => `${name}:${PORT}`).join(",") : grant;
const own = Array.from(
  { length: 8 },
  (_, n) => callOf(`FetchUrl:f${n}`, { url: `http://rebind.test:${PORT}/` }),
);
const run = await place.run(callOf("Attack:a") + own.join(""), {
  // A name opens no private address for the run's own effects either.
  args: [
    "--allow-gadget",
    hosts === "all" ? "Attack=net" : `Attack=net:${hosts}`,
    `--allow-net=${hosts === "all" ? `*.test:${PORT}` : hosts}`,
  ],
  timeoutSeconds: 60,
  timeoutMs: 100_000,
});
const { result, error } = run.outcome("a");
const fetched = own.map((_, n) => run.outcome(`f${n}`)).map(({ isError, result }) =>
  isError ? "refused" : result
);
console.log(JSON.stringify({ result, error, loopback, fetched, stdout: run.stdout, asked: [...asked] }));
Deno.exit(0);
