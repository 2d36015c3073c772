// Documents in programs: parseDocument, printDocument, checkDocument and runDocument of mod.ts.

import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  checkDocument,
  defineGadget,
  DocumentCheckError,
  fakeModel,
  memoryFiles,
  parseDocument,
  printDocument,
  runDocument,
} from "../mod.ts";
import type { DocumentWorld, RunDocumentOptions, RunEvent, Shell } from "../mod.ts";
import { testProject } from "./_project.ts";

type End = Extract<RunEvent, { type: "run-end" }>;

const world = (
  files: Readonly<Record<string, string>>,
  more: Partial<DocumentWorld> = {},
): DocumentWorld => ({
  root: "/project",
  files: memoryFiles(files),
  ...more,
});

async function run(
  file: string | URL,
  options: RunDocumentOptions,
): Promise<{ readonly events: readonly RunEvent[]; readonly end: End }> {
  const events: RunEvent[] = [];
  for await (const event of runDocument(file, options)) events.push(event);
  const end = events.at(-1);
  assert.ok(end?.type === "run-end", "the last event is run-end");
  return { events, end };
}

async function refusal(file: string, options: RunDocumentOptions): Promise<DocumentCheckError> {
  try {
    await run(file, options);
  } catch (error) {
    assert.ok(error instanceof DocumentCheckError, String(error));
    return error;
  }
  assert.fail("the document ran");
}

/** A shell that answers every script, and keeps what it was given. */
function fakeShell(outputs: Readonly<Record<string, string>>): Shell & { readonly scripts: string[] } {
  const scripts: string[] = [];
  return {
    scripts,
    run(_command, { args = [] }) {
      const script = args.at(-1) ?? "";
      scripts.push(script);
      const stdout = outputs[script] ?? "";
      return Promise.resolve({
        exitCode: 0,
        stdout,
        stderr: "",
        truncated: false,
        dropped: 0,
        stopped: false,
      });
    },
  };
}

const ALLOW_ALL = { permit: () => undefined };

Deno.test("a tree prints as the text it was made of", () => {
  const text =
    "---\ntitle: x\n---\r\n# A {id=a}\n\ntext\n\n\n@shell\nprompt: |\n  a\n\n  b\n\n```\n@llm\n```";
  const tree = parseDocument(text, { file: "a.md" });
  assert.equal(printDocument(tree), text);
  assert.equal(tree.file, "a.md");
  assert.deepEqual(tree.nodes.map(({ kind }) => kind), ["front-matter", "heading", "operation", "text"]);
});

Deno.test("a run ends with the value and the text of the result document; no file is changed", async () => {
  const text = "# Q\n\nWhich?\n\n@llm\nprompt: Answer.\n\n@return\nprompt: done\n";
  const place = world({ "a.md": text });
  const model = fakeModel(["Blue."]);
  const { events, end } = await run("a.md", { world: place, model });
  assert.deepEqual([end.status, end.value], ["done", "# Return block\ndone"]);
  assert.equal(
    end.document,
    "# Q\n\nWhich?\n\n@llm\nprompt: Answer.\n\n# LLM response block\nBlue.\n\n@return\nprompt: done\n",
  );
  assert.deepEqual(events[0]?.type === "run-start" && [events[0].kind, events[0].file], ["document", "a.md"]);
  assert.deepEqual((await place.files.list(".")).map(({ name }) => name), ["a.md"]);
  assert.equal(await place.files.readText("a.md"), text);
});

Deno.test("the input stands before the first block: prompt, values and blocks of other files", async () => {
  const place = world({
    "a.md": "---\ninputs:\n  - name: topic\n---\n@llm\nblock: [note, topic, input-parameters]\n",
    "notes.md": "# Note {id=note}\nBe kind.\n\n# Other\nno\n",
  });
  const model = fakeModel(["ok"]);
  const input = { prompt: "Go.", values: { topic: "heat" }, blocks: ["notes.md#note"] };
  const { end } = await run("a.md", { world: place, model, input });
  assert.equal(end.status, "done");
  const said = model.requests[0]?.messages.filter(({ role }) => role === "user").map(({ content }) =>
    content
  );
  assert.deepEqual(said, [
    "# Note {id=note}\nBe kind.",
    "## topic {id=topic}\nheat",
    "# Input Parameters {id=input-parameters}\nGo.",
  ]);
});

