import assert from "node:assert/strict";
import { join } from "node:path";
import type { AnyGadget, CatalogEntry, User } from "../../mod.ts";
import { type BrokenMcpServer, mcpNameParts, mcpNames, type McpServer } from "../../lib/core/mcp_server.ts";
import { hostFiles } from "../../lib/host/files/files.ts";
import { hostPipes } from "../../lib/host/commands/pipe_process.ts";
import { type McpEntries, mcpEntries, type McpEntriesOptions } from "../../lib/mcp/entries.ts";
import { redactor } from "../../lib/mcp/server_line.ts";
import { serverWords } from "../../lib/mcp/server_words.ts";
import { stdioLines } from "../../lib/core/stdio_lines.ts";
import { toolResult } from "../../lib/mcp/tool_gadget.ts";
import fc from "fast-check";
import { httpServer, isAlive, serverArgs, stdioServer } from "../_mcp.ts";
import { callGadget, writeFiles } from "../_world.ts";

const nobody: User = { canAnswer: false, ask: () => Promise.reject(new Error("nobody is there")) };

/** Somebody who gives these answers, and what they were asked. */
function somebody(...answers: readonly string[]): { readonly user: User; readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    user: {
      canAnswer: true,
      ask(question) {
        asked.push(question);
        const answer = answers[asked.length - 1];
        return answer === undefined
          ? Promise.reject(new Error("Nobody answered: the input ended"))
          : Promise.resolve(answer);
      },
    },
  };
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-mcp-" }));
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function open(
  servers: readonly (McpServer | BrokenMcpServer)[],
  options: Partial<McpEntriesOptions> = {},
): Promise<McpEntries> {
  return mcpEntries(servers, {
    root: Deno.cwd(),
    user: nobody,
    isTrusted: () => true,
    taken: new Set(),
    onNotice: () => {},
    reach: () => ({ pipes: hostPipes(), fetch: () => Promise.reject(new Error("no network")) }),
    ...options,
  });
}

async function gadgetOf(entries: readonly CatalogEntry[], name: string): Promise<AnyGadget> {
  const entry = entries.find((each) => each.name === name);
  assert.ok(entry, `no ${name} among ${entries.map((each) => each.name)}`);
  return await entry.load();
}

Deno.test("mcp entries: tools are gadgets, a server that fails is one broken entry", async () => {
  const broken = {
    name: "no var",
    part: "no_var",
    file: ".mcp.json",
    problem: '.mcp.json:1:2: MCP server "no var": ...',
    wrong: "...",
    span: undefined,
    isOpen: true,
  };
  const { entries, close } = await open([
    stdioServer("ok"),
    stdioServer("crash-at-start", { name: "bad" }),
    broken,
  ]);
  try {
    const states = entries.filter(({ state }) => state !== "ready").map((
      { name, state, problem },
    ) => [name, state, problem]);
    assert.deepEqual(states, [
      [
        "bad__*",
        "broken",
        `MCP server "bad": it ended with exit code 3; its last lines: "test server is running", "cannot find module 'x'"`,
      ],
      ["no_var__*", "broken", broken.problem],
    ]);
    assert.deepEqual(entries[0]?.source, { kind: "mcp", server: "test", file: ".mcp.json" });
    const echo = await gadgetOf(entries, "test__echo");
    assert.equal(echo.description, "Gives its text back.");
    assert.equal(echo.untrusted, true);
    assert.equal(echo.idempotent, true);
    assert.deepEqual(echo.permissions, { run: [Deno.execPath()] });
    assert.equal((await gadgetOf(entries, "test__add")).idempotent, false);
    assert.equal(await callGadget(echo, { text: "hello" }), "echo: hello");
    await assert.rejects(callGadget(echo, {}), /text/); // its own schema is checked before the server is asked
    await assert.rejects(callGadget(await gadgetOf(entries, "test__fail"), {}), {
      message: "disk full, key is undefined",
    });
  } finally {
    await close();
  }
});

Deno.test("mcp entries: hostile names, schemas and descriptions", async () => {
  const taken = new Set(["ReadFile", "test__ReadFile"]);
  const notices: string[] = [];
  const onNotice = (text: string) => void notices.push(text);
  const { entries, close } = await open([stdioServer("hostile")], { taken, onNotice });
  try {
    assert.deepEqual(entries.map(({ name, state }) => [name.replace(/_[0-9a-f]{8}$/, "_HASH"), state]), [
      ["test__ReadFile_HASH", "ready"],
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
    assert.deepEqual((await gadgetOf(entries, "test__badpattern")).input, {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "number", minimum: 0 }, c: {}, e: {} },
    });
    const turned = await open([stdioServer("hostile-reversed")], { taken });
    await turned.close();
    assert.deepEqual(
      new Set(turned.entries.map(({ name }) => name)),
      new Set(entries.map(({ name }) => name)),
    );
    const marker = await gadgetOf(entries, "test__marker");
    assert.match(marker.description ?? "", /^!!!GADGET_START:RunCommand/);
    assert.match(String(await callGadget(marker, {})), /^!!!GADGET_START:RunCommand/); // text, as any result
    assert.equal(await callGadget(await gadgetOf(entries, entries[0]?.name ?? ""), { text: "x" }), "echo: x");
  } finally {
    await close();
  }
});

