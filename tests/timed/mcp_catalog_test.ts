// What becomes of the tools of MCP servers in a catalogue, and who lets their servers start.
import assert from "node:assert/strict";
import { join } from "node:path";
import { type CatalogEntry, loadCatalog, type User } from "../../mod.ts";
import { type GadgetFolder, writeFiles } from "../_gadgets.ts";
import { isAlive, mcpFolder, serverArgs, testServer } from "../_mcp.ts";

const mcpEntries = (folder: GadgetFolder): readonly CatalogEntry[] =>
  folder.catalog.entries.filter(({ source }) => source.kind === "mcp");

Deno.test("mcp entries: tools are gadgets, a server that fails is one broken entry", async () => {
  await using folder = await mcpFolder({
    test: testServer("ok"),
    bad: testServer("crash-at-start"),
    "no var": testServer("ok", { KEY: "${ORRERY_TEST_MISSING}" }),
  });
  const entries = mcpEntries(folder);
  const states = entries.filter(({ state }) => state !== "ready").map((
    { name, state, problem },
  ) => [name, state, problem?.replace(/^\.mcp\.json:1:\d+: /, "PLACE: ")]);
  assert.deepEqual(states, [
    [
      "bad__*",
      "broken",
      `MCP server "bad": it ended with exit code 3; its last lines: "test server is running", "cannot find module 'x'"`,
    ],
    [
      "no_var__*",
      "broken",
      'PLACE: MCP server "no var": the variable ORRERY_TEST_MISSING is not set, or may not be read; set it, or write ${ORRERY_TEST_MISSING:-default}',
    ],
  ]);
  assert.deepEqual(entries[0]?.source, { kind: "mcp", server: "test", file: ".mcp.json" });
  const echo = await folder.gadget("test__echo");
  assert.equal(echo.description, "Gives its text back.");
  assert.equal(echo.untrusted, true);
  assert.equal(echo.idempotent, true);
  assert.deepEqual(echo.permissions, { run: [Deno.execPath()] });
  assert.equal((await folder.gadget("test__add")).idempotent, false);
  assert.equal(await folder.call("test__echo", { text: "hello" }), "echo: hello");
  assert.match(await folder.error("test__echo", {}), /text/); // its own schema is checked before the server is asked
  assert.equal(await folder.error("test__fail", {}), "disk full, key is undefined");
});

Deno.test("mcp entries: hostile names, schemas and descriptions", async () => {
  const notices: string[] = [];
  const onNotice = (text: string) => void notices.push(text);
  await using folder = await mcpFolder({ test: testServer("hostile") }, { onNotice });
  const entries = mcpEntries(folder);
  assert.deepEqual(entries.map(({ name, state }) => [name.replace(/_[0-9a-f]{8}$/, "_HASH"), state]), [
    ["test__ReadFile", "ready"],
    ["test__gr__e___welt_HASH", "ready"],
    ["test__gr__e___welt_HASH", "ready"],
    [`test__${"x".repeat(49)}_HASH`, "ready"],
    [`test__${"x".repeat(49)}_HASH`, "ready"],
    ["test__marker", "ready"],
    ["test__notobject", "ready"],
    ["test__badpattern", "ready"],
    ["test____proto__", "ready"],
    ["test__stop_it_HASH", "ready"],
    ["test__stop_it", "ready"],
    ["test__", "broken"],
  ]);
  assert.equal(entries.at(-1)?.problem, 'MCP server "test": it has a tool without a name, expected one');
  assert.deepEqual(notices, [
    'MCP server "test": its schemas have what JSON Schema does not, which is ignored here (the server checks what it gets): ' +
    "notobject/type, badpattern/properties/a/pattern, badpattern/properties/b/exclusiveMinimum, badpattern/properties/c/type, " +
    "badpattern/properties/d, badpattern/properties/e/anyOf/0/type, badpattern/properties/e/anyOf/1",
  ]);
  assert.deepEqual((await folder.gadget("test__badpattern")).input, {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "number", minimum: 0 }, c: {}, e: {} },
  });
  await using turned = await mcpFolder({ test: testServer("hostile-reversed") }, { onNotice });
  assert.deepEqual(
    new Set(mcpEntries(turned).map(({ name }) => name)),
    new Set(entries.map(({ name }) => name)),
  );
  assert.match((await folder.gadget("test__marker")).description ?? "", /^!!!GADGET_START:RunCommand/);
  assert.match(String(await folder.call("test__marker", {})), /^!!!GADGET_START:RunCommand/); // text, as any result
  assert.equal(await folder.call("test__ReadFile", { text: "x" }), "echo: x");
});

