// Commands over HTTP: off, unless the settings grant them and count.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { testProject } from "../_project.ts";
import type { TestProject } from "../_project.ts";
import { served } from "../_served_project.ts";
import type { Served } from "../_served_project.ts";
import { pause } from "../_waiting.ts";

const MCP_SERVER = fileURLToPath(new URL("../_mcp_server.ts", import.meta.url));

const GRANTS = `grants:
  RunCommand: { run: [echo, ./own.sh, /bin/pwd] }
  "@shell": trusted
`;
const PLAN = '# Plan\n\n@shell\nprompt: echo from a script\nuse-header: "# Said"\n\n@return\nblock: said\n';
const OUTER = "!!!GADGET_START:RunFile:x\n!!!ARG:file\ninner.md\n!!!GADGET_END\n";

const FILES = { "orrery.yaml": GRANTS, "plan.md": PLAN, "own.sh": "#!/bin/sh\necho own\n" };

async function projectOf(files: Readonly<Record<string, string>> = FILES): Promise<TestProject> {
  const project = await testProject(files);
  if ("own.sh" in files) await Deno.chmod(`${project.folder}/own.sh`, 0o755);
  return project;
}

/** What became of a program; the code of the error when it did not run. */
async function ran(server: Served, command: string, args: readonly string[] = []): Promise<unknown> {
  const { status, body } = await server.json("/v1/gadgets/RunCommand", {
    body: { input: { command, args } },
  });
  if (status === 200 && typeof body.result === "object" && body.result !== null && "stdout" in body.result) {
    return body.result.stdout;
  }
  return `${status} ${JSON.stringify(body)}`;
}

/** The value of a document; what the check of it says when it did not run. */
async function documentRun(server: Served, file = "plan.md"): Promise<string> {
  const { status, body } = await server.json("/v1/runs", { body: { file } });
  if (status !== 202) return `${status} ${JSON.stringify(body)}`;
  const events = await server.ask(`/v1/runs/${String(body.id)}/events`);
  await events.text();
  return JSON.stringify((await server.json(`/v1/runs/${String(body.id)}`)).body);
}