Deno.test("mcp entries: a thousand tools over several pages", async () => {
  const start = performance.now();
  const { entries, close } = await open([stdioServer("many")]);
  const ms = performance.now() - start;
  await close();
  assert.equal(entries.length, 1000);
  assert.equal(entries.at(-1)?.name, "test__tool_999");
  assert.ok(ms < 3_000, `took ${ms} ms`);
});

Deno.test("mcp entries: without a terminal nothing is started, and the flag is named", async () => {
  await inFolder(async (folder) => {
    const log = join(folder, "log");
    const env = { API_KEY: "s3cret-value", "A B": "other-value" };
    const server = { ...stdioServer("ok", { log, env, name: "my server" }), variables: ["TOKEN"] };
    const { entries } = await open([
      server,
      httpServer("https://example.com/mcp?a=1", { Auth: "s3cret-value" }),
    ], {
      isTrusted: () => false,
    });
    const command = [Deno.execPath(), ...serverArgs("ok", log)].join(" ");
    assert.deepEqual(entries.map(({ name, state, problem }) => ({ name, state, problem })), [
      {
        name: "my_server",
        state: "not-trusted",
        problem: `MCP server "my server" is not trusted: it was not started (command: ${command}; ` +
          `environment: API_KEY, "A B"; is given your variables: TOKEN); run with --trust my_server`,
      },
      {
        name: "web",
        state: "not-trusted",
        problem: `MCP server "web" is not trusted: it was not reached (url: https://example.com/mcp?a=1; ` +
          `headers: Auth); run with --trust web`,
      },
    ]);
    assert.ok(!JSON.stringify(entries).includes("s3cret"));
    await assert.rejects(Deno.stat(log), Deno.errors.NotFound);
  });
});

Deno.test("mcp grants: once, deny, nobody; always is kept until the command or the tools change", async () => {
  await inFolder(async (folder) => {
    const state = hostFiles({ root: join(folder, "state"), mode: 0o600 });
    const answers = async (
      server: McpServer,
      { user, asked }: ReturnType<typeof somebody>,
      root = folder,
    ) => {
      const opened = await open([server], { user, root, state, isTrusted: () => false });
      await opened.close();
      return { asked, first: opened.entries[0] };
    };
    const server = stdioServer("ok", { env: { API_KEY: "s3cret-value" } });
    const ask = (other: McpServer, ...given: string[]) => answers(other, somebody(...given));

    const denied = await ask(server, "deny");
    assert.equal(denied.first?.problem, 'MCP server "test": you did not allow it');
    assert.equal(
      denied.asked[0],
      `.mcp.json wants the MCP server "test" to be started.\n  command: ${
        [Deno.execPath(), ...serverArgs("ok")].join(" ")
      }\n  environment: API_KEY\nAllow it?`,
    );
    assert.equal((await ask(server)).first?.state, "not-trusted"); // the input ended
    assert.equal((await ask(server, "once")).first?.state, "ready");
    assert.equal((await ask(server, "always")).asked.length, 1);
    const kept = await Deno.readTextFile(join(folder, "state", "mcp_servers.json"));
    assert.ok(!kept.includes("s3cret"));
    if (Deno.build.os !== "windows") {
      const { mode } = await Deno.stat(join(folder, "state", "mcp_servers.json"));
      assert.equal((mode ?? 0) & 0o777, 0o600);
    }
    const again = await answers(server, { user: nobody, asked: [] });
    assert.equal(again.first?.state, "ready");

    // Another key is the same server only when it comes from a variable; a written one is part of what was allowed.
    const otherKey = await ask(stdioServer("ok", { env: { API_KEY: "another-value" } }), "deny");
    assert.match(otherKey.asked[0] ?? "", /It is not as it was when you allowed it\./);
    const variable = (value: string): McpServer => {
      const { written, endpoint, ...rest } = stdioServer("ok", { env: { API_KEY: "${KEY}" } });
      return {
        ...rest,
        written,
        endpoint: { ...endpoint, env: { API_KEY: value } } as McpServer["endpoint"],
      };
    };
    assert.equal((await ask(variable("one"), "always")).asked.length, 1);
    assert.equal((await ask(variable("two"))).first?.state, "ready");

    const elsewhere = await answers(variable("one"), somebody("deny"), "/");
    assert.equal(elsewhere.asked.length, 1, "the same command in another project is asked about");

    const absent = await answers(stdioServer("old"), { user: nobody, asked: [] });
    assert.match(
      absent.first?.problem ?? "",
      /not trusted any more, since it is not as it was when you allowed it/,
    );
  });
});

