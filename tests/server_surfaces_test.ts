// `orrery serve` for clients of OpenAI and of MCP, with a real project behind it.

import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import OpenAI from "openai";
import { type TestProject, testProject } from "./_project.ts";
import { served } from "./_served_project.ts";
import { TOKEN } from "./_server.ts";
import { until } from "./_waiting.ts";

const FILES = {
  "orrery.yaml": `models: { default: script/echo }
agents:
  - { name: writer, model: script/echo, system: Be brief }
`,
  "note.md": "# Note\n\n@llm\nprompt: Say something\n\n@return\nblock: note\n",
  "prompts/one.prompt.md": "Tell of {topic}\n",
  "agents/guide.agent.yml": `version: "0.1"
structure:
  id: guide
  action:
    id: main
    chain:
      - { id: name?, message: { message: "Your name?", hold: true } }
      - { id: said, llm: { prompts: [ { user: "Greet the river." } ] } }
      - { id: more?, message: { message: "More?", hold: true } }
      - { id: again, llm: { prompts: [ { user: "Greet the sea." } ] } }
      - { id: last?, message: { message: "Anything?", hold: true } }
      - { id: bye, message: { message: "Bye." } }
      - { id: end, flow: { action: end } }
`,
};

/** Serves the project for as long as the work takes. */
async function serving(project: TestProject, work: (origin: string) => Promise<void>): Promise<void> {
  await using server = await served(project, ["--quiet"]);
  await work(server.origin);
  assert.deepEqual([await server.stop(), server.told()], [0, ""]);
}

const INFO = { name: "test", version: "1.0.0" };
const user = (content: string) => ({ role: "user" as const, content });

Deno.test("a client of OpenAI asks models, profiles, documents and prompts, and talks to agents over a restart", async () => {
  await using project = await testProject(FILES);
  const history: OpenAI.ChatCompletionMessageParam[] = [];
  let conversation: string | null = null;
  const asking = (origin: string) => {
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: TOKEN, maxRetries: 0, timeout: 20_000 });
    const ask = async (model: string, text: string) =>
      (await client.chat.completions.create({ model, messages: [user(text)] })).choices[0]?.message.content;
    const talk = async (text: string, stream: boolean): Promise<string> => {
      history.push(user(text));
      const asked = { model: "orrery/agent/guide", messages: history };
      let answer = "";
      if (stream) {
        const chunks = await client.chat.completions.create({ ...asked, stream: true });
        for await (const { choices } of chunks) answer += choices[0]?.delta.content ?? "";
      } else {
        const { data, response } = await client.chat.completions.create(asked).withResponse();
        answer = data.choices[0]?.message.content ?? "";
        conversation ??= response.headers.get("orrery-conversation");
        assert.equal(response.headers.get("orrery-conversation"), conversation);
      }
      history.push({ role: "assistant", content: answer });
      return answer;
    };
    return { client, ask, talk };
  };
  await serving(project, async (origin) => {
    const { client, ask, talk } = asking(origin);
    const models = (await Array.fromAsync(client.models.list())).map(({ id }) => id);
    for (const name of ["agent/agents/guide", "profile/writer", "document/note.md", "prompt/one"]) {
      assert(models.includes(`orrery/${name}`), models.join(", "));
    }
    assert.equal(await ask("script/echo", "hi"), "ECHO[hi]");
    assert.equal(await ask("orrery/profile/writer", "hi"), "ECHO[hi]");
    assert.equal(await ask("orrery/prompt/one", "rivers"), "ECHO[Tell of rivers]");
    assert.match(await ask("orrery/document/note.md", "") ?? "", /Note/);
    const first = await talk("Ada", false);
    assert.match(first, /ECHO\[Greet the river\.\]\n\nMore\?$/);
    await assert.rejects(
      client.chat.completions.create({ model: "nope/nothing", messages: [user("hi")] }),
      OpenAI.NotFoundError,
    );
  });
  await serving(project, async (origin) => {
    const { client, talk } = asking(origin);
    assert.equal(await talk("yes", true), "ECHO[Greet the sea.]\n\nAnything?");
    assert.equal(await talk("no", true), "Bye.");
    await assert.rejects(talk("hello?", false), (error) => {
      assert(error instanceof OpenAI.ConflictError, String(error));
      return true;
    });
    assert.notEqual(conversation, null);
    const named = client.chat.completions.create({
      model: "orrery/agent/guide",
      messages: [user("hello?")],
      metadata: { conversation: conversation ?? "" },
    });
    await assert.rejects(named, OpenAI.ConflictError);
  });
});

