// What is in a project, as data: lists, one thing, checks, graphs, over HTTP and on the command line. Nothing of it runs.

import assert from "node:assert/strict";
import { join } from "node:path";
import { refusalOf, type RunJson } from "./_http_runs.ts";
import { served, type ServedHere } from "./_served_project.ts";

const FILES = {
  "orrery.yaml": `models: { default: fast, aliases: { fast: script/echo } }
agents: [{ name: scribe, model: fast, system: Write little., modelArgs: { apiKey: sk-hidden } }]
`,
  "notes.md": `---
title: Notes
inputs:
  - { name: topic, description: About what. }
  - { name: tone, default: dry }
---

# Task {id=task}

Write about it.

## Result

@llm
block: task
use-header: none
`,
  "read.me.md": "# Not a document\n\nOnly text.\n",
  "sum.calls": `!!!GADGET_START:Calculate:two
!!!ARG:expression
1 + 1
!!!GADGET_END
!!!GADGET_START:Wait:rest:two,gone
!!!ARG:seconds
0
!!!GADGET_END
`,
  "help.agent.yml": `version: "0.1"
structure:
  id: help
  action:
    id: main
    chain:
      - { id: hello, message: { message: Hello. } }
      - { id: ask, message: { message: "What is it?", hold: true } }
      - { id: again, flow: { action: repeat } }
`,
  "broken.agent.yml": 'version: "0.1"\nstructure:\n  id: broken\n  action: { id: a, mesage: x }\n',
  "prompts/greet.prompt.md": "---\ndescription: Greets. Kindly.\n---\nHello {name}, it is {day}.\n",
  "prompts/pick.prompt": `---
input:
  schema: { count: integer, mode?(enum): [fast, slow] }
  default: { mode: fast }
---
Take {{count}} {{mode}}
`,
  ".env": "SECRET=1\n",
};

/** What can be run, by kind. */
type CatalogJson = {
  readonly [
    kind in "gadgets" | "prompts" | "profiles" | "agents" | "documents" | "calls" | "models" | "problems"
  ]: readonly RunJson[];
};

async function withProject(work: (server: ServedHere) => Promise<void>): Promise<void> {
  await using server = await served(FILES, ["--ephemeral"]);
  await work(server);
}

