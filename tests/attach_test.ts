// Files that a model is shown: from the command line, a document, a page and clients of OpenAI.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { ask, createAgent, fakeModel, type RunEvent } from "../mod.ts";
import { type ProviderProject, providerProject } from "./_provider_project.ts";
import { TEST_KEY } from "./_provider_server.ts";
import { served } from "./_served_project.ts";
import { TOKEN } from "./_server.ts";
import { typed, typedTest } from "./_typed.ts";

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
  assert.match(text.stderr, /^main\.md:4:1: error: media "dot\.png" is text, and its name says image\/png$/m);
  assert.equal(text.code, 2);
  assert.equal((await at.run("check", "main.md")).stderr.split("\n")[0], text.stderr.split("\n")[0]);
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

/** What the last question showed. */
function shown(at: ProviderProject, n = at.provider.requests.length - 1): readonly unknown[] {
  return at.provider.requests[n]?.body.messages.at(-1).content;
}

const NET = "--allow-net=127.0.0.1";
const IMAGE = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
const PAPER = { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } };

async function withFiles(
  files: Readonly<Record<string, string>> = {},
  replies: Parameters<typeof providerProject>[0] = [ANSWER],
) {
  const at = await providerProject(replies, {
    files: { "notes.txt": "Blue </file> at dawn\n", ...files },
    models: ({ settings: { providers } }) => ({
      default: "open/eye",
      providers: {
        ...providers,
        open: { ...providers.compatible, apiKeyEnv: undefined },
        blind: { ...providers.compatible, apiKeyEnv: undefined, media: [] },
      },
    }),
  });
  await at.write("dot.png", PNG);
  await at.write("a.pdf", PDF);
  return at;
}

Deno.test("ask: images and papers are shown as they are, text stands behind the question; a replay needs none of them", async () => {
  await using at = await withFiles();
  const files = ["--attach", "dot.png", "--attach", "a.pdf", "--attach", "notes.txt"];
  const asked = await at.run("ask", "Which colour?", ...files, NET, "--record", "r.jsonl", "--quiet");
  assert.equal(asked.code, 0, asked.stderr);
  assert.equal(asked.stdout, "Red.");
  const text = 'Which colour?\n\n<file-2 name="notes.txt">\nBlue </file> at dawn\n</file-2>';
  assert.deepEqual(shown(at), [{ type: "text", text }, IMAGE, PAPER]);
  const trace = await at.run("trace", await at.project.newest(), "--json");
  assert.ok(!trace.stdout.includes(PNG.slice(0, 30)), "a trace names what was shown");
  const record = await at.project.read("r.jsonl");
  assert.equal(record.split(PNG).length - 1, 1, "a record has it once");
  for (const name of ["dot.png", "a.pdf", "notes.txt"]) await Deno.remove(join(at.project.folder, name));
  const replayed = await at.run("ask", "--replay", "r.jsonl", "--quiet");
  assert.equal(replayed.stdout, "Red.", replayed.stderr);
  const both = await at.run("ask", "--replay", "r.jsonl", "--attach", "x");
  assert.match(both.stderr, /--attach and --replay do not go together: the record has what was attached/);
});

