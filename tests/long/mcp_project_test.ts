import assert from "node:assert/strict";
import { join } from "node:path";
import { loadCatalog } from "../../mod.ts";
import { writeFiles } from "../_gadgets.ts";
import { hashOf, lockText } from "../_lock.ts";
import { isAlive, serverArgs } from "../_mcp.ts";
import { orrery, orreryCommand, testEnvironment } from "../_run.ts";

const CALL = "!!!GADGET_START:test__echo\n!!!ARG:text\nhello\n!!!GADGET_END\n";

/** A project with the test server in these files, and its log. */
async function inProject(
  files: Readonly<Record<string, unknown>>,
  work: (run: (...args: readonly string[]) => ReturnType<typeof orrery>, root: string) => Promise<void>,
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-mcp-" }));
  try {
    const texts = Object.entries(files).map(([name, value]) =>
      [name, typeof value === "string" ? value : JSON.stringify(value)] as const
    );
    await writeFiles(root, { "a.calls": CALL, "orrery.yaml": "{}", ...Object.fromEntries(texts) });
    const env = { XDG_STATE_HOME: join(root, ".state"), TOKEN: "s3cret-value" };
    await work((...args) => orrery(args, { cwd: root, env }), root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const server = (...rest: readonly string[]) => ({
  command: Deno.execPath(),
  args: serverArgs("ok", ...rest),
});

Deno.test("mcp project: .mcp.json counts once the project is accepted, its server once it is trusted", async () => {
  const mcpJson = { mcpServers: { test: { ...server("log"), env: { KEY: "${TOKEN}" } } } };
  await inProject({ ".mcp.json": mcpJson }, async (run, root) => {
    const before = await run("run", "a.calls");
    assert.match(
      before.stderr,
      /\.mcp\.json counts as absent, since you have not accepted this project; --trust-project accepts it/,
    );
    assert.equal(before.code, 5);
    assert.match(before.stderr, /MCP server "test" \(\.mcp\.json\) counts as absent, .*add --trust-project/s);

    const accepted = await run("run", "a.calls", "--trust-project");
    assert.equal(accepted.code, 5);
    assert.match(accepted.stderr, /MCP server "test" is not trusted: it was not started \(command: /);
    assert.match(accepted.stderr, /--trust test/);
    assert.match(accepted.stderr, /environment: KEY; is given your variables: TOKEN/);
    await assert.rejects(Deno.stat(join(root, "log")), Deno.errors.NotFound);

    const trusted = await run("run", "a.calls", "--trust", "test", "-q");
    assert.deepEqual([trusted.code, trusted.stdout], [0, "echo: hello"], trusted.stderr);
    await assertGone(join(root, "log"));

    const denied = await run("run", "a.calls", "--trust", "test", `--deny-run=${Deno.execPath()}`);
    assert.match(denied.stderr, /MCP server "test": Running ".*" is not allowed: --deny-run=.* forbids it/);
    const noVariable = await run("run", "a.calls", "--trust", "test", "--deny-env=TOKEN");
    assert.match(
      noVariable.stderr,
      /\.mcp\.json:1:\d+: MCP server "test": the variable TOKEN is not set, or may not be read/,
    );

    await writeFiles(root, { ".mcp.json": JSON.stringify({ mcpServers: { test: server("other") } }) });
    const changed = await run("run", "a.calls", "--trust", "test");
    assert.match(changed.stderr, /\.mcp\.json counts as absent/);
    await assert.rejects(Deno.stat(join(root, "other")), Deno.errors.NotFound);
    for (const { stderr, stdout } of [before, accepted, denied, noVariable]) {
      assert.ok(!(stderr + stdout).includes("s3cret"));
    }
  });
});

Deno.test("mcp project: the command of a server may be a path through a link, as those of packages are", async () => {
  const start = server("log");
  const text = `#!/bin/sh\nexec '${start.command}' ${start.args.map((word) => `'${word}'`).join(" ")}\n`;
  const mcpJson = { mcpServers: { test: { command: "./bin/server" } } };
  await inProject({ ".mcp.json": mcpJson, "package/server.sh": text }, async (run, root) => {
    await Deno.chmod(join(root, "package/server.sh"), 0o755);
    await Deno.mkdir(join(root, "bin"));
    await Deno.symlink("../package/server.sh", join(root, "bin/server"));
    const trusted = await run("run", "a.calls", "--trust-project", "--trust", "test", "-q");
    assert.deepEqual([trusted.code, trusted.stdout], [0, "echo: hello"], trusted.stderr);
    await assertGone(join(root, "log"));
    for (const path of ["bin/server", "package/server.sh"]) {
      const denied = await run("run", "a.calls", "--trust", "test", `--deny-run=./${path}`);
      assert.match(denied.stderr, /MCP server "test": Running ".*" is not allowed: --deny-run=/, path);
    }
  });
});

/** The process of the test server that began to write this log last is no more. */
async function assertGone(log: string): Promise<void> {
  const pid = Number([...(await Deno.readTextFile(log)).matchAll(/pid (\d+)/g)].at(-1)?.[1]);
  assert.ok(pid > 0);
  for (let tries = 0; tries < 200 && await isAlive(pid); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.ok(!await isAlive(pid), `server ${pid} goes on`);
}

const ASKED = `
- when: "^hi$"
  text: |
    !!!GADGET_START:srv__echo:said
    !!!ARG:text
    hello
    !!!GADGET_END
- when: "echo: hello"
  text: the server said hello
`;

Deno.test("mcp project: ask calls the tools of a server, by name or all of them; the server ends with the run", async () => {
  const mcpJson = { mcpServers: { srv: server("log") } };
  await inProject({ ".mcp.json": mcpJson, "m.yml": ASKED }, async (run, root) => {
    const ask = (...flags: string[]) => run("ask", "hi", "-m", "script/m.yml", ...flags);
    const untrusted = await ask("--tools", "srv__echo", "--trust-project");
    assert.equal(untrusted.code, 5, untrusted.stderr);
    assert.match(
      untrusted.stderr,
      /error: MCP server "srv" is not trusted: it was not started .*; run with --trust srv\n/,
    );
    const all = await ask("--tools", "srv__*");
    assert.deepEqual([all.code, /--trust srv/.test(all.stderr)], [5, true], all.stderr);
    await assert.rejects(Deno.stat(join(root, "log")), Deno.errors.NotFound);

    for (const tools of ["srv__echo", "srv__*"]) {
      const asked = await ask("--tools", tools, "--trust", "srv");
      assert.deepEqual([asked.code, asked.stdout], [0, "the server said hello"], asked.stderr);
      assert.match(asked.stderr, /^ {2}log {3}srv {2}test server is running\n/);
      assert.match(asked.stderr, /ok {4}said {2}srv__echo/);
      await assertGone(join(root, "log"));
    }
    const quiet = await ask("--tools", "srv__echo", "--trust", "srv", "-q", "--record", "all.jsonl");
    assert.equal(quiet.stderr, "");
    await Deno.remove(join(root, "log"));
    for (const tools of [["--tools", "srv__*"], []]) {
      const replayed = await run("ask", "--replay", "all.jsonl", "-q", ...tools);
      assert.deepEqual([replayed.code, replayed.stdout], [0, "the server said hello"], replayed.stderr);
    }
    await assert.rejects(Deno.stat(join(root, "log")), Deno.errors.NotFound, "a replay starts no server");

    const noModel = await run("ask", "hi", "-m", "script/none.yml", "--tools", "srv__echo", "--trust", "srv");
    assert.notEqual(noModel.code, 0);
    await assert.rejects(Deno.stat(join(root, "log")), Deno.errors.NotFound, "it was not needed");
    const withoutTools = await ask("--trust", "srv", "-q");
    assert.deepEqual(
      [withoutTools.code, withoutTools.stderr],
      [0, ""],
      "its name is known, and it is not started",
    );
    const unknown = await ask("--tools", "srv__ecko", "--trust", "srv");
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /Unknown gadget "srv__ecko"\. Did you mean "srv__echo"\?/);
    await assertGone(join(root, "log"));
  });
});

Deno.test("mcp project: list and show start servers that are trusted, and end them; names alone start none", async () => {
  await inProject({ ".mcp.json": { mcpServers: { srv: server("log") } } }, async (run, root) => {
    const trust = ["--trust-project", "--trust", "srv"];
    const names = await run("list", "gadgets", "--names", ...trust);
    assert.deepEqual([names.code, names.stdout.includes("Calculate\n"), names.stdout.includes("srv")], [
      0,
      true,
      false,
    ]);
    await assert.rejects(Deno.stat(join(root, "log")), Deno.errors.NotFound);

    const listed = await run("list", "gadgets", ...trust);
    assert.match(listed.stdout, /\nsrv__echo +MCP server srv \(\.mcp\.json\) +ready +run \(.*\)\n/);
    await assertGone(join(root, "log"));
    const shown = await run("show", "gadget", "srv__echo", ...trust);
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /^srv__echo {2}\(MCP server srv \(\.mcp\.json\)\)\n\nGives its text back\./);
    await assertGone(join(root, "log"));
    const missing = await run("show", "gadget", "srv__ecko", ...trust);
    assert.equal(missing.code, 2);
    await assertGone(join(root, "log"));
    const untrusted = await run("show", "gadget", "srv__echo");
    assert.equal(untrusted.code, 5);
    assert.match(untrusted.stderr, /--trust srv/);
  });
});

Deno.test("mcp project: Ctrl-C ends a run and its server, also one that does not answer or ends for no signal", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  for (const [scenario, presses] of [["ok", 1], ["silent", 1], ["stubborn", 1], ["stubborn", 2]] as const) {
    const config = { mcpServers: { srv: { command: Deno.execPath(), args: serverArgs(scenario, "log") } } };
    const calls = "!!!GADGET_START:srv__slow\n!!!ARG:ms\n60000\n!!!GADGET_END\n";
    await inProject({ ".mcp.json": config, "b.calls": calls }, async (_run, root) => {
      const [program, ...args] = orreryCommand();
      const child = new Deno.Command(program, {
        args: [...args, "run", "b.calls", "--trust-project", "--trust", "srv", "--ephemeral"],
        cwd: root,
        clearEnv: true,
        env: { ...testEnvironment(), XDG_STATE_HOME: join(root, ".state") },
        stdin: "null",
        stdout: "null",
        stderr: "null",
      }).spawn();
      const wanted = scenario === "silent" ? "initialize" : "tools/call";
      for (
        let log = "";
        !log.includes(wanted);
        log = await Deno.readTextFile(join(root, "log")).catch(() => "")
      ) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      for (let n = 0; n < presses; n++) {
        child.kill("SIGINT");
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
      assert.equal((await child.status).code, 130, `${scenario} ${presses}`);
      await assertGone(join(root, "log"));
    });
  }
});

Deno.test("mcp project: what a server is given by .mcp.json is kept out of the journal", async () => {
  const env = { MY_KEY: "written-in-the-file" };
  const calls = "!!!GADGET_START:srv__env\n!!!GADGET_END\n";
  await inProject({
    ".mcp.json": { mcpServers: { srv: { ...server(), env } } },
    "b.calls": calls,
  }, async (run) => {
    const ran = await run("run", "b.calls", "-q", "--trust-project", "--trust", "srv", "--record", "r.jsonl");
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /"MY_KEY":"\[secret MY_KEY\]"/);
    const [id = ""] = (await run("list", "runs", "--names")).stdout.split("\n");
    const traced = await run("trace", id, "--json");
    for (const text of [ran.stdout, traced.stdout]) assert.ok(!text.includes(env.MY_KEY));
  });
});

Deno.test("mcp project: mcpServers of orrery.yaml, granted there, beside a gadget that has the name", async () => {
  const yaml = { mcpServers: { test: server() }, grants: { test: "trusted" } };
  await inProject({
    "orrery.yaml": yaml,
    "gadgets/own.js": 'export default { name: "test__echo", description: "Mine.", run: () => "mine" };',
  }, async (run) => {
    const listed = await run("list", "gadgets", "--json", "--trust-project", "--trust", "gadgets/own.js");
    const rows: readonly { name: string; state: string; source: unknown }[] = JSON.parse(listed.stdout);
    const names = rows.map(({ name }) => name);
    assert.ok(
      names.includes("test__echo") && names.includes("test__echo_092c79e8"),
      listed.stdout + listed.stderr,
    );
    assert.deepEqual(rows.find(({ name }) => name === "test__echo_092c79e8")?.source, {
      kind: "mcp",
      server: "test",
      file: "orrery.yaml",
    });
    const ran = await run("run", "a.calls", "--trust", "gadgets/own.js", "-q");
    assert.equal(ran.stdout, "mine", ran.stderr);
  });
});

Deno.test("mcp project: a server that fails says so where its gadget is called; others are not touched", async () => {
  const mcpJson = { mcpServers: { test: { command: "./not-here" } } };
  const other = "!!!GADGET_START:Calculate\n!!!ARG:expression\n1 + 1\n!!!GADGET_END\n";
  await inProject({ ".mcp.json": mcpJson, "b.calls": other }, async (run, root) => {
    const failed = await run("run", "a.calls", "--trust-project", "--trust", "test");
    assert.equal(failed.code, 1);
    assert.ok(
      failed.stderr.includes(`MCP server "test": Cannot run "${join(root, "not-here")}": no such file`),
      failed.stderr,
    );
    const fine = await run("run", "b.calls", "-q");
    assert.equal(fine.stdout.trim(), "2", fine.stderr);
  });
});

Deno.test("mcp project: a run waits for no server that it does not call", async () => {
  const silent = { command: "sleep", args: ["100"] };
  const calls = "!!!GADGET_START:Calculate\n!!!ARG:expression\n1 + 1\n!!!GADGET_END\n";
  const files = { "a.calls": calls, "a.md": "# A\n\n@return\nblock: a\n" };
  await inProject({ ".mcp.json": { mcpServers: { silent } }, ...files }, async (run) => {
    const start = performance.now();
    const ran = await run("run", "a.calls", "-q", "--trust-project", "--trust", "silent");
    assert.deepEqual([ran.code, ran.stdout], [0, "2\n"], ran.stderr);
    const document = await run("run", "a.md", "-q", "--out", "none", "--trust-project", "--trust", "silent");
    assert.equal(document.code, 0, document.stderr);
    assert.ok(performance.now() - start < 10_000, "a server that does not answer is given up after 10 s");
  });
});

Deno.test("mcp project: without servers nothing of lib/mcp is loaded", async () => {
  const loaded = async (root: string, ...flags: readonly string[]) => {
    const main = new URL("../../main.ts", import.meta.url).href;
    const config = new URL("../../deno.json", import.meta.url).pathname;
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--log-level=debug", `--config=${config}`, main, "list", "gadgets", ...flags],
      cwd: root,
      env: { XDG_STATE_HOME: join(root, ".state") },
    }).output();
    return /lib\/mcp\//.test(new TextDecoder().decode(stderr));
  };
  await inProject({ ".mcp.json": {} }, async (_run, root) => {
    assert.equal(await loaded(root), false);
    await writeFiles(root, { ".mcp.json": JSON.stringify({ mcpServers: { test: server() } }) });
    assert.equal(await loaded(root), false, "the project is not accepted");
    assert.equal(await loaded(root, "--trust-project"), true, "the log tells what is loaded");
  });
});

