// Files that a model is shown: from the command line, a document, a page and clients of OpenAI.
import assert from "node:assert/strict";
import { providerProject } from "./_provider_project.ts";

/** A picture of one pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const PDF = btoa("%PDF-1.4\n%%EOF\n");
const ANSWER = { parts: [{ text: ["Red."] }] };

Deno.test("a document whose picture the model does not take: it is not asked, and the step says why", async () => {
  await using at = await providerProject([ANSWER], {
    files: { "main.md": "# A\n\n@llm\nprompt: Which colour?\nmodel: small/eye\nmedia: [dot.png]\n" },
    models: ({ settings: { providers } }) => ({
      providers: { ...providers, small: { ...providers.compatible, media: ["application/pdf"] } },
    }),
  });
  await at.write("dot.png", PNG);
  const { code, stderr } = await at.run("run", "main.md");
  assert.equal(code, 1, stderr);
  assert.match(
    stderr,
    /The model small\/eye cannot be shown "dot\.png" \(image\/png\): it takes text, application\/pdf\. .*models\.providers\.small\.media/s,
  );
  assert.equal(at.provider.requests.length, 0);
});

Deno.test("a document shows its picture to a model that takes it; a trace names it without its bytes", async () => {
  await using at = await providerProject([ANSWER], {
    files: {
      "main.md": "# A\n\n@llm\nprompt: Which colour?\nmodel: compatible/eye\nmedia: [dot.png, a.pdf]\n",
    },
  });
  await at.write("dot.png", PNG);
  await at.write("a.pdf", PDF);
  const { code, stderr } = await at.run("run", "main.md", "--allow-net=127.0.0.1");
  assert.equal(code, 0, stderr);
  const { content } = at.provider.requests[0]?.body.messages.at(-1) ?? {};
  assert.deepEqual(content.map(({ type }: { readonly type: string }) => type), ["text", "image_url", "file"]);
  assert.equal(content[1].image_url.url, `data:image/png;base64,${PNG}`);
  const { stdout } = await at.run("trace", await at.project.newest(), "--json");
  assert.ok(!stdout.includes(PNG.slice(0, 20)), stdout);
  assert.match(
    stdout,
    /"mediaType": "image\/png",\s+"name": "dot\.png",\s+"size": 70,\s+"sha256": "[0-9a-f]{64}"/,
  );
});

Deno.test("a document: what is no picture whatever its name says is refused before the model is asked", async () => {
  await using at = await providerProject([ANSWER], {
    files: { "main.md": "@llm\nprompt: x\nmodel: compatible/eye\nmedia: [dot.png]\n", "dot.png": "not one" },
  });
  const text = await at.run("run", "main.md");
  assert.match(text.stderr, /media "dot\.png" is text, and its name says image\/png/);
  await at.write("dot.png", btoa("\x00\x01\x02\x03"));
  const binary = await at.run("run", "main.md");
  assert.match(
    binary.stderr,
    /media "dot\.png" is neither text in UTF-8 nor png, .*: its bytes begin with 00 01 02 03/,
  );
  assert.equal(at.provider.requests.length, 0);
});

Deno.test("a record of an older version, whose steps have the picture itself, is replayed", async () => {
  await using at = await providerProject([ANSWER], {
    files: { "main.md": "@llm\nprompt: x\nmodel: compatible/eye\nmedia: [dot.png]\n" },
  });
  await at.write("dot.png", PNG);
  const run = await at.run("run", "main.md", "--allow-net=127.0.0.1", "--record", "new.jsonl");
  assert.equal(run.code, 0, run.stderr);
  const lines = (await at.project.read("new.jsonl")).trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.ok(!JSON.stringify(lines.filter(({ type }) => type === "step")).includes(PNG), "no step has it");
  const old = lines.map((line) => {
    if (line.key?.endsWith("/media[1]") && line.type === "outcome") {
      return { ...line, outcome: { ok: { data: PNG } } };
    }
    const message = line.type === "step" ? line.input?.messages?.at(-1) : undefined;
    if (message !== undefined) message.content[1] = { type: "media", mediaType: "image/png", data: PNG };
    return line;
  });
  await at.project.write("old.jsonl", old.map((line) => `${JSON.stringify(line)}\n`).join(""));
  for (const record of ["new.jsonl", "old.jsonl"]) {
    const replayed = await at.run("run", "main.md", "--replay", record, "--out", "none");
    assert.equal(replayed.code, 0, `${record}: ${replayed.stderr}`);
    assert.match(replayed.stdout, /Red\./);
  }
});
