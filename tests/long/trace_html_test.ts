// `orrery trace ID --html FILE`: one file that needs nothing else, obeys no text that is in it, and is never too large.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { openJournal } from "../../mod.ts";
import { testProject } from "../_project.ts";

const MAX_BYTES = 20_000_000;

const HOSTILE = `</pre></script><script>alert(1)</script><img src=x onerror="alert(2)">\u2028]]>`;

/** The file of a run whose gadgets have given these texts. */
async function traceFile(texts: readonly string[]): Promise<{ readonly id: string; readonly html: string }> {
  await using project = await testProject({ "orrery.yaml": "" });
  using journal = openJournal(project.folder);
  const run = journal.create({ kind: "calls", file: HOSTILE, input: null });
  for (const [index, text] of texts.entries()) {
    const key = `call:${index}`;
    run.begin({ key, kind: "gadget", name: "ReadFile", input: { text }, idempotent: true });
    run.end(key, { ok: text });
  }
  run.release("done", { input: 1, output: 2, cost: 0.5 });
  const { code, stderr } = await project.run(["trace", run.id, "--html", "trace.html"]);
  assert.equal(code, 0, stderr);
  return { id: run.id, html: await project.read("trace.html") };
}

/** What stands in the elements of this name. */
function inside(html: string, tag: string): readonly string[] {
  return [...html.matchAll(new RegExp(`<${tag}[^>]*>(.*?)</${tag}>`, "gs"))].map(([, text = ""]) => text);
}

/** Of all elements; text with such words in it has none. */
function attributesOf(html: string): readonly (readonly [name: string, value: string])[] {
  return [...html.matchAll(/<[a-z]\w*((?:\s+[\w:-]+(?:="[^"]*")?)*)\s*\/?>/g)].flatMap(([, all = ""]) =>
    [...all.matchAll(/([\w:-]+)(?:="([^"]*)")?/g)].map(([, name = "", value = ""]) => [name, value] as const)
  );
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

Deno.test("trace file: its policy allows its own script and style sheet, and nothing else", async () => {
  const { html } = await traceFile(["text"]);
  const [policy = ""] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.slice(1) ??
    [];
  const directives = policy.replaceAll("&#39;", "'").split("; ");
  const [style = "", ...otherStyles] = inside(html, "style");
  const [script = "", ...otherScripts] = inside(html, "script");
  assert.deepEqual([otherStyles, otherScripts], [[], []]);
  assert.deepEqual(directives, [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  const attributes = attributesOf(html.replace(script, "").replace(style, ""));
  const acting = attributes.filter(([name, value]) =>
    /^(?:src|href|style|action|on\w+)$/.test(name) && !value.startsWith("#")
  );
  assert.ok(attributes.length > 30);
  assert.deepEqual(acting, [], "nothing is loaded, nothing runs by itself");
  assert.doesNotMatch(script, /\bimport\b/);
});

Deno.test("trace file: text of a run is text", async () => {
  const { html } = await traceFile([HOSTILE]);
  assert.equal(inside(html, "script").length, 1);
  assert.ok(!html.includes("<img"));
  assert.ok(html.includes("&lt;img src=x onerror=&quot;alert(2)&quot;&gt;"));
});

Deno.test("trace file: long values are cut and say so, so that it has at most 20 MB", async () => {
  const long = '<&"é😀'.repeat(400_000);
  const texts = Array.from({ length: 6 }, (_, index) => index === 0 ? "short" : long);
  const { id, html } = await traceFile(texts);
  assert.ok(new TextEncoder().encode(html).length <= MAX_BYTES);
  assert.ok(html.includes(`10 long values are cut: <code>orrery trace ${id} --json</code> has all of it`));
  assert.equal([...html.matchAll(/cut here: \d+ more characters/g)].length, 10);
  assert.ok(html.includes(">short</pre>"), "a short one is whole");
});

Deno.test("trace file: of very many steps the first ones are shown", async () => {
  const many = Array.from({ length: 6_000 }, (_, index) => `${"&".repeat(300)}${index}`);
  const { html } = await traceFile(many);
  assert.ok(new TextEncoder().encode(html).length <= MAX_BYTES);
  assert.match(html, /2000 more lines are not shown/);
});

Deno.test("orrery trace --html: writes the file, and nothing to stdout", async () => {
  await using project = await testProject({
    "a.calls": "!!!GADGET_START:Calculate:sum\n!!!ARG:expression\n1 + 1\n!!!GADGET_END\n",
  });
  const run = await project.run(["run", "a.calls"]);
  assert.equal(run.code, 0, run.stderr);
  const id = await project.newest();
  const made = await project.run(["trace", id, "--html", "out/trace.html"]);
  assert.deepEqual([made.code, made.stdout, made.stderr], [0, "", ""]);
  const html = await project.read("out/trace.html");
  assert.match(html, /<title>a\.calls · trace of \w+ · Orrery<\/title>/);
  assert.ok(html.includes("1 + 1"));

  const both = await project.run(["trace", id, "--html", "other.html", "--json"]);
  assert.equal(both.code, 2);
  assert.match(both.stderr, /found --json and --html, expected one of them/);

  const again = await project.run(["trace", id, "--html", "out/trace.html"]);
  assert.deepEqual([again.code, await project.read("out/trace.html")], [0, html]);
  assert.deepEqual((await Array.fromAsync(Deno.readDir(`${project.folder}/out`))).map(({ name }) => name), [
    "trace.html",
  ]); // nothing is left of how it was written
  for (
    const [run, file, problem] of [
      [id, "out", /Cannot write "out": it is a folder, not a file/],
      [id, "a.calls/x.html", /Cannot write "a\.calls\/x\.html": a part of the path is a file/],
      ["nowhere", "x.html", /There is no run "nowhere"/],
    ] as const
  ) {
    const refused = await project.run(["trace", run, "--html", file]);
    assert.deepEqual([refused.code, refused.stdout], [2, ""]);
    assert.match(refused.stderr, problem);
  }
});