Deno.test("commands that the settings of an accepted project grant run over HTTP, and no others", async () => {
  await using project = await projectOf();
  await using server = await served(project, ["--trust-project"]);
  assert.equal(await ran(server, "echo", ["hello"]), "hello\n");
  assert.equal(await ran(server, "./own.sh"), "own\n");
  assert.equal(await ran(server, "/bin/pwd"), `${project.folder}\n`); // where it leads is what counts
  assert.match(String(await ran(server, "id")), /^403 .*Running .{2}id/);
  assert.match(String(await ran(server, "sh", ["-c", "echo no"])), /^403 /); // that of the scripts is theirs
  assert.match(await documentRun(server), /"value":"# Said\\nfrom a script/);
});

Deno.test("what a project grants itself counts for nothing before it was accepted, nor does an answer", async () => {
  await using project = await projectOf();
  await using server = await served(project);
  assert.match(String(await ran(server, "echo", ["hello"])), /^403 /);
  assert.match(String(await ran(server, "./own.sh")), /^403 /);
  assert.match(await documentRun(server), /^422 .*@shell needs run permission/);
  assert.match(server.told(), /grants count as absent, since you have not accepted this project/);
});

Deno.test("the grants of the user's own settings count in every project", async () => {
  await using project = await projectOf({
    "orrery.yaml": "documents: { shell: /bin/sh }\n",
    "plan.md": PLAN,
  });
  await project.write("../config/orrery/config.yaml", GRANTS);
  await using server = await served(project);
  assert.equal(await ran(server, "echo", ["hello"]), "hello\n");
  assert.match(await documentRun(server), /from a script/);
});

Deno.test("a grant of commands is none of scripts, and the other way round", async () => {
  await using project = await projectOf({
    ...FILES,
    "orrery.yaml": 'grants: { RunCommand: trusted, "@shell": { read: [.] } }\n',
  });
  await using server = await served(project, ["--trust-project", "--deny-read=own.sh"]);
  assert.equal(await ran(server, "echo", ["hello"]), "hello\n");
  assert.match(await documentRun(server), /^422 .*@shell needs run permission/);
});

Deno.test("what is denied stays denied, and the command line goes by the same grants", async () => {
  await using project = await projectOf();
  await using server = await served(project, ["--trust-project", "--deny-run=echo"]);
  assert.match(String(await ran(server, "echo", ["hello"])), /^403 .*--deny-run=echo forbids it/);
  const { stdout, stderr } = await project.run(["run", "plan.md", "--quiet"]); // accepted by then
  assert.match(stdout, /from a script/, stderr);
});

Deno.test("a document that a call runs may start what documents may, and its calls what calls may", async () => {
  await using project = await projectOf({
    ...FILES,
    "inner.md": PLAN,
    "outer.calls": OUTER,
    "narrow.md": `---\npermissions: { run: false }\n---\n${PLAN}`,
    "narrow.calls": OUTER.replace("inner.md", "narrow.md"),
  });
  await using server = await served(project, ["--trust-project"]);
  assert.match(await documentRun(server, "outer.calls"), /from a script/);
  assert.doesNotMatch(await documentRun(server, "narrow.calls"), /from a script/);
});

Deno.test("settings that were written since are not accepted, whatever the server was started with", async () => {
  await using project = await projectOf({
    ...FILES,
    "orrery.yaml": "grants: { RunCommand: { run: [echo] } }\n",
  });
  await using server = await served(project, ["--trust-project"]);
  assert.equal(await ran(server, "echo", ["1"]), "1\n");
  await project.write("orrery.yaml", "grants: { RunCommand: { run: [echo] } }\nlimits: { turns: 3 }\n");
  await pause(1100);
  assert.equal(await ran(server, "echo", ["2"]), "2\n");
  await project.write("orrery.yaml", "grants: { RunCommand: { run: [echo, id] } }\n");
  await pause(1100);
  assert.match(String(await ran(server, "id")), /^403 /);
});

/** What the page of a document says that it needs. */
async function needsOf(server: Served, file: string): Promise<string> {
  const page = await (await server.ask(`/documents/${file}`)).text();
  const list = /<ul class="needs">(.*?)<\/ul>/s.exec(page)?.[1] ?? page;
  return list.replaceAll(/<(?:p|\/li)\b[^>]*>/g, "\n").replaceAll(/<[^>]*>/g, "").replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .trim();
}

Deno.test("the page of a document says what it needs, and whether it has that here", async () => {
  await using project = await projectOf({
    ...FILES,
    "orrery.yaml": `${GRANTS}documents: { shell: /bin/sh }\n`,
    "docs/saving.md": `---
permissions: { net: [example.com:443], run: true }
---
${PLAN}
@llm
prompt: Write it down
save-to-file: out/a.md
`,
  });
  {
    await using server = await served(project);
    assert.equal(
      await needsOf(server, "docs/saving.md"),
      `to connect to example.com:443 (line 2) asked about
A run that may ask you asks before it does so; whoever starts this server can allow it with --allow-net=example.com:443.
to run commands with /bin/sh (line 2, 6) not granted here
No run of it begins here: the grants of the project's orrery.yaml count once whoever starts this server has accepted it (--trust-project).
to write docs/out/a.md (line 13) asked about
A run that may ask you asks before it does so; whoever starts this server can allow it with --allow-write=docs/out/a.md.`,
    );
    assert.doesNotMatch(await needsOf(server, "plan.md"), /--allow-run/);
    await project.write("orrery.yaml", "documents: { shell: /bin/sh }\n");
    await new Promise((resolve) => setTimeout(resolve, 1_200)); // settings are looked at once a second
    assert.equal(
      await needsOf(server, "plan.md"),
      `to run commands with /bin/sh (line 3) not granted here
No run of it begins here: grants of orrery.yaml have to name it: "@shell": { run: ["/bin/sh"] }.`,
    );
  }
  await project.write("orrery.yaml", `${GRANTS}documents: { shell: /bin/sh }\n`);
  await using server = await served(project, [
    "--trust-project",
    "--allow-write=docs/out",
    "--deny-net=example.com",
  ]);
  assert.equal(
    await needsOf(server, "docs/saving.md"),
    `to connect to example.com:443 (line 2) not granted here
No run of it begins here: whoever starts this server decides that, with --allow-net=example.com:443 and --deny-net.
to run commands with /bin/sh (line 2, 6) granted here
to write docs/out/a.md (line 13) granted here`,
  );
});

Deno.test("a gadget that cannot do what it was sent says so with 422; one that is gone is an error of the server", async () => {
  const dying = "export default { name: 'Dies', description: 'Test.', input: { type: 'object' }, " +
    "run: () => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)); } };\n";
  await using project = await testProject({
    "orrery.yaml": "limits: { gadget-memory-mb: 64 }\n",
    "gadgets/dies.js": dying,
    "text.txt": "one\n",
  });
  await project.write(
    "../config/orrery/config.yaml",
    "grants:\n  ../../project/Dies: trusted\n  RunCommand: { run: ['false'] }\n",
  );
  await using server = await served(project, ["--allow-write"]);
  const called = async (name: string, input: unknown): Promise<string> => {
    const { status, body } = await server.json(`/v1/gadgets/${name}`, { body: { input } });
    return `${status} ${String(body.code)} ${String(body.detail)}`;
  };
  assert.match(
    await called("Calculate", { expression: "1 +" }),
    /^422 failed Cannot read expression: .*column 4/,
  );
  assert.match(
    await called("EditFile", { path: "text.txt", old: "two", new: "2" }),
    /^422 failed .*not in the file/,
  );
  assert.match(await called("RunCommand", { command: "false" }), /^422 failed .*exit code 1/s);
  assert.match(await called("ReadFile", { path: "none.txt" }), /^422 failed .*none\.txt/);
  assert.match(await called("Calculate", {}), /^422 input /);
  assert.match(await called("Dies", {}), /^500 failed .*ran out of memory/);
});

Deno.test("a gadget of a module that is not allowed says how it would be here, on its page too, and no flag that serve does not take", async () => {
  await using project = await testProject({
    "orrery.yaml": "",
    "notes/one.md": "one\n",
    "other/two.md": "two\n",
    "gadgets/names.ts": `import { defineGadget } from "orrery";
export default defineGadget({
  name: "Names",
  description: "The names in a folder.",
  input: { type: "object", properties: { folder: { type: "string" } }, required: ["folder"] },
  permissions: { read: ["notes"] },
  run: async ({ folder }) => (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).join(),
});
`,
  });
  await using server = await served(project);
  const called = async (folder: string): Promise<string> => {
    const { status, body } = await server.json("/v1/gadgets/Names", {
      body: { input: { folder }, ask: true },
    });
    return `${status} ${JSON.stringify(status === 200 ? body.result : [body.detail, body.flag])}`;
  };
  const shown = async (): Promise<string> =>
    (await (await server.ask("/gadgets/Names")).text()).replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
  assert.equal(
    await called("notes"),
    `403 ${
      JSON.stringify([
        'Gadget "Names" (gadgets/names.ts) is not allowed: it wants to read notes and everything in it; orrery trust allow Names allows it for good',
        "",
      ])
    }`,
  );
  assert.match(await shown(), /not allowed here .*orrery trust allow Names/);
  assert.doesNotMatch(await shown(), /asks first|Call it/);
  const allowed = await project.run(["trust", "allow", "Names"]);
  assert.equal(allowed.code, 0, allowed.stderr);
  await pause(1100);
  assert.equal(await called("notes"), '200 "one.md"');
  assert.match(await shown(), /Call it/);
  assert.match(await called("other"), /^403 .*grants of orrery\.yaml have to name it, as Names: \{ read: \[/);
});

Deno.test("an MCP server that was not allowed names the command that allows it, and is reached after it", async () => {
  await using project = await testProject({
    "orrery.yaml": "{}\n",
    ".mcp.json": JSON.stringify({
      mcpServers: {
        test: { command: Deno.execPath(), args: ["run", "-A", "--no-config", "--no-lock", MCP_SERVER, "ok"] },
      },
    }),
  });
  await using server = await served(project, ["--trust-project"]);
  const call = () => server.json("/v1/gadgets/test__echo", { body: { input: { text: "hello" } } });
  const before = await call();
  assert.equal(before.status, 403);
  assert.match(String(before.body.detail), /was not started .*; orrery trust allow test$/);
  assert.equal(before.body.flag, "");
  const allowed = await project.run(["trust", "allow", "test"]);
  assert.equal(allowed.code, 0, allowed.stderr);
  await pause(1100);
  assert.deepEqual((await call()).body.result, "echo: hello");
});

Deno.test("a model that is a file is one of the project, for whoever asks over HTTP and for what stands in a document", async () => {
  const outside = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${outside}/replies.yml`, "- text: from outside\n");
    const model = `script/${outside}/replies.yml`;
    await using project = await testProject({
      "inside.yml": "- text: from inside\n",
      "plan.md": `---\nmodel: ${model}\n---\n# Plan\n\n@llm\nprompt: go\n`,
    });
    await Deno.symlink(outside, `${project.folder}/link`);
    await using server = await served(project);
    const said = async (name: string) =>
      JSON.stringify(
        (await server.json("/v1/chat/completions", {
          body: { model: name, messages: [{ role: "user", content: "x" }] },
        })).body,
      );
    assert.match(await said("script/inside.yml"), /from inside/);
    for (const kind of ["script", "replay"]) {
      for (const file of [`${outside}/replies.yml`, `${outside}/none.yml`, "link/replies.yml"]) {
        const answer = await said(`${kind}/${file}`);
        assert.match(answer, /Reading .* is not allowed: add --allow-read=/);
        assert.doesNotMatch(answer, /from outside|no such file/i);
      }
    }
    const checked = async (file: string) => {
      const text = `---\nmodel: script/${outside}/${file}\n---\n# A\n\n@llm\nprompt: go\n`;
      return (await server.json("/v1/check", { body: { name: "a.md", text } })).body;
    };
    assert.deepEqual(await checked("replies.yml"), await checked("none.yml"));
    const run = (...args: readonly string[]) =>
      project.run(["run", "plan.md", "--out", "none", "-q", ...args]);
    const refused = await run();
    assert.match(
      refused.stderr,
      /plan\.md:2:1: error: The model .* cannot be opened: Reading .* is not allowed/,
    );
    // Whoever allows the file, or names the model, has said so.
    for (const args of [[`--allow-read=${outside}`], ["--model", model]]) {
      const { code, stderr } = await run(...args);
      assert.deepEqual([code, stderr], [0, ""]);
    }
  } finally {
    await Deno.remove(outside, { recursive: true });
  }
});