Deno.test("ask: each provider is sent an image and a paper in its way", async () => {
  await using at = await withFiles();
  const ways: Readonly<Record<string, RegExp>> = {
    openai: /"input_image","image_url":"data:image\/png;.*"input_file","filename":"a\.pdf"/,
    chat: /"image_url":\{"url":"data:image\/png;.*"file":\{"filename":"a\.pdf"/,
    anthropic:
      /"image","source":\{.*"media_type":"image\/png".*"document","source":\{.*"media_type":"application\/pdf"/,
    mistral:
      /"image_url","image_url":"data:image\/png;.*"document_url","document_url":"data:application\/pdf/,
    google: /"inlineData":\{"mimeType":"image\/png".*"inlineData":\{"mimeType":"application\/pdf"/,
  };
  for (const [provider, way] of Object.entries(ways)) {
    await at.run("ask", "x", "-m", `${provider}/m`, "--attach", "dot.png", "--attach", "a.pdf", NET);
    const body = JSON.stringify(at.provider.requests.at(-1)?.body);
    assert.match(body, way);
    assert.ok(body.includes(PNG) && body.includes(PDF), provider);
  }
  const asked = at.provider.requests.length;
  for (const provider of ["groq", "xai"]) {
    const image = await at.run("ask", "x", "-m", `${provider}/m`, "--attach", "dot.png", NET);
    assert.equal(image.code, 0, image.stderr);
    const paper = await at.run("ask", "x", "-m", `${provider}/m`, "--attach", "a.pdf", NET);
    assert.match(paper.stderr, /cannot be shown "a\.pdf" \(application\/pdf\): it takes text, image\/\*\./);
  }
  assert.equal(at.provider.requests.length, asked + 2);
});

Deno.test("ask: a run that was stopped is resumed with what it was shown", async () => {
  await using at = await withFiles({}, [{ status: 401, message: "no" }, ANSWER]);
  const asked = await at.run("ask", "x", "--attach", "dot.png", NET, "--quiet");
  assert.equal(asked.code, 7, asked.stderr);
  await Deno.remove(join(at.project.folder, "dot.png"));
  const resumed = await at.run("resume", await at.project.newest(), NET, "--quiet");
  assert.equal(resumed.stdout, "Red.", resumed.stderr);
  assert.deepEqual(shown(at), [{ type: "text", text: "x" }, { ...IMAGE }]);
});

Deno.test("ask: a prompt and a profile are shown files too", async () => {
  await using at = await withFiles({
    "prompts/look.prompt.md": "You look.\n",
    "orrery.yaml": "agents: [{ name: eye, model: compatible/eye, systemPrompt: look }]\n",
  });
  for (const who of [["--prompt", "look"], ["--profile", "eye"]]) {
    const asked = await at.run("ask", "x", ...who, "--attach", "dot.png", NET, "--quiet", "--trust-project");
    assert.equal(asked.code, 0, asked.stderr);
    assert.deepEqual(shown(at), [{ type: "text", text: "x" }, IMAGE], who[0]);
  }
});

Deno.test("ask: a model that takes no files is not asked; one of text it takes", async () => {
  await using at = await withFiles();
  const refused = await at.run("ask", "x", "-m", "blind/eye", "--attach", "dot.png", NET);
  assert.equal(refused.code, 2, refused.stderr);
  assert.match(
    refused.stderr,
    /The model blind\/eye cannot be shown "dot\.png" \(image\/png\): it takes text alone\./,
  );
  assert.equal(at.provider.requests.length, 0);
  const text = await at.run("ask", "x", "-m", "blind/eye", "--attach", "notes.txt", NET);
  assert.equal(text.code, 0, text.stderr);
});

Deno.test("ask: what cannot be attached is refused in words, and nobody is asked", async () => {
  await using at = await withFiles({ empty: "", "fake.png": "text" });
  await at.write("x.zip", btoa("PK\x03\x04\x00\xff"));
  await Deno.truncate(join(at.project.folder, "empty"), 0);
  await Deno.writeFile(join(at.project.folder, "big.png"), new Uint8Array(20 * 1024 * 1024 + 1));
  await Deno.mkdir(join(at.project.folder, "folder"));
  const cases: readonly (readonly [file: string, says: RegExp, code?: number])[] = [
    ["none.png", /Cannot look at "none\.png": no such file or folder \(named by --attach\)/],
    ["folder", /Cannot read "folder": it is a folder, not a file \(named by --attach\)/],
    ["empty", /Cannot attach "empty": it is empty \(named by --attach\)/],
    ["big.png", /Cannot attach "big\.png": it is larger than 20 MB/],
    [
      "x.zip",
      /"x\.zip": it is neither text in UTF-8 nor png, jpeg, gif, webp or pdf: its bytes begin with 50 4b 03 04/,
    ],
    ["fake.png", /"fake\.png": it is text, and its name says image\/png/],
    [
      "http://127.0.0.1:1/x.png",
      /Connecting to "127\.0\.0\.1:1" is not allowed: .*--allow-net=127\.0\.0\.1:1/,
      5,
    ],
  ];
  for (const [file, says, code = 2] of cases) {
    const { code: found, stderr } = await at.run("ask", "x", "--attach", file);
    assert.match(stderr, says);
    assert.equal(found, code, file);
  }
  assert.equal(at.provider.requests.length, 0);
  assert.equal((await at.run("runs", "--names")).stdout, "", "no run has begun");
});

Deno.test("ask: a file is what its user names, as other files of flags are, wherever a link leads; a key in it goes nowhere", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: links need a right of their own");
  await using at = await withFiles();
  const outside = join(at.project.folder, "..", "outside.txt");
  await Deno.writeTextFile(outside, `key: ${TEST_KEY}\n`);
  await Deno.symlink(outside, join(at.project.folder, "link.txt"));
  await Deno.symlink("nowhere", join(at.project.folder, "dangling.txt"));
  const asked = await at.run("ask", "x", "-m", "compatible/eye", "--attach", "link.txt", NET, "--quiet");
  assert.equal(asked.code, 0, asked.stderr);
  assert.match(String(shown(at)), /^x\n\n<file name="link\.txt">\nkey: \[secret \w+\]\n<\/file>$/);
  const trace = await at.run("trace", await at.project.newest(), "--json");
  assert.ok(!trace.stdout.includes(TEST_KEY));
  const dangling = await at.run("ask", "x", "--attach", "dangling.txt");
  assert.match(
    dangling.stderr,
    /Cannot look at "dangling\.txt": no such file or folder \(named by --attach\)/,
  );
});

Deno.test("ask: what is at a URL is fetched with the permission for it", async () => {
  await using at = await withFiles();
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    ({ url }) =>
      url.endsWith("/dot%20a.png")
        ? new Response(Uint8Array.fromBase64(PNG))
        : new Response("gone", { status: 404 }),
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const asked = await at.run("ask", "x", "--attach", `${origin}/pictures/dot%20a.png`, NET, "--quiet");
  assert.equal(asked.code, 0, asked.stderr);
  assert.deepEqual(shown(at), [{ type: "text", text: "x" }, IMAGE]);
  const gone = await at.run("ask", "x", "--attach", `${origin}/other`, NET);
  assert.match(
    gone.stderr,
    /Cannot attach "http:.*\/other": the server answers with 404 \(named by --attach\)/,
  );
});

typedTest(
  "chat: /attach shows a file with the next message; one that the model does not take is told and forgotten",
  async () => {
    await using at = await withFiles();
    const { env } = at.project;
    const { stderr, code } = await typed(["chat", NET], {
      cwd: at.project.folder,
      env,
      lines: ["/attach", "/attach none", "/attach dot.png", "Which colour?", "And now?"],
    });
    assert.equal(code, 0, stderr);
    assert.match(stderr, /\/attach takes a file or a URL/);
    assert.match(stderr, /Cannot look at "none": .* \(named by \/attach\)/);
    assert.match(stderr, /dot\.png goes with the next message/);
    assert.deepEqual(shown(at, 0), [{ type: "text", text: "Which colour?" }, IMAGE]);
    assert.equal(shown(at, 1), "And now?");
    assert.deepEqual(at.provider.requests[1]?.body.messages[0].content[1], IMAGE, "it stays in the history");
    const blind = await typed(["chat", NET, "-m", "blind/eye", "--attach", "dot.png"], {
      cwd: at.project.folder,
      env,
      lines: ["Which colour?", "And now?"],
    });
    assert.match(blind.stderr, /cannot be shown "dot\.png"/);
    assert.equal(at.provider.requests.length, 3, "asked for the second message alone");
    assert.equal(at.provider.requests[2]?.body.messages.length, 1);
    const resumed = await at.run("resume", await at.project.newest(), NET);
    assert.equal(resumed.code, 0, resumed.stderr);
  },
);

const AGENT = `version: "0.1"
structure:
  id: eye
  action:
    id: main
    chain:
      - { id: turn?, message: { message: "And?", hold: true } }
      - { id: reply, llm: { prompts: [{ system: Look. }], memory: [{ selector: all }] } }
      - { id: again, flow: { action: repeat } }
`;

Deno.test("an agent is shown files by its server, and remembers them when another process goes on", async () => {
  await using at = await withFiles({ "eye.agent.yml": AGENT });
  let id = "";
  {
    await using server = await served(at.project, [NET]);
    const begun = await server.json("/v1/conversations", { body: { agent: "eye.agent.yml" } });
    id = String(begun.body.id);
    const files = [{ name: "dot.png", data: PNG }, { name: "notes.txt", data: btoa("Blue at dawn") }];
    const said = await server.json(`/v1/conversations/${id}/messages`, {
      body: { text: "Which colour?", files },
    });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    const text = 'Which colour?\n\n<file name="notes.txt">\nBlue at dawn\n</file>';
    assert.deepEqual(shown(at), [{ type: "text", text }, IMAGE]);
    const { messages } = said.body as {
      messages: readonly { readonly text: string; readonly media?: unknown }[];
    };
    assert.deepEqual(messages[1]?.media, [{
      type: "media",
      mediaType: "image/png",
      name: "dot.png",
      size: 70,
      sha256: createHash("sha256").update(PNG).digest("hex"),
    }]);
    for (
      const [file, says] of [
        [{ name: "x.zip", data: btoa("PK\x03\x04\x00") }, /files\[0\]: "x\.zip" is neither text/],
        [{ data: "%" }, /files\[0\]: it is no base64/],
      ] as const
    ) {
      const refused = await server.json(`/v1/conversations/${id}/messages`, {
        body: { text: "x", files: [file] },
      });
      assert.equal(refused.status, 400);
      assert.match(String(refused.body.detail), says);
    }
  }
  const shownAgain = await at.run("run", "eye.agent.yml", "--say", "x", NET);
  assert.equal(shownAgain.code, 0, shownAgain.stderr);
  const resumed = await at.project.run(["resume", id, NET, "--quiet"], { stdin: "And now?\n" });
  assert.equal(resumed.code, 0, resumed.stderr);
  const history = at.provider.requests.at(-1)?.body.messages;
  assert.deepEqual(
    history.find(({ content }: { readonly content: unknown }) => Array.isArray(content)).content[1],
    IMAGE,
  );
  const exported = await at.run("show", "conversation", id, "--json");
  assert.match(exported.stdout, /"name": "dot\.png"/);
  assert.ok(!exported.stdout.includes(PNG.slice(0, 30)));
  const trace = await at.run("trace", id, "--json");
  assert.ok(!trace.stdout.includes(PNG.slice(0, 30)));
  assert.match((await at.run("trace", id)).stdout, /^turn 2 {2}"Which colour\?.*\\n\[im…$/m);
});

Deno.test("chat with an agent, here and at a server: --attach goes with the first message", async () => {
  await using at = await withFiles({ "eye.agent.yml": AGENT });
  const chat = ["chat", "eye.agent.yml", "--attach", "dot.png", "--quiet"];
  const here = await at.project.run([...chat, NET], { stdin: "Which colour?\nAnd now?\n" });
  assert.equal(here.code, 0, here.stderr);
  assert.deepEqual(shown(at, 0), [{ type: "text", text: "Which colour?" }, IMAGE]);
  assert.equal(shown(at, 1), "And now?");
  await using server = await served(at.project, [NET]);
  const there = [...chat, "--server", server.origin, "--token", TOKEN];
  const far = await at.project.run(there, { stdin: "Which colour?\n" });
  assert.equal(far.code, 0, far.stderr);
  assert.deepEqual(shown(at), [{ type: "text", text: "Which colour?" }, IMAGE]);
  const url = await at.project.run([...there, "--attach", "https://example.com/x.png"], { stdin: "x\n" });
  assert.equal(url.code, 2, url.stderr);
  assert.match(
    url.stderr,
    /Cannot attach "https:\/\/example\.com\/x\.png": nothing is fetched for a server; save it/,
  );
});

Deno.test("clients of OpenAI: models, profiles and agents are shown images, papers and text", async () => {
  await using at = await withFiles({
    "eye.agent.yml": AGENT,
    "orrery.yaml": "agents: [{ name: eye, model: open/eye, system: Look }]\n",
  });
  await using server = await served(at.project, [NET, "--trust-project"]);
  const ask = (model: string, ...content: readonly unknown[]) =>
    server.json("/v1/chat/completions", { body: { model, messages: [{ role: "user", content }] } });
  const text = { type: "text", text: "Which?" };
  const file = (data: string, filename: string) => ({ type: "file", file: { filename, file_data: data } });
  for (const model of ["open/eye", "orrery/profile/eye", "orrery/agent/eye"]) {
    const answer = await ask(model, text, IMAGE, file(`data:application/pdf;base64,${PDF}`, "a.pdf"));
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual(shown(at), [text, IMAGE, PAPER], model);
  }
  await ask("open/eye", text, file(`data:text/csv;base64,${btoa("a,b")}`, "t.csv"));
  assert.equal(shown(at), 'Which?\n\n<file name="t.csv">\na,b\n</file>');
  const asked = at.provider.requests.length;
  const blind = await ask("blind/eye", text, IMAGE);
  assert.equal(blind.status, 400);
  assert.match(
    JSON.stringify(blind.body),
    /blind\/eye cannot be shown image\/png: it takes text alone.*"param":"messages"/,
  );
  const far = await ask("open/eye", { type: "image_url", image_url: { url: "https://example.com/x.png" } });
  assert.match(JSON.stringify(far.body), /expected data:TYPE;base64,DATA, since nothing is fetched/);
  const large = await ask(
    "open/eye",
    file(`data:application/pdf;base64,${btoa("%PDF-".padEnd(20 * 2 ** 20 + 1))}`, "a.pdf"),
  );
  assert.match(JSON.stringify(large.body), /file_data: \\"a\.pdf\\" is larger than 20 MB/);
  assert.equal(at.provider.requests.length, asked);
});

Deno.test("an agent whose model has failed is shown the file when its turn is tried again, and in a branch", async () => {
  await using at = await withFiles({ "eye.agent.yml": AGENT }, [{ status: 401, message: "no" }, ANSWER]);
  let id = "";
  {
    await using server = await served(at.project, [NET]);
    const begun = await server.json("/v1/conversations", {
      body: { agent: "eye.agent.yml", message: "Which colour?", files: [{ name: "dot.png", data: PNG }] },
    });
    assert.equal(begun.body.status, "failed");
    id = String(begun.body.id);
  }
  await using server = await served(at.project, [NET]);
  const tried = await server.json(`/v1/conversations/${id}/retry`, { body: {} });
  assert.equal(tried.body.status, "held", JSON.stringify(tried.body));
  assert.deepEqual(shown(at), [{ type: "text", text: "Which colour?" }, IMAGE]);
  await server.json(`/v1/conversations/${id}/messages`, { body: { text: "", files: [{ data: PDF }] } });
  assert.equal((shown(at)[0] as { readonly type: string }).type, "file", "a file needs no words");
  const branch = await server.json(`/v1/conversations/${id}/back`, { body: { turns: 1 } });
  await server.json(`/v1/conversations/${branch.body.id}/messages`, { body: { text: "And now?" } });
  const { messages } = at.provider.requests.at(-1)?.body ?? {};
  assert.deepEqual(messages[2].content, [{ type: "text", text: "Which colour?" }, IMAGE]);
  assert.equal(messages.at(-1).content, "And now?");
});

Deno.test("a chat with files is recorded and replayed; a model that takes over is asked what it takes", async () => {
  await using at = await providerProject([{ status: 401, message: "no" }, ANSWER], {
    models: ({ settings: { providers } }) => ({
      default: "open/eye",
      fallback: { "open/eye": ["blind/eye", "compatible/eye"] },
      providers: {
        ...providers,
        open: { ...providers.compatible, apiKeyEnv: undefined },
        blind: { ...providers.compatible, media: [] },
      },
    }),
  });
  await at.write("dot.png", PNG);
  const chat = ["chat", NET, "--attach", "dot.png", "--record", "r.jsonl"];
  const env = { COMPATIBLE_KEY: "sk-test-0123456789abcdef" };
  const said = await at.project.run(chat, { stdin: "Which?\n", env });
  assert.equal(said.stdout, "Red.\n", said.stderr);
  assert.match(
    said.stderr,
    /blind\/eye takes over[^]*cannot be shown "dot\.png" \(image\/png\): it takes text alone[^]*compatible\/eye takes over/,
  );
  assert.deepEqual(shown(at), [{ type: "text", text: "Which?" }, IMAGE]);
  const trace = await at.run("trace", await at.project.newest());
  assert.match(trace.stdout, /say\[1\] .*\n +Which\?⏎\[image\/png dot\.png 70 bytes\]/);
  const replayed = await at.run("chat", "--replay", "r.jsonl");
  assert.equal(replayed.stdout, "Red.\n", replayed.stderr);
});

Deno.test("a program asks with parts; a model and a port say what they take", async () => {
  const words = [{ type: "text", text: "Which?" }, {
    type: "media",
    mediaType: "image/png",
    data: PNG,
  }] as const;
  const model = fakeModel(["Red."], { media: ["image/*"] });
  assert.equal((await endOf(ask(words, { model }))).value, "Red.");
  assert.deepEqual(model.requests[0]?.messages, [{ role: "user", content: words }]);
  const blind = fakeModel(["Red."], { media: ["image/jpeg"] });
  const { status, reason, error } = await endOf(ask(words, { model: blind }));
  assert.deepEqual([status, reason, blind.requests.length], ["failed", "config", 0]);
  assert.match(error ?? "", /The model fake\/model cannot be shown image\/png: it takes text, image\/jpeg\./);
  const asked: unknown[] = [];
  const port = (media?: readonly string[]) => ({
    media,
    call: ({ messages }: { readonly messages: unknown }) =>
      Promise.resolve((asked.push(messages), { text: "Red." })),
  });
  for (const media of [undefined, ["image/*"]]) {
    const agent = createAgent({ name: "eye", model: "m", system: "Look.", port: port(media) });
    await agent.open().say(words).call().catch((error) => asked.push(String(error.message)));
  }
  const [refused, messages] = asked as [
    string,
    readonly { readonly content: string; readonly media?: unknown }[],
  ];
  assert.match(refused, /The model m cannot be shown image\/png: it takes text alone/);
  assert.deepEqual(messages.at(-1), { role: "user", content: "Which?", media: [words[1]] });
});

async function endOf(events: AsyncIterable<RunEvent>) {
  const end = (await Array.fromAsync(events)).at(-1);
  assert.ok(end?.type === "run-end");
  return end;
}
