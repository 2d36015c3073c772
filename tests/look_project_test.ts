// What is in a project, as data: lists, one thing, checks, graphs. Nothing of it runs.

import assert from "node:assert/strict";
import { join } from "node:path";
import { NO_GRANTS } from "../lib/project/trust/grants.ts";
import type { Look } from "../lib/service/look/look.ts";
import { openService } from "../lib/service/open_service.ts";
import { ServiceError } from "../lib/service/service.ts";
import { testProject } from "./_project.ts";

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

async function withLook(work: (look: Look, root: string) => Promise<void>): Promise<void> {
  await using project = await testProject(FILES);
  await using service = await openService({
    folder: project.folder,
    ephemeral: true,
    grants: NO_GRANTS,
    notice: () => undefined,
  });
  await work(service.look, project.folder);
}

function refused(code: string, words = /./): (error: unknown) => boolean {
  return (error) => error instanceof ServiceError && error.code === code && words.test(error.message);
}

Deno.test("look: the catalogue has everything that can be run, with schemas", () =>
  withLook(async (look) => {
    const { gadgets, prompts, profiles, agents, documents, calls, models, problems } = await look.catalog();
    const read = gadgets.find(({ name }) => name === "ReadFile");
    assert.deepEqual(read?.source, { kind: "built-in" });
    assert.equal(read.state, "ready");
    assert.deepEqual(read.input?.required, ["path"]);
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

Deno.test("look: only what is wanted of the catalogue is looked at", () =>
  withLook(async (look) => {
    const { documents, calls, ...rest } = await look.catalog(["documents"]);
    assert.equal(documents.length, 1);
    assert.deepEqual([calls, ...Object.values(rest)].flat(), []);
  }));

Deno.test("look: a document with its outline, an agent with its steps, a prompt with its text", () =>
  withLook(async (look) => {
    const document = await look.document("notes.md");
    assert.deepEqual(document.blocks.map(({ id, line }) => ({ id, line })), [
      { id: "task", line: 8 },
      { id: "result", line: 12 },
    ]);
    assert.deepEqual(document.operationList.map(({ name, line, section }) => ({ name, line, section })), [
      { name: "llm", line: 14, section: "result" },
    ]);
    assert.equal(document.source, FILES["notes.md"]);
    const agent = await look.agent("help.agent.yml");
    assert.deepEqual(agent.stepList.map(({ id, depth, isHolding }) => ({ id, depth, isHolding })), [
      { id: "main", depth: 0, isHolding: false },
      { id: "hello", depth: 1, isHolding: false },
      { id: "ask", depth: 1, isHolding: true },
      { id: "again", depth: 1, isHolding: false },
    ]);
    const broken = await look.agent("broken.agent.yml");
    assert.match(broken.problem ?? "", /mesage/);
    assert.equal(broken.problems[0]?.line, 4);
    const prompt = await look.prompt("greet");
    assert.deepEqual([prompt.text, prompt.missing], [null, ["name", "day"]]);
    assert.equal(prompt.template, "Hello {name}, it is {day}.");
  }));

Deno.test("look: a prompt is rendered with values, and says which are missing", () =>
  withLook(async (look) => {
    const { text, contract } = await look.render("greet", { name: "Ada", day: "Monday" });
    assert.equal(text, "Hello Ada, it is Monday.");
    assert.deepEqual(contract, { kind: "text" });
    await assert.rejects(look.render("greet", { name: "Ada" }), refused("invalid", /values for day/));
    await assert.rejects(look.render("gret", {}), refused("not-found", /Did you mean "greet"/));
  }));

Deno.test("look: what is not there, or not of the project, is told apart from nothing else", () =>
  withLook(async (look, root) => {
    await Deno.symlink("/etc", join(root, "out"));
    for (const path of ["../x.md", "/etc/passwd", "a\\b.md", "a//b.md", ".orrery/x.md", "out/hosts.md"]) {
      await assert.rejects(look.document(path), refused("outside"), path);
      await assert.rejects(look.source(path), refused("outside"), path);
      await assert.rejects(look.graph(path), refused("outside"), path);
    }
    await assert.rejects(look.document("gone.md"), refused("not-found", /There is no document "gone\.md"/));
    await assert.rejects(look.document("sum.calls"), refused("not-found"));
    await assert.rejects(look.agent("notes.md"), refused("not-found"));
    await assert.rejects(look.source(".env"), refused("not-found"));
    await assert.rejects(look.gadget("ReedFile"), refused("not-found", /Did you mean "ReadFile"/));
    await assert.rejects(look.profile("scrib"), refused("not-found", /scribe/));
  }));

Deno.test("look: checks the project, a file, or a text that is nowhere", () =>
  withLook(async (look) => {
    const all = await look.check({});
    assert.deepEqual([...new Set(all.map(({ file }) => file))].sort(), [
      "broken.agent.yml",
      "notes.md",
      "sum.calls",
    ]);
    const calls = await look.check({ files: ["sum.calls"] });
    assert.deepEqual(calls.map(({ line, severity }) => ({ line, severity })), [{
      line: 5,
      severity: "error",
    }]);
    assert.match(calls[0]?.message ?? "", /depends on "gone"/);
    const posted = async (name: string, text: string) =>
      (await look.check({ text: { name, text } })).map(({ file, line, message }) =>
        `${file}:${line} ${message}`
      );
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
    await assert.rejects(posted("x.exe", ""), refused("invalid", /expected that of a document/));
    await assert.rejects(posted("../x.md", ""), refused("outside"));
    await assert.rejects(look.check({ files: ["gone.md"] }), refused("invalid", /it is not there/));
  }));

Deno.test("look: graphs of call files, documents and agents, as Mermaid and as a picture", () =>
  withLook(async (look) => {
    const calls = await look.graph("sum.calls");
    assert.match(calls.mermaid, /n0 --> n1/);
    assert.match(calls.svg, /^<svg /);
    assert.deepEqual(calls.problems.map(({ line }) => line), [5]);
    assert.match((await look.graph("notes.md")).mermaid, /llm/);
    const { mermaid, svg } = await look.graph("help.agent.yml");
    const edges = mermaid.split("\n").filter((line) => line.includes("-->")).map((line) => line.trim())
      .sort();
    assert.deepEqual(edges, ["n0 --> n1", "n1 --> n2", "n2 --> n0"]); // `repeat` begins its chain anew
    assert.match(svg, /^<svg /);
  }));