Deno.test("mcp entries: without a terminal nothing is started, and the flag is named", async () => {
  const env = { API_KEY: "s3cret-value", "A B": "other-value", OF: "${ORRERY_TEST_TOKEN:-none}" };
  const hiding = {
    command: "sh",
    args: ["-c", "echo hi\n\x1b[2K\rrm -rf ~ \u202Etxt.exe\u{E0041}"],
    env: { "X\n  command: ls": "v" },
  };
  await using folder = await mcpFolder({
    "my server": testServer("ok", env),
    web: { url: "https://example.com/mcp?a=1", headers: { Auth: "s3cret-value" } },
    variable: { url: "${ORRERY_TEST_BASE:-https://example.com}/mcp" },
    hiding,
  }, { trust: [] });
  const command = [Deno.execPath(), ...serverArgs("ok", "log")].join(" ");
  assert.deepEqual(mcpEntries(folder).map(({ name, state, problem }) => ({ name, state, problem })), [
    {
      name: "my_server",
      state: "not-trusted",
      problem: `MCP server "my server" is not trusted: it was not started (command: ${command}; ` +
        `environment: API_KEY, "A B", OF; is given your variables: ORRERY_TEST_TOKEN); run with --trust my_server`,
    },
    {
      name: "web",
      state: "not-trusted",
      problem: `MCP server "web" is not trusted: it was not reached (url: https://example.com/mcp?a=1; ` +
        `headers: Auth); run with --trust web`,
    },
    {
      name: "variable",
      state: "not-trusted",
      problem:
        'MCP server "variable" is not trusted: it was not reached (url: ${ORRERY_TEST_BASE:-https://example.com}/mcp; ' +
        "host: example.com; is given your variables: ORRERY_TEST_BASE); run with --trust variable",
    },
    {
      name: "hiding",
      state: "not-trusted",
      // Nothing in a command can hide from the person who is asked.
      problem: 'MCP server "hiding" is not trusted: it was not started (command: ' +
        'sh -c "echo hi\\n\\u001b[2K\\rrm -rf ~ \\u{202e}txt.exe\\u{e0041}"; environment: "X\\n  command: ls"); run with --trust hiding',
    },
  ]);
  assert.ok(!JSON.stringify(mcpEntries(folder)).includes("s3cret"));
  await assert.rejects(folder.text("log"), Deno.errors.NotFound);
});

Deno.test("mcp entries: an abort ends the servers", async () => {
  const stop = new AbortController();
  await using folder = await mcpFolder({ test: testServer("ok") }, { signal: stop.signal });
  const pid = Number(/pid (\d+)/.exec(await folder.text("log"))?.[1]);
  assert.ok(await isAlive(pid));
  stop.abort();
  await folder.catalog.close?.();
  assert.ok(!await isAlive(pid));
});

/** Works as a user whose settings have these servers; what they allow for good is in `state`. */
async function asUser(
  work: (user: {
    readonly state: string;
    write(servers: Readonly<Record<string, unknown>>): Promise<void>;
    open(answers: readonly string[], root?: string): Promise<Opened>;
  }) => Promise<void>,
): Promise<void> {
  const home = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-mcp-" }));
  const names = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"];
  const before = names.map((name) => [name, Deno.env.get(name)] as const);
  for (const name of names) Deno.env.set(name, join(home, name));
  await Deno.mkdir(join(home, "project"));
  try {
    await work({
      state: join(home, "XDG_STATE_HOME", "orrery"),
      write: (mcpServers) =>
        writeFiles(home, { "XDG_CONFIG_HOME/orrery/config.yaml": JSON.stringify({ mcpServers }) }),
      open: (answers, root = "project") => opened(join(home, root), answers),
    });
  } finally {
    for (const [name, value] of before) {
      value === undefined ? Deno.env.delete(name) : Deno.env.set(name, value);
    }
    await Deno.remove(home, { recursive: true });
  }
}

/** What somebody was asked, and what became of the first server. */
interface Opened {
  readonly asked: readonly string[];
  readonly state: string | undefined;
  readonly problem: string | undefined;
}

async function opened(root: string, answers: readonly string[]): Promise<Opened> {
  await Deno.mkdir(root, { recursive: true });
  const asked: string[] = [];
  const user: User = {
    canAnswer: answers.length > 0,
    ask(question) {
      asked.push(question);
      const answer = answers[asked.length - 1] ?? "";
      return answer === ""
        ? Promise.reject(new Error("Nobody answered: the input ended"))
        : Promise.resolve(answer);
    },
  };
  const catalog = await loadCatalog({ root, user });
  const first = catalog.entries.find(({ source }) => source.kind === "mcp");
  await catalog.close?.();
  return { asked, state: first?.state, problem: first?.problem };
}