/** What a project is accepted for: its settings, and the servers of its `.mcp.json`. */
interface Asking {
  readonly settings?: object;
  readonly mcpJson?: object;
  readonly lock?: string;
  readonly says: "yes" | "no";
}

/** Opens a project in one folder as somebody who says this; gives the questions about the project, its folder as `/p`. */
async function askedToAccept(turns: readonly Asking[]): Promise<readonly string[]> {
  const asked: string[] = [];
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-mcp-" }));
  try {
    for (const { settings = {}, mcpJson = {}, lock, says } of turns) {
      await writeFiles(root, {
        "orrery.yaml": JSON.stringify(settings),
        ".mcp.json": JSON.stringify({ mcpServers: mcpJson }),
        ...(lock !== undefined && { "orrery.lock": lock }),
      });
      const ask = (question: string) => {
        if (!question.startsWith("The project in ")) return Promise.reject(new Error("no more is answered"));
        asked.push(question.replaceAll(root, "/p"));
        return Promise.resolve(says);
      };
      const catalog = await loadCatalog({ root, user: { canAnswer: true, ask } });
      await catalog.close?.();
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
  return asked;
}

Deno.test("mcp project: who is asked to accept a project sees its servers, without the values they are given", async () => {
  const settings = {
    mcpServers: { a: { command: "npx", args: ["-y", "x"], env: { KEY: "s3cret-value" } } },
  };
  const mcpJson = {
    b: { url: "https://example.com/mcp", headers: { Authorization: "Bearer s3cret-value" } },
  };
  assert.deepEqual(await askedToAccept([{ settings, mcpJson, says: "no" }]), [
    "The project in /p asks for this:\n" +
    '  mcpServers: a: the MCP server {"command":"npx","args":["-y","x"],"env":["KEY"]}\n' +
    '  .mcp.json: b: the MCP server {"url":"https://example.com/mcp","headers":["Authorization"]}\n' +
    "Accept it?",
  ]);
});

Deno.test("mcp project: who accepted it before sees what is new, also where that is a value that is not shown", async () => {
  const a = { command: "npx", env: { KEY: "s3cret-value" } };
  const words = '  mcpServers: a: the MCP server {"command":"npx","env":["KEY"]}\n';
  const grants = { Notes: { read: ["notes"] } };
  const read = "  let gadget Notes read notes and everything in it\n";
  const changed = "The project in /p has changed since you accepted it, and asks for this";
  const asked = await askedToAccept([
    { settings: { grants, mcpServers: { a } }, says: "yes" },
    { settings: { grants: { Notes: { read: ["notes"], write: ["out"] } }, mcpServers: { a } }, says: "no" },
    { settings: { grants, mcpServers: { a: { ...a, env: { KEY: "another" } } } }, says: "no" },
    { settings: { mcpServers: { a } }, says: "yes" },
    { settings: { grants, mcpServers: { a } }, says: "no" },
  ]);
  assert.deepEqual(asked.map((question) => question.replace(/\nAccept it\?$/, "\n")), [
    `The project in /p asks for this:\n${read}${words}`,
    `${changed}; + is new:\n${read}+ let gadget Notes write, change and delete out and everything in it\n${words}`,
    `${changed}; + is new:\n${read}${words.replace(" ", "+")}`,
    `${changed}:\n${words}Nothing of it is new; what else has changed asks for nothing.\n`,
    `${changed}; + is new:\n${read.replace(" ", "+")}${words}`,
  ]);
});

Deno.test("mcp project: who accepted it before sees whose code orrery.lock has anew", async () => {
  const lock = (text: string) =>
    lockText({
      name: "Fetch",
      file: "gadgets/fetch.ts",
      permissions: { net: ["a.com"], env: ["LANG"] },
      modules: { "gadgets/fetch.ts": hashOf(text) },
    }, { name: "Plain", file: "p.ts", permissions: {}, modules: { "p.ts": hashOf("p") } });
  const [, question = ""] = await askedToAccept([
    { lock: lock("1"), says: "yes" },
    { lock: lock("2"), says: "no" },
  ]);
  assert.match(question, /^\+ let gadget Fetch \(gadgets\/fetch\.ts\) connect to a\.com$/m);
});

Deno.test("mcp project: what servers are given is masked: what variables come to, and what is written as a key", async () => {
  const heard: (string | null)[] = [];
  await using http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const key = request.headers.get("authorization");
    heard.push(key);
    const { id, method } = await request.json();
    const results: Record<string, unknown> = {
      "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
      "tools/list": { tools: [{ name: "keys", inputSchema: { type: "object" } }] },
      "tools/call": {
        content: [{ type: "text", text: `${key}, ${key?.slice(7)}, ${request.headers.get("user-agent")}` }],
      },
    };
    return Response.json({
      jsonrpc: "2.0",
      id,
      result: { resultType: "complete", ...results[method] as object },
    });
  });
  const env = { OWN: "${TOKEN}", MODE: "production", MY_KEY: "written-too" };
  const headers = { Authorization: "Bearer written-key", "User-Agent": "a-plain-agent" };
  const web = { url: `http://127.0.0.1:${http.addr.port}/mcp`, headers };
  const call = (name: string) => `!!!GADGET_START:${name}:x\n!!!GADGET_END\n`;
  await inProject({
    ".mcp.json": { mcpServers: { srv: { ...server(), env }, web } },
    "env.calls": call("srv__env"),
    "web.calls": call("web__keys"),
  }, async (run) => {
    const flags = ["-q", "--trust-project", "--trust", "srv", "--trust", "web"];
    const given = await run("run", "env.calls", ...flags);
    assert.match(given.stdout, /"OWN":"\[secret TOKEN\]"/, given.stderr);
    assert.match(given.stdout, /"MODE":"production"/);
    assert.match(given.stdout, /"MY_KEY":"\[secret MY_KEY\]"/);
    const told = await run("run", "web.calls", ...flags);
    assert.match(
      told.stdout,
      /^\[secret Authorization\], \[secret Authorization\], a-plain-agent/,
      told.stderr,
    );
    assert.equal(heard.at(-1), "Bearer written-key");
  });
});

Deno.test("mcp project: a granted server over HTTP may be on loopback, and --deny-net holds", async () => {
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method, params } = await request.json();
    const results: Record<string, unknown> = {
      "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
      "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: `web: ${params?.arguments?.text}` }] },
    };
    return Response.json({
      jsonrpc: "2.0",
      id,
      result: { resultType: "complete", ...results[method] as object },
    });
  });
  try {
    const { port } = http.addr;
    const mcpJson = { mcpServers: { test: { type: "http", url: `http://127.0.0.1:${port}/mcp` } } };
    await inProject({ ".mcp.json": mcpJson }, async (run) => {
      const ran = await run("run", "a.calls", "-q", "--trust-project", "--trust", "test");
      assert.deepEqual([ran.code, ran.stdout], [0, "web: hello"], ran.stderr);
      const denied = await run("run", "a.calls", "--trust", "test", "--deny-net=127.0.0.1");
      assert.match(
        denied.stderr,
        /MCP server "test": Connecting to "127\.0\.0\.1:\d+" is not allowed: --deny-net=127\.0\.0\.1 forbids it/,
      );
    });
  } finally {
    await http.shutdown();
  }
});
