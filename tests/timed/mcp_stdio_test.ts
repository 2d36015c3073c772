import assert from "node:assert/strict";
import { CrashError } from "../../lib/core/gadget.ts";
import { toolResult } from "../../lib/mcp/tool_gadget.ts";
import { connect, isAlive, messageFrom, stdioServer } from "../_mcp.ts";

const signal = new AbortController().signal;

async function withLog(work: (log: string) => Promise<void>): Promise<void> {
  const log = await Deno.makeTempFile({ prefix: "orrery-mcp-" });
  try {
    await work(log);
  } finally {
    await Deno.remove(log);
  }
}

async function pidOf(log: string): Promise<number> {
  return Number(/pid (\d+)/.exec(await Deno.readTextFile(log))?.[1]);
}

/** Waits until the log of the server holds a text. */
async function logHolds(log: string, text: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if ((await Deno.readTextFile(log)).includes(text)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`the log never held ${text}: ${await Deno.readTextFile(log)}`);
}

Deno.test("mcp stdio: tools are listed and called; close ends the process", async () => {
  await withLog(async (log) => {
    const lines: string[] = [];
    const connection = await connect(stdioServer("ok", { log }), { onLog: (line) => lines.push(line) });
    const pid = await pidOf(log);
    assert.equal(connection.protocolVersion, "2025-11-25");
    assert.equal(connection.tools[0]?.name, "echo");
    const call = (name: string, input = {}) => connection.call(name, input, { signal }).then(toolResult);
    assert.equal(await call("echo", { text: "grüße" }), "echo: grüße");
    assert.deepEqual(await call("add", { a: 1, b: 2 }), { sum: 3 });
    assert.deepEqual(await call("image"), [
      { type: "text", text: "a picture" },
      { type: "image", data: "AAEC", mimeType: "image/png" },
    ]);
    assert.deepEqual(await call("structured"), {
      structuredContent: { a: 1 },
      content: [{ type: "resource", resource: { uri: "a:b", text: "inside" } }],
    });
    assert.equal(await call("strings"), "answered");
    assert.equal(
      await messageFrom(call("error")),
      'MCP server "test": it answered with error -32602: no such place',
    );
    await assert.rejects(call("error"), (thrown) => !(thrown instanceof CrashError)); // its own word
    await assert.rejects(call("odd"), CrashError);
    assert.equal(
      await messageFrom(call("odd")),
      `MCP server "test": it answered with error -32603: The server's answer is no message of JSON-RPC 2.0`,
    );
    assert.equal(
      await messageFrom(call("nope")),
      'MCP server "test": it answered with error -32602: Unknown tool nope',
    );
    assert.equal(await call("echo", { text: "still there" }), "echo: still there");
    assert.deepEqual(lines, ["test server is running"]);
    assert.ok(await isAlive(pid));
    await connection.close();
    assert.ok(!await isAlive(pid));
    assert.match(await Deno.readTextFile(log), /stdin ended/);
    assert.equal(await messageFrom(call("echo")), 'MCP server "test": it was ended');
    await assert.rejects(call("echo"), CrashError);
  });
});

Deno.test("mcp stdio: the environment is ours by list and what was given; its values are in no message", async () => {
  Deno.env.set("ORRERY_TEST_KEY", "not for servers");
  const lines: string[] = [];
  const connection = await connect(stdioServer("ok", { env: { API_KEY: "s3cret-value" } }), {
    onLog: (line) => lines.push(line),
  });
  try {
    const given = JSON.parse(String(toolResult(await connection.call("env", {}, { signal }))));
    const names = Object.keys(given).filter((name) => !/^(PATH|HOME|LANG|TERM)$/.test(name));
    assert.deepEqual(names, ["API_KEY"]);
    const failed = await connection.call("fail", {}, { signal });
    assert.throws(() => toolResult(failed), { message: "disk full, key is s3cret-value" }); // the tool's own answer
    const crash = connection.call("crash", {}, { signal });
    await assert.rejects(crash, CrashError);
    assert.equal(
      await messageFrom(crash),
      'MCP server "test": it ended with exit code 7; its last lines: "test server is running", "about to fall over, key is [value of API_KEY]"',
    );
    assert.deepEqual(lines.slice(1), ["about to fall over, key is [value of API_KEY]"]);
  } finally {
    Deno.env.delete("ORRERY_TEST_KEY");
    await connection.close();
  }
});

Deno.test("mcp stdio: progress reaches the call it belongs to, and an abort is told to the server", async () => {
  await withLog(async (log) => {
    const connection = await connect(stdioServer("ok", { log }));
    try {
      const progress: (readonly [number, number | undefined])[] = [];
      const onProgress = (done: number, total?: number) => void progress.push([done, total]);
      const slow = connection.call("slow", { ms: 60 }, { signal, onProgress });
      const quick = connection.call("echo", { text: "quick" }, { signal });
      assert.equal(toolResult(await quick), "echo: quick");
      assert.equal(toolResult(await slow), "slept");
      assert.deepEqual(progress, [[1, 3], [2, 3], [3, 3]]);

      const stop = new AbortController();
      const given = connection.call("slow", { ms: 60_000 }, { signal: stop.signal });
      await logHolds(log, "tools/call\ntools/call\ntools/call");
      const reason = new Error("enough");
      stop.abort(reason);
      await assert.rejects(given, (error) => error === reason);
      await logHolds(log, "notifications/cancelled 4");
      assert.equal(toolResult(await connection.call("echo", { text: "on" }, { signal })), "echo: on");
    } finally {
      await connection.close();
    }
  });
});

