import assert from "node:assert/strict";
import { join } from "node:path";
import type { GadgetFolder } from "../_gadgets.ts";
import { isAlive, mcpFolder, testServer } from "../_mcp.ts";
import { testProject } from "../_project.ts";

async function pidOf(folder: GadgetFolder): Promise<number> {
  return Number(/pid (\d+)/.exec(await folder.text("log"))?.[1]);
}

/** Waits until the log of the server holds a text. */
async function logHolds(folder: GadgetFolder, text: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if ((await folder.text("log")).includes(text)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`the log never held ${text}: ${await folder.text("log")}`);
}

Deno.test("mcp stdio: tools are listed and called; close ends the process", async () => {
  await using folder = await mcpFolder({ test: testServer("ok") });
  const pid = await pidOf(folder);
  const call = (name: string, input = {}) => folder.call(`test__${name}`, input);
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
  const failure = async (name: string) => {
    const { error, code } = await folder.outcome(`test__${name}`, { text: "x" });
    return { error, code };
  };
  assert.deepEqual(await failure("error"), { // its own word
    error: 'MCP server "test": it answered with error -32602: no such place',
    code: "failed",
  });
  assert.deepEqual(await failure("odd"), {
    error:
      `MCP server "test": it answered with error -32603: The server's answer is no message of JSON-RPC 2.0`,
    code: "crash",
  });
  assert.equal(await call("echo", { text: "still there" }), "echo: still there");
  assert.ok(await isAlive(pid));
  await folder.catalog.close?.();
  assert.ok(!await isAlive(pid));
  assert.match(await folder.text("log"), /stdin ended/);
  assert.deepEqual(await failure("echo"), { error: 'MCP server "test": it was ended', code: "crash" });
});

Deno.test("mcp stdio: the environment is ours by list and what was given; its values are in no message", async () => {
  Deno.env.set("ORRERY_TEST_KEY", "not for servers");
  try {
    await using folder = await mcpFolder({ test: testServer("ok", { API_KEY: "s3cret-value" }) });
    const given = JSON.parse(String(await folder.call("test__env", {})));
    const names = Object.keys(given).filter((name) => !/^(PATH|HOME|LANG|TERM)$/.test(name));
    assert.deepEqual(names, ["API_KEY"]);
    assert.equal(await folder.error("test__fail", {}), "disk full, key is s3cret-value"); // the tool's own answer
    const { error, code } = await folder.outcome("test__crash", {});
    assert.deepEqual([code, error], [
      "crash",
      'MCP server "test": it ended with exit code 7; its last lines: "test server is running", "about to fall over, key is [value of API_KEY]"',
    ]);
  } finally {
    Deno.env.delete("ORRERY_TEST_KEY");
  }
});

Deno.test("mcp stdio: what a server says besides the protocol is told, without the values it was given", async () => {
  const calls = (name: string) => `!!!GADGET_START:test__${name}\n!!!ARG:text\na\n!!!GADGET_END\n`;
  const settings = (scenario: string) =>
    JSON.stringify({ mcpServers: { test: testServer(scenario, { API_KEY: "s3cret-value" }) } });
  await using project = await testProject({
    ".mcp.json": settings("garbage"),
    "a.calls": calls("echo"),
    "b.calls": calls("crash"),
  });
  const flags = ["--trust-project", "--trust", "test"];
  const garbage = await project.run(["run", "a.calls", ...flags]);
  assert.deepEqual([garbage.code, garbage.stdout], [0, "echo: a"], garbage.stderr);
  assert.deepEqual(logged(garbage.stderr).filter((line) => line.startsWith("stdout")), [
    "stdout: npm notice: hello",
    "stdout: 42",
    'stdout: {"a":',
  ]);
  await project.write(".mcp.json", settings("ok"));
  const crashed = await project.run(["run", "b.calls", ...flags]);
  assert.deepEqual(logged(crashed.stderr), [
    "test server is running",
    "about to fall over, key is [value of API_KEY]",
  ]);
});

const logged = (stderr: string) =>
  [...stderr.matchAll(/^ +log +test {2}(.*)$/gm)].map(([, line = ""]) => line);

