// MCP servers where no door shows them: the pipes they are reached by, how long they may be silent, who gives up while they are asked,
// and properties of what is read of them.
import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { jsonPlace } from "../../lib/catalog/json_places.ts";
import { expandVariables } from "../../lib/catalog/mcp/servers.ts";
import { mcpNameParts, mcpNames, type McpServer } from "../../lib/core/mcp_server.ts";
import { stdioLines } from "../../lib/core/frames.ts";
import { hostPipes } from "../../lib/host/commands/pipe_process.ts";
import { hostStreamFetch } from "../../lib/host/http/http.ts";
import { connectMcp, type ConnectMcpOptions } from "../../lib/mcp/connect.ts";
import { redactor } from "../../lib/mcp/server_line.ts";
import { isAlive, serverArgs } from "../_mcp.ts";
import { posixTest } from "../_posix_test.ts";

const pipes = hostPipes();
const cwd = Deno.cwd();
const bash = (script: string, onStderr: (text: string) => void = () => {}) =>
  pipes.start("bash", { args: ["-c", script], cwd, onStderr });

async function textOf(stdout: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stdout) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

posixTest("pipes: what is written arrives whole and in order, and stdin ends with the process", async () => {
  const cat = pipes.start("cat", { cwd });
  const read = textOf(cat.stdout);
  const parts = Array.from({ length: 50 }, (_, index) => `${index}:${"ü".repeat(10_000)}\n`);
  await Promise.all(parts.map((part) => cat.write(part)));
  await cat.end();
  assert.equal(await read, parts.join(""));
  assert.deepEqual(await cat.ended, { exitCode: 0 });
  await assert.rejects(cat.write("more"), { message: "it has ended" });
});

posixTest(
  "pipes: stderr comes as it is written, and its end before the end of the process is told",
  async () => {
    const lines: string[] = [];
    const failing = bash("echo one >&2; printf 'grüße' >&2; exit 3", (text) => lines.push(text));
    assert.deepEqual(await failing.ended, { exitCode: 3 });
    assert.equal(lines.join(""), "one\ngrüße");
    await failing.end();
  },
);

posixTest("pipes: a program that writes more than is taken has to wait", async () => {
  let written = 0;
  const script = "for i in $(seq 200); do head -c 65536 /dev/zero; echo -n x >&2; done";
  const flood = bash(script, (text) => written += text.length);
  const chunks = flood.stdout[Symbol.asyncIterator]();
  await chunks.next();
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.ok(written < 20, `${written} of 200 pieces were written`);
  await flood.end({ now: true });
  await chunks.return?.();
});

posixTest("pipes: the end takes the whole group, whatever it does", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orrery-pipes-" });
  try {
    const pids = join(folder, "pids");
    const group = bash(`sleep 100 & echo $! > ${pids}; echo $$ >> ${pids}; echo ready; wait`);
    const read = group.stdout[Symbol.asyncIterator]();
    await read.next();
    const ids = (await Deno.readTextFile(pids)).trim().split("\n").map(Number);
    assert.deepEqual(await Promise.all(ids.map(isAlive)), [true, true]);
    const start = performance.now();
    await Promise.all([group.end(), group.end({ now: true })]);
    assert.ok(performance.now() - start < 400, "the second end does not wait for stdin to be heard");
    assert.deepEqual(await Promise.all(ids.map(isAlive)), [false, false]);
    await read.return?.();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

posixTest("pipes: a program that does not read does not hold up the end", async () => {
  const deaf = pipes.start("sleep", { args: ["100"], cwd });
  const writing = deaf.write("x".repeat(1_000_000)).catch(() => {});
  const start = performance.now();
  await deaf.end();
  assert.ok(performance.now() - start < 2_000);
  await writing;
  await textOf(deaf.stdout);
});

posixTest("pipes: one that waits to be talked to does not keep our own process alive", async () => {
  const script = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    const module = import.meta.resolve("../../lib/host/commands/pipe_process.ts");
    await Deno.writeTextFile(
      script,
      `import { hostPipes } from ${JSON.stringify(module)};
const child = hostPipes().start("cat", { cwd: Deno.cwd() });
child.hold(false);
(async () => { for await (const _ of child.stdout); })();
await child.write("hello");
console.log("idle");`,
    );
    const config = new URL("../../deno.json", import.meta.url).pathname;
    const start = performance.now();
    const { stdout, code } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `--config=${config}`, script],
    }).output();
    assert.deepEqual([new TextDecoder().decode(stdout), code], ["idle\n", 0]);
    assert.ok(performance.now() - start < 5_000);
  } finally {
    await Deno.remove(script);
  }
});

function server(endpoint: McpServer["endpoint"]): McpServer {
  return { name: "x", part: "x", file: ".mcp.json", written: endpoint, endpoint, variables: [] };
}

const program = (command: string, args: readonly string[] = []): McpServer =>
  server({ kind: "stdio", command, args, env: {} });