/** What `orrery show KIND NAME --json` prints. */
async function shown({ project }: ServedHere, kind: string, name: string): Promise<RunJson> {
  const { code, stdout, stderr } = await project.run(["show", kind, name, "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

Deno.test("look: the catalogue has everything that can be run, with schemas", () =>
  withProject(async (server) => {
    const { gadgets, prompts, profiles, agents, documents, calls, models, problems } =
      (await server.json("/v1/catalog")).body as CatalogJson;
    const read = gadgets.find(({ name }) => name === "ReadFile");
    assert.deepEqual(read?.source, { kind: "built-in" });
    assert.equal(read?.state, "ready");
    assert.deepEqual(read?.input.required, ["path"]);
    assert.deepEqual(prompts.map(({ path, answer, variables }) => ({ path, answer, variables })), [
      { path: "greet", answer: "text", variables: ["name", "day"] },
      { path: "pick", answer: "text", variables: ["count", "mode"] },
    ]);
    assert.deepEqual(prompts[0]?.input, {
      type: "object",
      properties: { name: { type: "string" }, day: { type: "string" } },
      required: ["name", "day"],
    });
    assert.deepEqual(prompts[1]?.input.required, ["count"]);
    assert.equal(profiles[0]?.name, "scribe");
    assert.deepEqual(profiles[0]?.modelArgs, { apiKey: "(hidden)" });
    assert.deepEqual(agents.map(({ file, id, steps }) => ({ file, id, steps })), [
      { file: "broken.agent.yml", id: undefined, steps: undefined },
      { file: "help.agent.yml", id: "help", steps: 4 },
    ]);
    assert.match(agents[0]?.problem ?? "", /^broken\.agent\.yml:4:\d+: error: /);
    assert.deepEqual(documents.map(({ file, title, operations }) => ({ file, title, operations })), [
      { file: "notes.md", title: "Notes", operations: 1 },
    ]);
    assert.deepEqual(documents[0]?.input, {
      type: "object",
      properties: {
        topic: { type: "string", description: "About what." },
        tone: { type: "string", default: "dry" },
      },
      required: ["topic"],
      additionalProperties: false,
    });
    assert.deepEqual(calls, [{ file: "sum.calls" }]);
    const fast = models.find(({ id }) => id === "fast");
    assert.deepEqual(fast, {
      id: "fast",
      kind: "alias",
      usable: true,
      provider: "script",
      model: "script/echo",
      isDefault: true,
    });
    assert.equal(models.filter(({ usable, provider }) => usable && provider === "anthropic").length, 0);
    assert.deepEqual(problems, []);
  }));

Deno.test("look: a document with its outline, an agent with its steps, a prompt with its text", () =>
  withProject(async (server) => {
    const document = await shown(server, "document", "notes.md");
    assert.deepEqual(document.blocks.map(({ id, line }: RunJson) => ({ id, line })), [
      { id: "task", line: 8 },
      { id: "result", line: 12 },
    ]);
    assert.deepEqual(
      document.operations.map(({ name, line, section }: RunJson) => ({ name, line, section })),
      [{ name: "llm", line: 14, section: "result" }],
    );
    const agent = await shown(server, "agent", "help.agent.yml");
    assert.deepEqual(agent.steps.map(({ id, depth, isHolding }: RunJson) => ({ id, depth, isHolding })), [
      { id: "main", depth: 0, isHolding: false },
      { id: "hello", depth: 1, isHolding: false },
      { id: "ask", depth: 1, isHolding: true },
      { id: "again", depth: 1, isHolding: false },
    ]);
    const prompt = await shown(server, "prompt", "greet");
    assert.deepEqual([prompt.text, prompt.missing], [null, ["name", "day"]]);
    assert.equal(prompt.template, "Hello {name}, it is {day}.");
    const page = async (path: string) => (await server.ask(path)).text();
    assert.match(await page("/documents/notes.md"), /Write about it\./);
    assert.match(await page("/agents/broken.agent.yml"), /mesage/);
  }));

Deno.test("look: a prompt is rendered with values, and says which are missing", () =>
  withProject(async (server) => {
    const path = "/v1/prompts/greet/render";
    const { body } = await server.json(path, { body: { input: { name: "Ada", day: "Monday" } } });
    assert.equal(body.text, "Hello Ada, it is Monday.");
    assert.deepEqual(body.contract, { kind: "text" });
    const missing = await refusalOf(server, path, { input: { name: "Ada" } });
    assert.equal(missing.code, "400 invalid");
    assert.match(missing.detail, /values for day/);
    const unknown = await refusalOf(server, "/v1/prompts/gret/render", {});
    assert.equal(unknown.code, "404 not-found");
    assert.match(unknown.detail, /Did you mean "greet"/);
  }));

Deno.test("look: what is not there, or not of the project, is told apart from nothing else", () =>
  withProject(async (server) => {
    await Deno.symlink("/etc", join(server.project.folder, "out"));
    const said = async (path: string): Promise<string> => {
      const answer = await server.ask(path, { headers: { accept: "text/html" } });
      return `${answer.status} ${await answer.text()}`;
    };
    for (const path of ["../x.md", "/etc/passwd", "a\\b.md", "a//b.md", ".orrery/x.md", "out/hosts.md"]) {
      for (const page of ["documents", "graphs"]) {
        assert.match(await said(`/${page}/${encodeURIComponent(path)}`), /^(403|400) /, `${page} ${path}`);
      }
    }
    for (
      const [path, words] of [
        ["/documents/gone.md", /^404 [^]*There is no document &quot;gone\.md&quot;/],
        ["/documents/sum.calls", /^404 /],
        ["/agents/notes.md", /^404 /],
        ["/gadgets/ReedFile", /^404 [^]*Did you mean &quot;ReadFile&quot;/],
      ] as const
    ) assert.match(await said(path), words);
    const profile = await server.project.run(["show", "profile", "scrib"]);
    assert.match(profile.stderr, /scribe/);
  }));

Deno.test("look: checks the project, a file, or a text that is nowhere", () =>
  withProject(async (server) => {
    const check = async (body: unknown): Promise<readonly RunJson[]> => {
      const { body: { problems } } = await server.json("/v1/check", { body });
      assert.ok(Array.isArray(problems));
      return problems;
    };
    const all = await check({});
    assert.deepEqual([...new Set(all.map(({ file }) => file))].sort(), [
      "broken.agent.yml",
      "notes.md",
      "sum.calls",
    ]);
    const calls = await check({ files: ["sum.calls"] });
    assert.deepEqual(calls.map(({ line, severity }) => ({ line, severity })), [{
      line: 5,
      severity: "error",
    }]);
    assert.match(calls[0]?.message ?? "", /depends on "gone"/);
    const posted = async (name: string, text: string) =>
      (await check({ name, text })).map(({ file, line, message }) => `${file}:${line} ${message}`);
    assert.match((await posted("new.md", "# A\n\n@llm\nblck: a\n")).join("\n"), /^new\.md:4 .*blck/m);
    assert.match(
      (await posted("x.calls", "!!!GADGET_START:Gone\n!!!GADGET_END\n")).join("\n"),
      /^x\.calls:1 .*Gone/,
    );
    assert.match(
      (await posted("a/b.agent.yml", FILES["broken.agent.yml"])).join("\n"),
      /^a\/b\.agent\.yml:4 .*mesage/,
    );
    assert.match(
      (await posted("p.prompt.md", "---\ntols: [a]\n---\nHi {na me}\n")).join("\n"),
      /^p\.prompt\.md:2 .*tols/,
    );
    assert.match(
      (await posted("p.prompt", "---\ninput: 5\n---\nHi {{#if}}\n")).join("\n"),
      /^p\.prompt:\d+ /,
    );
    const refused = async (body: unknown) => {
      const { code, detail } = await refusalOf(server, "/v1/check", body);
      return `${code}: ${detail}`;
    };
    assert.match(await refused({ name: "x.exe", text: "" }), /^400 invalid: .*expected that of a document/);
    assert.match(await refused({ name: "../x.md", text: "" }), /^403 outside/);
    assert.match(await refused({ files: ["gone.md"] }), /^400 invalid: .*it is not there/);
  }));

Deno.test("look: graphs of call files, documents and agents, as Mermaid and as a picture", () =>
  withProject(async (server) => {
    const mermaid = async (file: string) =>
      (await server.project.run(["graph", file, "--format", "mermaid"])).stdout;
    const svg = async (file: string) => (await server.ask(`/graphs/${file}`)).text();
    assert.match(await mermaid("sum.calls"), /n0 --> n1/);
    assert.match(await mermaid("notes.md"), /llm/);
    // Of an agent the page has a picture: `repeat` begins its chain anew.
    const arrows = (await svg("help.agent.yml")).match(/marker-end=/g);
    assert.equal(arrows?.length, 3);
    for (const file of ["sum.calls", "notes.md", "help.agent.yml"]) assert.match(await svg(file), /^<svg /);
  }));