Deno.test("mcp stdio: progress reaches the call it belongs to, and an abort is told to the server", async () => {
  await using folder = await mcpFolder({ test: testServer("ok") });
  const reports: (readonly [number, number | undefined])[] = [];
  const progress = (done: number, total?: number) => void reports.push([done, total]);
  const slow = folder.call("test__slow", { ms: 60 }, { progress });
  const quick = folder.call("test__echo", { text: "quick" });
  assert.equal(await quick, "echo: quick");
  assert.equal(await slow, "slept");
  assert.deepEqual(reports, [[1, 3], [2, 3], [3, 3]]);

  const stop = new AbortController();
  const given = folder.error("test__slow", { ms: 60_000 }, { signal: stop.signal });
  await logHolds(folder, "tools/call\ntools/call\ntools/call");
  stop.abort(new Error("enough"));
  assert.equal(await given, "Aborted: enough");
  await logHolds(folder, "notifications/cancelled 4");
  assert.equal(await folder.call("test__echo", { text: "on" }), "echo: on");
});

Deno.test("mcp stdio: an answer may have 10 MB; a longer one fails its call and nothing else", async () => {
  await using folder = await mcpFolder({ test: testServer("ok") });
  const { run } = await folder.gadget("test__huge"); // what a run tells of a result has bounds of its own
  const big = await run?.({ bytes: 8_000_000 } as never, {
    signal: new AbortController().signal,
    invocationId: "x",
    dependencies: {},
    call: { gadgetName: "test__huge", invocationId: "x", parameters: {} },
    log: () => {},
    progress: () => {},
  });
  assert.equal(String(big).length, 8_000_000);
  assert.equal(
    await folder.error("test__huge", { bytes: 11_000_000 }),
    'MCP server "test": it answered with error -32603: The server sent a line of more than 10485760 bytes',
  );
  assert.match(
    await folder.error("test__echo", { text: "x".repeat(11_000_000) }),
    /The message of 11000\d+ bytes is too long: a server on stdio takes 10485760/,
  );
  assert.equal(await folder.call("test__echo", { text: "on" }), "echo: on");
});

const endless = { command: Deno.execPath(), args: ["eval", "console.log('y')"] };

Deno.test("mcp stdio: versions of the protocol, and what goes wrong at the start", async () => {
  await using folder = await mcpFolder({
    old: testServer("old"),
    modern: testServer("modern"),
    future: testServer("future"),
    crash: testServer("crash-at-start"),
    badschema: testServer("badschema"),
    circle: testServer("circle"),
    notools: testServer("notools"),
    absent: { command: "orrery-no-such-program" },
    nothing: { command: "./nothing/here" },
    ends: endless,
  });
  assert.equal(await folder.call("old__echo", { text: "a" }), "echo: a");
  assert.equal(await folder.call("modern__echo", { text: "a" }), "modern");
  const problem = (name: string) => folder.catalog.maybeFind(`${name}__*`)?.problem ?? "";
  assert.equal(
    problem("future"),
    `MCP server "future": Server's protocol version is not supported: 2099-01-01; its last lines: "test server is running"`,
  );
  assert.equal(
    problem("crash"),
    `MCP server "crash": it ended with exit code 3; its last lines: "test server is running", "cannot find module 'x'"`,
  );
  assert.match(
    problem("badschema"),
    /^MCP server "badschema": its answer is not as MCP has it: tools\/0\/name: .*expected string/,
  );
  assert.match(problem("circle"), /its list of tools goes round in a circle/);
  assert.deepEqual(folder.catalog.entries.filter(({ name }) => name.startsWith("notools")), []);
  assert.equal(
    problem("absent"),
    'MCP server "absent": Cannot run "orrery-no-such-program": no program of this name is in the folders of PATH',
  );
  assert.equal(
    problem("nothing"),
    `MCP server "nothing": Cannot run "${join(folder.root, "nothing/here")}": no such file`,
  );
  assert.match(problem("ends"), /it ended with exit code 0; its last lines: "stdout: y"/);
});

Deno.test("mcp stdio: a server that does not want to end is killed", async () => {
  await using folder = await mcpFolder({ test: testServer("stubborn") });
  const pid = await pidOf(folder);
  const start = performance.now();
  await folder.catalog.close?.();
  const ms = performance.now() - start;
  assert.ok(!await isAlive(pid));
  assert.ok(ms > 2_000 && ms < 6_000, `took ${ms} ms`);
});

Deno.test("mcp stdio: a thousand tools over several pages", async () => {
  const start = performance.now();
  await using folder = await mcpFolder({ test: testServer("many") });
  const ms = performance.now() - start;
  const entries = folder.catalog.entries.filter(({ source }) => source.kind === "mcp");
  assert.equal(entries.length, 1000);
  assert.equal(entries.at(-1)?.name, "test__tool_999");
  assert.ok(ms < 3_000, `took ${ms} ms`);
});