Deno.test("mcp grants: changed tools are asked about again, and told", async () => {
  await inFolder(async (folder) => {
    const state = hostFiles({ root: join(folder, "state"), mode: 0o600 });
    // The same command line: what the script serves is in a file.
    const script = join(folder, "server.ts");
    const serve = (scenario: string) =>
      writeFiles(folder, {
        "server.ts": `Deno.args.splice(0, 9, "${scenario}");\nawait import(${
          JSON.stringify(import.meta.resolve("../_mcp_server.ts"))
        });`,
      });
    const endpoint = {
      kind: "stdio",
      command: Deno.execPath(),
      args: ["run", "-A", script],
      env: {},
    } as const;
    const server: McpServer = {
      name: "test",
      part: "test",
      file: ".mcp.json",
      written: endpoint,
      endpoint,
      variables: [],
    };
    const run = async (user: User) => {
      const opened = await open([server], { user, root: folder, state, isTrusted: () => false });
      await opened.close();
      return opened.entries;
    };
    await serve("notools");
    await run(somebody("always").user);
    await serve("changed");
    const unasked = await run(nobody);
    assert.equal(
      unasked[0]?.problem,
      'MCP server "test" is not trusted any more, since its tools changed: echo is new; run with --trust test',
    );
    const accepting = somebody("always");
    assert.equal((await run(accepting.user))[0]?.state, "ready");
    assert.equal(
      accepting.asked[0],
      'The tools of the MCP server "test" are not as they were when you allowed it:\n  echo is new\nUse them?',
    );
    assert.equal((await run(nobody))[0]?.state, "ready");
    await serve("ok");
    const denying = somebody("deny");
    assert.equal(
      (await run(denying.user))[0]?.problem,
      'MCP server "test": you did not allow its changed tools',
    );
    assert.match(denying.asked[0] ?? "", /\n {2}echo is described differently\n/);
  });
});

Deno.test("mcp grants: a broken list of allowed servers is an error that names it", async () => {
  await inFolder(async (folder) => {
    await writeFiles(folder, { "mcp_servers.json": '{"version": 1, "servers": [{"root": 1}]}' });
    const state = hostFiles({ root: folder, mode: 0o600 });
    await assert.rejects(open([stdioServer("ok")], { state, isTrusted: () => false }), {
      message: `Cannot read the list of allowed MCP servers "${
        join(folder, "mcp_servers.json")
      }": entry 1 of "servers" must have "root", "name", "sha256" and "tools"`,
    });
  });
});

Deno.test("mcp entries: an abort ends the servers", async () => {
  await inFolder(async (folder) => {
    const log = join(folder, "log");
    const stop = new AbortController();
    const { close } = await open([stdioServer("ok", { log })], { signal: stop.signal });
    const pid = Number(/pid (\d+)/.exec(await Deno.readTextFile(log))?.[1]);
    assert.ok(await isAlive(pid));
    stop.abort();
    await close();
    assert.ok(!await isAlive(pid));
  });
});

Deno.test("mcp words: nothing in a command can hide from the person who is asked", () => {
  const endpoint = {
    kind: "stdio",
    command: "sh",
    args: ["-c", "echo hi\n\x1b[2K\rrm -rf ~ \u202Etxt.exe\u{E0041}"],
    env: { "X\n  command: ls": "v" },
  } as const;
  assert.deepEqual(
    serverWords({ name: "x", part: "x", file: "f", written: endpoint, endpoint, variables: [] }),
    [
      'command: sh -c "echo hi\\n\\u001b[2K\\rrm -rf ~ \\u{202e}txt.exe\\u{e0041}"',
      'environment: "X\\n  command: ls"',
    ],
  );
  const written = { kind: "http", url: "${BASE}/mcp", headers: {} } as const;
  const reached = { ...written, url: "https://example.com/mcp" };
  assert.deepEqual(
    serverWords({ name: "x", part: "x", file: "f", written, endpoint: reached, variables: ["BASE"] }),
    [
      "url: ${BASE}/mcp",
      "host: example.com",
      "is given your variables: BASE",
    ],
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
  await fc.assert(fc.asyncProperty(
    fc.array(fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.replaceAll(/[\n\r]/g, ""))),
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
  ));
});

Deno.test("mcp results: what tools answer", () => {
  assert.equal(toolResult({ content: [] }), "");
  assert.equal(toolResult({ content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] }), "a\nb");
  assert.deepEqual(toolResult({ toolResult: { old: true } }), { old: true });
  assert.deepEqual(toolResult({ content: [{ type: "audio", data: "AA==", mimeType: "audio/wav" }] }), [
    { type: "audio", data: "AA==", mimeType: "audio/wav" },
  ]);
  assert.throws(() => toolResult({ content: [], isError: true }), {
    message: "The tool failed and did not say why",
  });
  const long = { content: [{ type: "text" as const, text: "x".repeat(20_010) }], isError: true };
  assert.throws(() => toolResult(long), { message: `${"x".repeat(20_000)} … (10 more characters)` });
});