Deno.test("a wrong block of the input is told at once", async () => {
  const options = { world: world({ "a.md": "x\n" }), input: { blocks: ["notes"] } };
  await assert.rejects(run("a.md", options), {
    name: "TypeError",
    message: '"notes" is no block: expected FILE#REF, such as "notes.md#summary"',
  });
});

Deno.test("what is wrong is thrown before anything runs, all of it", async () => {
  const model = fakeModel(["never"]);
  const place = world({
    "a.md": "@llm\nprompt: x\n\n@shell\nprompt: date\n\n@goto\nblock: nowhere\n\n@llm\npromt: y\n",
  });
  const error = await refusal("a.md", { world: place, model, out: "a.ctx" });
  assert.deepEqual(
    error.problems.map(({ file, line, column, severity, message }) =>
      `${file}:${line}:${column}: ${severity}: ${message}`
    ),
    [
      "a.md:4:1: error: @shell needs run permission (--allow-run)",
      'a.md:11:1: error: @llm has no parameter "promt" (did you mean "prompt"?)',
    ],
  );
  assert.match(error.message, /^a\.md:4:1: error: @shell needs run permission \(--allow-run\)\na\.md:11:1: /);
  assert.equal(model.requests.length, 0);
  await assert.rejects(place.files.readText("a.ctx"));
});

Deno.test("checkDocument tells the same, and warnings", async () => {
  const place = world({ "a.md": "# A\n\n@llm\npromt: x\n\n```\nopen\n" });
  assert.deepEqual(
    (await checkDocument("a.md", { world: place })).map((
      { severity, line, message },
    ) => [severity, line, message]),
    [
      ["error", 4, '@llm has no parameter "promt" (did you mean "prompt"?)'],
      ["warning", 6, "this fence is never closed: everything below it is plain text"],
    ],
  );
  assert.deepEqual(await checkDocument("b.md", { world: place }), [{
    file: "",
    line: 0,
    column: 1,
    severity: "error",
    message: 'file not found: "b.md"',
  }]);
});

Deno.test("a world without a policy reads its root and nothing else", async () => {
  const text = "@import\nfile: ../secret.md\n\n@llm\nprompt: x\nsave-to-file: out.md\n";
  const place = world({ "a.md": text, "/secret.md": "# Secret\n" });
  const { problems } = await refusal("a.md", { world: place, model: fakeModel(["x"]) });
  assert.deepEqual(problems.map(({ message }) => message), [
    '"../secret.md" is outside the project root; read permission for it is needed (--allow-read=/secret.md)',
    "save-to-file needs write permission (--allow-write)",
  ]);
});

Deno.test("the policy of the world decides, at run time too", async () => {
  const asked: string[] = [];
  const policy = {
    permit: ({ kind, value }: { kind: string; value: string }) => {
      asked.push(`${kind} ${value}`);
    },
  };
  const shell = fakeShell({ "echo hi": "hi\n" });
  const place = world({
    "a.md": "@shell\nprompt: echo hi\n\n@llm\nblock: os-shell-tool-response-block\nsave-to-file: out/x.md\n",
  }, {
    policy,
    shell,
  });
  const { end } = await run("a.md", { world: place, model: fakeModel(["saved"]) });
  assert.equal(end.status, "done", end.error);
  assert.deepEqual(shell.scripts, ["echo hi"]);
  assert.equal(await place.files.readText("out/x.md"), "saved");
  assert.ok(asked.includes("write /project/out/x.md"), asked.join("\n"));
});

Deno.test("front matter narrows what the world allows, tools included", async () => {
  const place = world({
    "a.md": "---\npermissions: {read: [docs]}\ntools: [ReadFile]\n---\n@llm\nprompt: x\n",
    "key.txt": "K",
  }, {
    policy: ALLOW_ALL,
  });
  const call = {
    type: "call" as const,
    call: { id: "1", name: "ReadFile", arguments: '{"path":"key.txt"}' },
  };
  const model = fakeModel([[call], "no"]);
  const { end } = await run("a.md", { world: place, model });
  assert.equal(end.status, "done", end.error);
  const told = JSON.stringify(model.requests[1]?.messages.at(-1));
  assert.match(told, /which the front matter of a\.md does not allow \(permissions\.read\)/);
});

