// MCP servers in `orrery.lock`.
import assert from "node:assert/strict";
import { join } from "node:path";
import { serverArgs } from "../_mcp.ts";
import { type TestProject, testProject } from "../_project.ts";
import { atTerminal, noTerminal } from "../_pty.ts";

const missing = await noTerminal();

/** The same command line whatever is served: that is in a file. */
async function serve(project: TestProject, scenario: string): Promise<void> {
  const script = JSON.stringify(import.meta.resolve("../_mcp_server.ts"));
  await project.write("server.ts", `Deno.args.splice(0, 9, "${scenario}");\nawait import(${script});\n`);
}

async function serverProject(settings: string): Promise<TestProject> {
  const project = await testProject({
    "a.calls": "!!!GADGET_START:Now\n!!!GADGET_END\n",
    ...wordsOf(settings),
  });
  await serve(project, "ok");
  return project;
}

function wordsOf(file: string, args: readonly string[] = []): Readonly<Record<string, string>> {
  const command = {
    command: Deno.execPath(),
    args: ["run", "-A", "--no-config", "--no-lock", "server.ts", ...args],
  };
  return { [file]: JSON.stringify({ mcpServers: { test: command } }) };
}

/** A run at a terminal: what was asked, and how it ended. */
async function answered(
  project: TestProject,
  answers: readonly (readonly [question: string, answer: string])[],
) {
  const person = atTerminal(["run", "a.calls", "--trust-project"], { cwd: project.folder, env: project.env });
  const asked: string[] = [];
  for (const [question, answer] of answers) {
    asked.push((await person.until(question)).replaceAll("\r", ""));
    await person.type(`${answer}\n`);
  }
  return { asked, ...await person.end() };
}

Deno.test("server lock: always writes it, a change shows what it was, --frozen makes it an error", {
  ignore: missing !== undefined,
}, async () => {
  await using project = await serverProject(".mcp.json");
  const frozenBefore = await project.run(["run", "a.calls", "--trust-project", "--frozen"]);
  assert.equal(frozenBefore.code, 2, frozenBefore.stderr);
  assert.match(
    frozenBefore.stderr,
    /--frozen: MCP server "test" is not as orrery\.lock has it: it is not in it/,
  );

  const first = await answered(project, [["Allow it?", "always"]]);
  assert.equal(first.code, 0, first.screen);
  const [server] = JSON.parse(await project.read("orrery.lock")).mcpServers;
  assert.equal(server.name, "test");
  assert.deepEqual(server.command, [Deno.execPath(), "run", "-A", "--no-config", "--no-lock", "server.ts"]);
  assert.ok(Object.keys(server.tools).includes("echo"));
  await assert.rejects(Deno.stat(join(project.env.XDG_STATE_HOME ?? "", "orrery", "mcp_servers.json")));
  // The lock is accepted with the project: scripts may use it from here on.
  const script = await project.run(["list", "gadgets"]);
  assert.match(script.stdout, /test__echo/);
  assert.match((await project.run(["trust"])).stdout, /test +orrery\.lock .*server\.ts/);
  assert.equal((await project.run(["run", "a.calls", "--frozen"])).code, 0);

  await serve(project, "changed");
  const frozen = await project.run(["run", "a.calls", "--frozen"]);
  assert.equal(frozen.code, 2, frozen.stderr);
  assert.match(frozen.stderr, /orrery\.lock:\d+:\d+/);
  assert.match(
    frozen.stderr,
    /"test" is not as orrery\.lock has it: add is gone; .*echo is described differently/,
  );
  const trusted = await project.run(["run", "a.calls", "--frozen", "--trust", "test"]);
  assert.equal(trusted.code, 2, "nor with --trust");
  await project.write("a.calls", "!!!GADGET_START:test__echo\n!!!ARG:text\nhi\n!!!GADGET_END\n"); // only who calls it starts it
  const tools = await answered(project, [["Use them?", "always"]]);
  assert.match(tools.asked[0] ?? "", /are not as they were when you allowed it:\n.*\n? {2}add is gone/s);
  assert.equal((await project.run(["run", "a.calls", "--frozen"])).code, 0);

  for (const [file, text] of Object.entries(wordsOf(".mcp.json", ["more"]))) await project.write(file, text);
  const other = await answered(project, [["Allow it?", "deny"]]);
  assert.match(
    (other.asked[0] ?? "").replaceAll(/\n(?! {2}|Now|Allow)/g, ""),
    /It is not as it was when you allowed it:\n {2}it was the command: .*server\.ts\nNow it is this:\n {2}command: .*server\.ts more/s,
  );
  assert.match(
    (await project.run(["run", "a.calls", "--frozen"])).stderr,
    /"test" is not as orrery\.lock has it: it was the command: .*server\.ts/,
  );
  assert.equal((await project.run(["trust", "deny", "test"])).code, 0);
  await assert.rejects(project.read("orrery.lock"), Deno.errors.NotFound);
});