/** What connecting to it is rejected with, as text. */
async function problemOf(server: McpServer, options: Partial<ConnectMcpOptions>): Promise<string> {
  const fetch = hostStreamFetch({ check: () => {} });
  const error = await connectMcp(server, { cwd, pipes, fetch, ...options }).then(
    () => assert.fail("it is connected"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof Error);
  return error.message;
}

Deno.test("mcp connection: a server that is silent, or that says nothing of MCP", async () => {
  const silent = program(Deno.execPath(), serverArgs("silent"));
  assert.equal(
    await problemOf(silent, { timeoutMs: 1_500 }),
    'MCP server "x": it did not answer within 1.5 s; its last lines: "test server is running"',
  );
  assert.match(
    await problemOf(program("yes"), { timeoutMs: 300 }),
    /did not answer within 0.3 s; its last lines: "stdout: y"/,
  );
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}/mcp?key=s3cret-key`;
  assert.equal(
    await problemOf(server({ kind: "http", url, headers: {} }), { timeoutMs: 200 }),
    'MCP server "x": it did not answer within 0.2 s',
  );
});

Deno.test("mcp connection: an abort while connecting ends it, and the server", async () => {
  const stop = new AbortController();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}/mcp`;
  const web = problemOf(server({ kind: "http", url, headers: {} }), { signal: stop.signal });
  const log = await Deno.makeTempFile({ prefix: "orrery-mcp-" });
  try {
    const stdio = problemOf(program(Deno.execPath(), serverArgs("silent", log)), { signal: stop.signal });
    let said = "";
    while (!said.includes("initialize")) said = await Deno.readTextFile(log);
    const pid = Number(/pid (\d+)/.exec(said)?.[1]);
    assert.ok(await isAlive(pid));
    stop.abort(new Error("enough"));
    assert.deepEqual(await Promise.all([web, stdio]), ["enough", "enough"]);
    assert.ok(!await isAlive(pid));
  } finally {
    await Deno.remove(log);
  }
});

Deno.test("variables: a text without ${ stays as it is", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    fc.pre(!text.includes("${"));
    assert.equal(expandVariables(text, () => "x").text, text);
  }));
});

Deno.test("json places: the place of every value is that value", () => {
  const blanks = fc.constantFrom("", " ", "\n", "\t", "\r\n  ");
  fc.assert(fc.property(fc.jsonValue(), fc.option(blanks, { nil: "" }), (value, blank) => {
    const text = blank + JSON.stringify(value, null, blank.includes("\t") ? "\t" : blank.length) + blank;
    const check = (inside: unknown, path: readonly (string | number)[]): void => {
      const place = jsonPlace(text, path);
      assert.ok(place, `${text} ${JSON.stringify(path)}`);
      assert.deepEqual(JSON.parse(text.slice(place.start, place.end)), JSON.parse(JSON.stringify(inside)));
      if (typeof inside !== "object" || inside === null) return;
      for (const [key, child] of Object.entries(inside)) {
        check(child, [...path, Array.isArray(inside) ? Number(key) : key]);
      }
    };
    check(JSON.parse(text), []);
    assert.equal(jsonPlace(text, ["nowhere at all", 7, "x"]), undefined);
  }));
});

Deno.test("json places: of two keys of one name the last one counts, as for JSON.parse", () => {
  const text = '{"a": {"b": 1}, "a": {"b": [2]}}';
  const place = jsonPlace(text, ["a", "b"]);
  assert.equal(text.slice(place?.start, place?.end), "[2]");
  assert.equal(jsonPlace('{"a": {"b": 1}, "a": 3}', ["a", "b"]), undefined);
});
Deno.test("mcp names: they are names of gadgets, no two are the same, and the order says nothing", () => {
  fc.assert(fc.property(fc.string(), fc.uniqueArray(fc.string({ maxLength: 80 })), (server, tools) => {
    const wanted = tools.map((tool) => [tool, `${server}__${tool}`] as const);
    const names = mcpNames(new Map(wanted), new Set(["a__b"]));
    const all = [...names.values()];
    assert.ok(all.every((name) => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name)), JSON.stringify(all));
    assert.equal(new Set([...all, "a__b"]).size, tools.length + 1);
    assert.deepEqual(new Map(mcpNames(new Map(wanted.toReversed()), new Set(["a__b"]))), new Map(names));
  }));
  const parts = (names: readonly string[]) => Object.fromEntries(mcpNameParts(names));
  assert.deepEqual(parts(["a.b", "a_b"]), { "a.b": "a_b_2e7336dc", a_b: "a_b" });
  assert.deepEqual(parts(["a.b", "ü"]), { "a.b": "a_b", "ü": "_" });
});

Deno.test("mcp lines: how the bytes come does not matter", async () => {
  const encoder = new TextEncoder();
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.array(fc.constantFrom("a", " ", "\0", "\t", "é", "€", "🦊", "\u2028"), { maxLength: 30 })
          .map((signs) => signs.join("")),
      ),
      fc.integer({ min: 1, max: 7 }),
      async (lines, size) => {
        const bytes = encoder.encode(lines.join("\n"));
        const chunks = async function* () {
          for (let at = 0; at < bytes.length; at += size) {
            yield await Promise.resolve(bytes.subarray(at, at + size));
          }
        };
        const read = await Array.fromAsync(stdioLines(chunks(), { maxBytes: 40 }));
        const expected = lines.map((line) => encoder.encode(line)).map((line) =>
          line.length > 40 ? { tooLong: true } : { text: new TextDecoder().decode(line) }
        ).filter((line) => "tooLong" in line || line.text.trim() !== "");
        assert.deepEqual(read, expected);
      },
    ),
    { numRuns: 30 },
  );
});

Deno.test("mcp redaction: nothing that a server was given is in what it says", () => {
  const written = {
    kind: "stdio",
    command: "x",
    args: ["--token=${T}", "run"],
    env: { KEY: "${K}", DEBUG: "1" },
  } as const;
  const endpoint = {
    ...written,
    args: ["--token=from-argument", "run"],
    env: { KEY: "from env", DEBUG: "1" },
  };
  const redact = redactor({ name: "x", part: "x", file: "f", written, endpoint, variables: ["K", "T"] });
  assert.equal(
    redact("1 run --token=from-argument: from-argument is bad, and from env; --token stays"),
    "1 run [value of an argument]: [value of an argument] is bad, and [value of KEY]; --token stays",
  );
});