Deno.test("mcp stdio: an answer may have 10 MB; a longer one fails its call and nothing else", async () => {
  const connection = await connect(stdioServer("ok"));
  try {
    const big = toolResult(await connection.call("huge", { bytes: 8_000_000 }, { signal }));
    assert.equal(String(big).length, 8_000_000);
    assert.equal(
      await messageFrom(connection.call("huge", { bytes: 11_000_000 }, { signal })),
      'MCP server "test": it answered with error -32603: The server sent a line of more than 10485760 bytes',
    );
    const long = connection.call("echo", { text: "x".repeat(11_000_000) }, { signal });
    assert.match(
      await messageFrom(long),
      /The message of 110000\d+ bytes is too long: a server on stdio takes 10485760/,
    );
    assert.equal(toolResult(await connection.call("echo", { text: "on" }, { signal })), "echo: on");
  } finally {
    await connection.close();
  }
});

Deno.test("mcp stdio: versions of the protocol", async () => {
  for (const [scenario, version] of [["old", "2024-11-05"], ["modern", "2026-07-28"]] as const) {
    const connection = await connect(stdioServer(scenario));
    assert.equal(connection.protocolVersion, version);
    const expected = scenario === "old" ? "echo: a" : "modern";
    assert.equal(toolResult(await connection.call("echo", { text: "a" }, { signal })), expected);
    await connection.close();
  }
  assert.equal(
    await messageFrom(connect(stdioServer("future"))),
    `MCP server "test": Server's protocol version is not supported: 2099-01-01; its last lines: "test server is running"`,
  );
});

Deno.test("mcp stdio: what goes wrong at the start is said", async () => {
  const lines: string[] = [];
  const garbage = await connect(stdioServer("garbage"), { onLog: (line) => lines.push(line) });
  assert.ok(garbage.tools.length > 5);
  await garbage.close();
  assert.deepEqual(lines.filter((line) => line.startsWith("stdout")), [
    "stdout: npm notice: hello",
    "stdout: 42",
    'stdout: {"a":',
  ]);
  assert.equal(
    await messageFrom(connect(stdioServer("crash-at-start"))),
    `MCP server "test": it ended with exit code 3; its last lines: "test server is running", "cannot find module 'x'"`,
  );
  assert.equal(
    await messageFrom(connect(stdioServer("silent"), { timeoutMs: 400 })),
    'MCP server "test": it did not answer within 0.4 s; its last lines: "test server is running"',
  );
  assert.match(
    await messageFrom(connect(stdioServer("badschema"))),
    /^MCP server "test": its answer is not as MCP has it: tools\/0\/name: .*expected string/,
  );
  assert.match(await messageFrom(connect(stdioServer("circle"))), /its list of tools goes round in a circle/);
  const none = await connect(stdioServer("notools"));
  assert.deepEqual(none.tools, []);
  await none.close();
});

Deno.test("mcp stdio: a program that is not there, and one that is no server", async () => {
  const of = (command: string, args: readonly string[] = []) => {
    const endpoint = { kind: "stdio", command, args, env: {} } as const;
    return { name: "x", part: "x", file: ".mcp.json", written: endpoint, endpoint, variables: [] };
  };
  assert.equal(
    await messageFrom(connect(of("orrery-no-such-program"))),
    'MCP server "x": Cannot run "orrery-no-such-program": no program of this name is in the folders of PATH',
  );
  assert.equal(
    await messageFrom(connect(of("./nothing/here"))),
    `MCP server "x": Cannot run "${Deno.cwd()}/nothing/here": no such file`,
  );
  assert.match(await messageFrom(connect(of("true"))), /it ended with exit code 0/);
  assert.match(
    await messageFrom(connect(of("yes"), { timeoutMs: 300 })),
    /did not answer within 0.3 s; its last lines: "stdout: y"/,
  );
});

Deno.test("mcp stdio: an abort while connecting ends the server", async () => {
  await withLog(async (log) => {
    const stop = new AbortController();
    const connecting = connect(stdioServer("silent", { log }), { signal: stop.signal });
    const failed = assert.rejects(connecting, (error) => error === stop.signal.reason);
    await logHolds(log, "initialize");
    const pid = await pidOf(log);
    assert.ok(await isAlive(pid));
    stop.abort(new Error("enough"));
    await failed;
    assert.ok(!await isAlive(pid));
  });
});

Deno.test("mcp stdio: a server that does not want to end is killed", async () => {
  await withLog(async (log) => {
    const connection = await connect(stdioServer("stubborn", { log }));
    const pid = await pidOf(log);
    const start = performance.now();
    await connection.close();
    const ms = performance.now() - start;
    assert.ok(!await isAlive(pid));
    assert.ok(ms > 2_000 && ms < 6_000, `took ${ms} ms`);
  });
});