Deno.test(
  "server lock: what a user had allowed before counts as it did, and a server of the user's own stays there",
  {
    ignore: missing !== undefined,
  },
  async () => {
    await using project = await testProject({ "a.calls": "!!!GADGET_START:Now\n!!!GADGET_END\n" });
    const args = serverArgs("ok");
    const own = join(project.env.XDG_CONFIG_HOME ?? "", "orrery");
    await Deno.mkdir(own, { recursive: true });
    await Deno.writeTextFile(
      join(own, "config.yaml"),
      JSON.stringify({ mcpServers: { mine: { command: Deno.execPath(), args } } }),
    );
    assert.equal((await answered(project, [["Allow it?", "always"]])).code, 0);
    await assert.rejects(project.read("orrery.lock"), Deno.errors.NotFound);
    assert.equal((await project.run(["run", "a.calls", "--frozen"])).code, 0);

    await project.write(
      ".mcp.json",
      JSON.stringify({ mcpServers: { test: { command: Deno.execPath(), args } } }),
    );
    const list = join(project.env.XDG_STATE_HOME ?? "", "orrery", "mcp_servers.json");
    const { servers } = JSON.parse(await Deno.readTextFile(list));
    const root = await Deno.realPath(project.folder);
    const test = { ...servers[0], root, name: "test" }; // it is the same command
    assert.notDeepEqual(test.tools, {});
    await Deno.writeTextFile(list, JSON.stringify({ version: 1, servers: [...servers, test] }));
    const { stdout } = await project.run(["list", "gadgets", "--trust-project"]);
    assert.match(stdout, /mine__echo/);
    assert.match(stdout, /test__echo/);
  },
);

Deno.test("orrery trust allow SERVER: starts it once, and keeps it where it belongs; one that is gone can be denied", async () => {
  await using project = await serverProject(".mcp.json");
  const refused = await project.run(["trust", "allow", "test"]);
  assert.deepEqual([refused.code, refused.stdout], [5, ""]);
  assert.match(refused.stderr, /add --trust-project/);
  const wrong = await project.run(["trust", "allow", "tset", "--trust-project"]);
  assert.equal(wrong.code, 2);
  assert.match(
    wrong.stderr,
    /No gadget or MCP server for tset: there is no gadget file here, and the servers test\. Did you mean "test"\?/,
  );
  const allowed = await project.run(["trust", "allow", "test"]);
  assert.equal(allowed.code, 0, allowed.stderr);
  assert.match(
    allowed.stdout,
    /^The MCP server test is allowed for good, with its tools as they are: .*test__echo/,
  );
  assert.equal(JSON.parse(await project.read("orrery.lock")).mcpServers[0]?.name, "test");
  assert.match((await project.run(["list", "gadgets", "--frozen"])).stdout, /test__echo +.* ready/);

  // As the user's own settings have it, it is no matter of the project's lock.
  const own = join(project.env.XDG_CONFIG_HOME ?? "", "orrery", "config.yaml");
  await Deno.mkdir(join(own, ".."), { recursive: true });
  const mine = { mine: { command: Deno.execPath(), args: serverArgs("ok") } };
  await Deno.writeTextFile(own, JSON.stringify({ mcpServers: mine }));
  const lock = await project.read("orrery.lock");
  const answered = await project.run(["trust", "allow", "mine"]);
  assert.match(answered.stdout, /^The MCP server mine is allowed for good/, answered.stderr);
  assert.equal(await project.read("orrery.lock"), lock);
  assert.match((await project.run(["list", "gadgets"])).stdout, /mine__echo +.* ready/);

  const changed = { mine: { command: Deno.execPath(), args: [...serverArgs("ok"), "more"] } };
  await Deno.writeTextFile(own, JSON.stringify({ mcpServers: changed }));
  assert.match(
    (await project.run(["trust"])).stdout,
    /mine +your answer +it is not as it was when you allowed it/,
  );

  await Deno.remove(own);
  await project.write(".mcp.json", "{}");
  const rows = JSON.parse((await project.run(["trust", "--json"])).stdout);
  const shown = rows.map(({ name, reasons }: { name: string; reasons: string[] }) => [name, reasons.at(-1)]);
  assert.deepEqual(shown, [["test", "no settings have it any more"], [
    "mine",
    "no settings have it any more",
  ]]);
  const denied = await project.run(["trust", "deny", "mine", "test"]);
  assert.equal(denied.stdout, "mine is not allowed any more\ntest is not allowed any more\n", denied.stderr);
  assert.equal((await project.run(["trust", "--json"])).stdout, "[]\n");
});