Deno.test("a client of MCP calls gadgets over HTTP, and each call is a run", async () => {
  await using project = await testProject(FILES);
  await serving(project, async (origin) => {
    const client = new Client(INFO);
    const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }));
    try {
      const read = await client.callTool({ name: "ReadFile", arguments: { path: "note.md" } });
      assert.deepEqual(read.content, [{ type: "text", text: FILES["note.md"] }]);
      const outside = await client.callTool({ name: "ReadFile", arguments: { path: "/etc/hostname" } });
      assert.equal(outside.isError, true, JSON.stringify(outside));
      const begun = performance.now();
      const stop = AbortSignal.timeout(300);
      await assert.rejects(
        client.callTool({ name: "Wait", arguments: { seconds: 20 } }, { signal: stop }),
      );
      assert(performance.now() - begun < 10_000);
    } finally {
      await client.close();
    }
  });
  const { stdout } = await project.run(["runs", "--json", "--all"]);
  assert.match(stdout, /"calls"/);
});

Deno.test("what is cancelled over MCP is stopped in the journal, and the end of a session stops what it began", async () => {
  await using project = await testProject(FILES);
  await serving(project, async (origin) => {
    const statuses = async (): Promise<readonly string[]> => {
      const answer = await fetch(`${origin}/v1/runs`, { headers: { authorization: `Bearer ${TOKEN}` } });
      const { runs }: { readonly runs: readonly { readonly status: string }[] } = await answer.json();
      return runs.map(({ status }) => status);
    };
    const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
    const transport = new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit });
    const client = new Client(INFO);
    await client.connect(transport);
    const stop = new AbortController();
    const heard: number[] = [];
    const cancelled = client.callTool({ name: "Wait", arguments: { seconds: 60 } }, {
      signal: stop.signal,
      onprogress: ({ progress }) => {
        heard.push(progress);
        stop.abort();
      },
    });
    await assert.rejects(cancelled);
    await until(async () => (await statuses()).join() === "stopped", 20_000);
    assert(heard.length > 0);
    const left = client.callTool({ name: "Wait", arguments: { seconds: 60 } }).catch(() => undefined);
    await until(async () => (await statuses()).includes("running"), 20_000);
    await transport.terminateSession();
    await until(async () => (await statuses()).join() === "stopped,stopped", 20_000);
    await client.close();
    await left;
  });
});

Deno.test("a client of MCP is asked for what is not granted, and its word counts", async () => {
  await using project = await testProject(FILES);
  await serving(project, async (origin) => {
    for (const allow of [false, true]) {
      const asked: string[] = [];
      const client = new Client(INFO, { capabilities: { elicitation: {} } });
      client.setRequestHandler("elicitation/create", ({ params }) => {
        asked.push(params.message);
        return { action: "accept", content: { allow } };
      });
      const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }));
      try {
        const args = { path: "out.txt", content: "hello" };
        const written = await client.callTool({ name: "WriteFile", arguments: args });
        assert.equal(written.isError ?? false, !allow, JSON.stringify(written));
        assert.equal(asked.length, 1);
        assert.match(asked.join(), /out\.txt/);
      } finally {
        await client.close();
      }
    }
    assert.equal(await project.read("out.txt"), "hello");
  });
});
