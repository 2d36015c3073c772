// Readers of event streams, in a process of their own: it notes how long each event is on its way.
// deno run -A _sse_load.ts ORIGIN WHAT STREAMS: a line of JSON for each window of the time.

/**
 * `runs`: four streams each are of one run, of the file `waits.calls`. `readers`: all of them read one run, whose text is sent from here.
 * `bare`: the server makes the events by itself.
 */
type What = "runs" | "readers" | "bare";

const [origin = "", what = "", count = "200"] = Deno.args;
const EVERY_MS = 20;
const WARM_MS = 5_000;
const READERS = 4;
const WINDOW_MS = 3_000;
const WINDOWS = 5;
/** The moment in an event: ms since 1970, or of a run of the server since that began. */
const SENT = /"sent":(\d+\.\d+)|<(\d+\.\d+)>|"at":(\d+(?:\.\d+)?)/g;

const { hostname, port, host } = new URL(origin);
const encoder = new TextEncoder();
const streams: Stream[] = [];

/** One stream, as far as it was read. */
interface Stream {
  /** From what each event says to when it was here, ms. */
  delays: number[];
  /** Where events count from the beginning of their run, which nobody here knows: the delay of the fastest one. */
  least: number;
}

/** ms since 1970, finer than `Date.now`; the same in every process of a machine. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

async function connect(head: string): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname, port: Number(port) });
  connection.setNoDelay(true);
  await connection.write(encoder.encode(`${head} HTTP/1.1\r\nHost: ${host}\r\n`));
  return connection;
}

/** Reads until the other side ends it. */
async function follow(connection: Deno.TcpConn, onText: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  for (;;) {
    const length = await connection.read(buffer);
    if (length === null) return;
    onText(decoder.decode(buffer.subarray(0, length), { stream: true }));
  }
}

/** An event that comes in two pieces is counted with the second one. */
function noting(): (text: string) => void {
  const isOfRun = what === "runs";
  const stream: Stream = { delays: [], least: isOfRun ? Infinity : 0 };
  streams.push(stream);
  let rest = "";
  return (text) => {
    const arrived = now();
    const all = rest + text;
    let end = 0;
    for (const match of all.matchAll(SENT)) {
      end = match.index + match[0].length;
      if (isOfRun !== (match[3] !== undefined)) continue;
      const delay = arrived - Number(match[1] ?? match[2] ?? match[3]);
      stream.delays.push(delay);
      if (isOfRun) stream.least = Math.min(stream.least, delay);
    }
    rest = all.slice(Math.max(end, all.length - 40));
  };
}

/** A text of calls that is sent piece by piece: each piece says when. */
async function posted(onText: (text: string) => void): Promise<() => void> {
  const connection = await connect("POST /v1/calls");
  await connection.write(encoder.encode("Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"));
  void follow(connection, onText);
  return () => {
    const text = `<${now().toFixed(3)}>\n`;
    void connection.write(encoder.encode(`${text.length.toString(16)}\r\n${text}\r\n`));
  };
}

const begin: { readonly [what in What]: (count: number) => Promise<void> } = {
  async runs(count) {
    const body = JSON.stringify({ file: "waits.calls" });
    const headers = { "content-type": "application/json" };
    for (let i = 0; i < count / READERS; i++) {
      const answer = await fetch(`${origin}/v1/runs`, { method: "POST", headers, body });
      const { events }: { events: string } = await answer.json();
      for (let reader = 0; reader < READERS; reader++) void follow(await get(events), noting());
    }
  },
  async readers(count) {
    const run = Promise.withResolvers<string>();
    const send = await posted((text) => {
      const [, id] = /orrery-run: (\S+)/i.exec(text) ?? [];
      if (id !== undefined) run.resolve(id);
    });
    const id = await run.promise;
    for (let i = 0; i < count; i++) void follow(await get(`/v1/runs/${id}/events`), noting());
    setInterval(send, EVERY_MS);
  },
  async bare(count) {
    for (let i = 0; i < count; i++) void follow(await get("/events"), noting());
  },
};

async function get(path: string): Promise<Deno.TcpConn> {
  const connection = await connect(`GET ${path}`);
  await connection.write(encoder.encode("\r\n"));
  return connection;
}

/** Of all that came since the last time: the delays, sorted. */
function taken(): readonly number[] {
  return streams.flatMap((stream) => {
    const { delays, least } = stream;
    stream.delays = [];
    return delays.map((delay) => delay - least);
  }).sort((a, b) => a - b);
}

function at(share: number, sorted: readonly number[]): number {
  return sorted[Math.min(sorted.length, Math.ceil(sorted.length * share)) - 1] ?? NaN;
}

if (what !== "runs" && what !== "readers" && what !== "bare") {
  throw new TypeError(`found ${what}, expected runs, readers or bare`);
}
await begin[what](Number(count));
await new Promise((resolve) => setTimeout(resolve, WARM_MS));
for (let i = 0; i < WINDOWS; i++) {
  taken();
  await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
  const found = taken();
  console.log(
    JSON.stringify({
      p50: at(0.5, found),
      p99: at(0.99, found),
      perSecond: found.length / (WINDOW_MS / 1000),
    }),
  );
}
Deno.exit(0);