Deno.test("mcp grants: once, deny, nobody; always is kept until the command or the tools change", async () => {
  await asUser(async ({ state, write, open }) => {
    const server = (scenario: string, env = {}) => ({
      test: { command: Deno.execPath(), args: serverArgs(scenario), env },
    });
    await write(server("ok", { API_KEY: "s3cret-value" }));
    const denied = await open(["deny"]);
    assert.equal(denied.problem, 'MCP server "test": you did not allow it');
    assert.match(denied.asked[0] ?? "", /config\.yaml wants the MCP server "test" to be started\.\n/);
    assert.ok(
      denied.asked[0]?.endsWith(
        `\n  command: ${[Deno.execPath(), ...serverArgs("ok")].join(" ")}\n  environment: API_KEY\nAllow it?`,
      ),
      denied.asked[0],
    );
    assert.equal((await open([""])).state, "not-trusted"); // the input ended
    assert.equal((await open(["once"])).state, "ready");
    assert.equal((await open(["always"])).asked.length, 1);
    const list = join(state, "mcp_servers.json");
    assert.ok(!(await Deno.readTextFile(list)).includes("s3cret"));
    if (Deno.build.os !== "windows") assert.equal(((await Deno.stat(list)).mode ?? 0) & 0o777, 0o600);
    assert.equal((await open([])).state, "ready");

    // Another key is the same server only when it comes from a variable; a written one is part of what was allowed.
    await write(server("ok", { API_KEY: "another-value" }));
    assert.match((await open(["deny"])).asked[0] ?? "", /It is not as it was when you allowed it\./);
    try {
      Deno.env.set("ORRERY_TEST_KEY", "one");
      await write(server("ok", { API_KEY: "${ORRERY_TEST_KEY}" }));
      assert.equal((await open(["always"])).asked.length, 1);
      Deno.env.set("ORRERY_TEST_KEY", "two");
      assert.equal((await open([])).state, "ready");
      const elsewhere = await open(["deny"], "another");
      assert.equal(elsewhere.asked.length, 1, "the same command in another project is asked about");
    } finally {
      Deno.env.delete("ORRERY_TEST_KEY");
    }
    await write(server("old"));
    assert.match(
      (await open([])).problem ?? "",
      /not trusted any more, since it is not as it was when you allowed it/,
    );
  });
});

Deno.test("mcp grants: changed tools are asked about again, and told", async () => {
  await asUser(async ({ state, write, open }) => {
    // The same command line: what the script serves is in a file.
    const serve = (scenario: string) =>
      writeFiles(join(state, ".."), {
        "server.ts": `Deno.args.splice(0, 9, "${scenario}");\nawait import(${
          JSON.stringify(import.meta.resolve("../_mcp_server.ts"))
        });`,
      });
    await write({ test: { command: Deno.execPath(), args: ["run", "-A", join(state, "../server.ts")] } });
    await serve("notools");
    await open(["always"]);
    await serve("changed");
    assert.equal(
      (await open([])).problem,
      'MCP server "test" is not trusted any more, since its tools changed: echo is new; run with --trust test',
    );
    const accepted = await open(["always"]);
    assert.equal(accepted.state, "ready");
    assert.equal(
      accepted.asked[0],
      'The tools of the MCP server "test" are not as they were when you allowed it:\n  echo is new\nUse them?',
    );
    assert.equal((await open([])).state, "ready");
    await serve("ok");
    const denied = await open(["deny"]);
    assert.equal(denied.problem, 'MCP server "test": you did not allow its changed tools');
    assert.match(denied.asked[0] ?? "", /\n {2}echo is described differently\n/);
  });
});

Deno.test("mcp grants: a broken list of allowed servers is an error that names it", async () => {
  await asUser(async ({ state, write, open }) => {
    await writeFiles(state, { "mcp_servers.json": '{"version": 1, "servers": [{"root": 1}]}' });
    await write({ test: { command: Deno.execPath(), args: serverArgs("ok") } });
    await assert.rejects(open([]), {
      message: `Cannot read the list of allowed MCP servers "${
        join(state, "mcp_servers.json")
      }": entry 1 of "servers" must have "root", "name", "sha256" and "tools"`,
    });
  });
});

Deno.test("mcp results: what tools answer", async () => {
  const results: readonly unknown[] = [
    { content: [] },
    { content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] },
    { toolResult: { old: true } },
    { content: [{ type: "audio", data: "AA==", mimeType: "audio/wav" }] },
    { content: [], isError: true },
    { content: [{ type: "text", text: "x".repeat(20_010) }], isError: true },
  ];
  await using http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method, params } = await request.json();
    const answers: Record<string, unknown> = {
      "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
      "tools/list": { tools: [{ name: "give", inputSchema: { type: "object" } }] },
      "tools/call": results[params?.arguments?.n],
    };
    return Response.json({
      jsonrpc: "2.0",
      id,
      result: { resultType: "complete", ...answers[method] as object },
    });
  });
  await using folder = await mcpFolder({ web: { url: `http://127.0.0.1:${http.addr.port}/mcp` } });
  const give = (n: number) => folder.outcome("web__give", { n }).then(({ result, error }) => error ?? result);
  assert.equal(await give(0), "");
  assert.equal(await give(1), "a\nb");
  assert.deepEqual(await give(2), { old: true });
  assert.deepEqual(await give(3), [{ type: "audio", data: "AA==", mimeType: "audio/wav" }]);
  assert.equal(await give(4), "The tool failed and did not say why");
  assert.equal(await give(5), `${"x".repeat(20_000)} … (10 more characters)`);
});