Deno.test("gadgets of the program are the tools", async () => {
  const gadget = defineGadget({
    name: "Twice",
    description: "Doubles.",
    input: { type: "object", properties: { n: { type: "number" } } },
    run: ({ n }) => ({ result: String(Number(n) * 2) }),
  });
  const place = world({ "a.md": "@llm\nprompt: x\ntools: Twice\n" });
  const call = { type: "call" as const, call: { id: "1", name: "Twice", arguments: '{"n":21}' } };
  const { end } = await run("a.md", { world: place, model: fakeModel([[call], "done"]), gadgets: [gadget] });
  assert.match(end.document ?? "", /# Twice tool response block\n42\n\n# LLM response block\ndone\n$/);
});

Deno.test("a function chooses the model by the name that the document says", async () => {
  const names: (string | undefined)[] = [];
  const place = world({ "a.md": "@llm\nprompt: x\nmodel: fast\n\n@llm\nprompt: y\n" });
  const { end } = await run("a.md", {
    world: place,
    model: (name) => {
      names.push(name);
      return fakeModel([`by ${name}`]);
    },
  });
  assert.deepEqual(names, ["fast", undefined]);
  assert.equal(end.value, "by undefined");
});

Deno.test("a failed operation: the finished part is in the document, and nothing is thrown", async () => {
  const place = world({ "a.md": "@llm\nprompt: x\n\n@llm\nprompt: y\n\n# After\n" });
  const { end } = await run("a.md", { world: place, model: fakeModel(["one"]), out: "a.ctx" });
  assert.equal(end.status, "failed");
  assert.match(end.error ?? "", /^a\.md:4:1: error: @llm: model call failed: /);
  assert.match(
    end.document ?? "",
    /# LLM response block\none\n[^]*# Error\na\.md:4:1: error: @llm: [^]*# After\n$/,
  );
  assert.equal(await place.files.readText("a.ctx"), end.document);
});

Deno.test("an abort stops the run, and its document is as far as it came", async () => {
  const stop = new AbortController();
  const place = world({ "a.md": "@llm\nprompt: x\n\n@llm\nprompt: y\n" });
  const model = fakeModel(({ messages }) => {
    if (messages.some(({ role }) => role === "assistant")) stop.abort();
    return "one";
  });
  const { end } = await run("a.md", { world: place, model, signal: stop.signal });
  assert.deepEqual([end.status, end.reason], ["stopped", "interrupted"]);
  assert.match(end.document ?? "", /# LLM response block\none\n/);
});

Deno.test("a budget holds", async () => {
  const place = world({ "a.md": "@llm\nprompt: x\n\n@llm\nprompt: y\n" });
  const { end } = await run("a.md", { world: place, model: fakeModel(["one", "two"]), budget: { turns: 1 } });
  assert.deepEqual([end.status, end.reason], ["stopped", "turns"]);
  assert.match(end.document ?? "", /one/);
});

Deno.test("on this machine: the project of the file, a URL, out, and no grants", async () => {
  await using project = await testProject({
    "orrery.yaml": "documents: { temperature: 0.5 }\n",
    "plans/a.md": "@import\nfile: ../notes.md\n\n@return\nblock: note\n",
    "plans/b.md": "@shell\nprompt: touch done\n",
    "plans/c.md": "# C\n\n@goto\nblock: c\n",
    "notes.md": "# Note\nhere\n",
  });
  const out = join(project.folder, "out.ctx");
  const file = pathToFileURL(join(project.folder, "plans/a.md"));
  const { end } = await run(file, { out });
  assert.deepEqual([end.status, end.value], ["done", "# Note\nhere"]);
  assert.equal(await project.read("out.ctx"), end.document);
  const { problems } = await refusal(join(project.folder, "plans/b.md"), {});
  assert.deepEqual(problems.map(({ message }) => message), ["@shell needs run permission (--allow-run)"]);
  const jumped = await run(join(project.folder, "plans/c.md"), {});
  assert.match(jumped.end.error ?? "", /more than 30 jumps to "c"/);
});

Deno.test("an unknown model is a problem of the check, by name", async () => {
  const place = world({ "a.md": "@llm\nprompt: x\n" });
  const { problems } = await refusal("a.md", { world: place, model: "zzz" });
  assert.equal(problems[0]?.message, 'unknown model "zzz"');
});