const CALLS_IT = "!!!GADGET_START:test__echo\n!!!ARG:text\nhi\n!!!GADGET_END\n";

for (
  const [file, settings] of [
    [".mcp.json", (test: object) => JSON.stringify({ mcpServers: { test } })],
    ["orrery.yaml", (test: object) => JSON.stringify({ mcpServers: { test } })],
  ] as const
) {
  Deno.test(`an MCP server of ${file} that is not as it was when it was allowed is asked for again, and orrery trust says so`, async () => {
    const args = serverArgs("ok");
    const command = Deno.execPath();
    await using project = await testProject({
      "b.calls": CALLS_IT,
      [file]: settings({ command, args }),
    });
    assert.equal((await project.run(["trust", "allow", "test", "--trust-project"])).code, 0);
    const allowed = await project.run(["run", "b.calls"]);
    assert.deepEqual([allowed.code, allowed.stdout], [0, "echo: hi"], allowed.stderr);
    const [before] = JSON.parse((await project.run(["trust", "--json"])).stdout);
    assert.deepEqual([before.name, before.counts, before.reasons], ["test", true, []]);

    const changes: readonly (readonly [server: object, reason: RegExp])[] = [
      [{ command: "another", args }, /^it was the command: .*_mcp_server\.ts ok$/],
      [{ command, args: [...args, "more"] }, /^it was the command: .*_mcp_server\.ts ok$/],
      [
        { command, args, env: { MODE: "other" } },
        /^its environment, or what its variables come to, changed$/,
      ],
      [{ url: "http://127.0.0.1:9/mcp" }, /^it was the command: .*_mcp_server\.ts ok$/],
    ];
    for (const [server, reason] of changes) {
      await project.write(file, settings(server));
      const [row] = JSON.parse((await project.run(["trust", "--json"])).stdout);
      assert.equal(row.counts, false);
      assert.match(row.reasons.at(-1), reason);
      // The project itself is another one now: its servers count as absent, which a script is told with its flag.
      const again = await project.run(["run", "b.calls"]);
      assert.deepEqual([again.code, again.stdout], [5, ""], again.stderr);
      assert.match(
        again.stderr,
        /MCP server "test" \(.*\) counts as absent, .*refused; to allow it, add --trust-project/s,
      );
      const named = await project.run(["run", "b.calls", "--trust", "test"]);
      assert.equal(named.code, 5, named.stderr);
      assert.match(named.stderr, /refused; to allow it, add --trust-project/);
    }
    // Whoever accepts the project has not allowed the server yet.
    await project.write(file, settings({ command, args: [...args, "more"] }));
    const accepted = await project.run(["run", "b.calls", "--trust-project"]);
    assert.deepEqual([accepted.code, accepted.stdout], [5, ""], accepted.stderr);
    assert.match(accepted.stderr, /not trusted any more, since it is not as it was .*add --trust=test/s);
    const [row] = JSON.parse((await project.run(["trust", "--json"])).stdout);
    assert.match(row.reasons.join("\n"), /^it was the command: .*_mcp_server\.ts ok$/);
    assert.match((await project.run(["trust"])).stdout, /test +orrery\.lock +it was the command/);

    await project.write(file, settings({ command, args }));
    assert.equal((await project.run(["run", "b.calls", "--trust-project"])).code, 0);
  });
}
