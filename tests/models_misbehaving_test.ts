// What `orrery ask` says and does when the server of a model misbehaves.
import assert from "node:assert/strict";
import { providerProject, type ProviderReply } from "./_provider_project.ts";

type Replies = readonly ProviderReply[];

const ADDRESS = /127\.0\.0\.1:\d+/g;
const TIMES = /[\d.]+ ms/g;

/** One question, and what a user sees of it. */
async function asked(replies: Replies, { model = "compatible/test", flags = [] as readonly string[] } = {}) {
  await using project = await providerProject(replies);
  const { code, stdout, stderr } = await project.run("ask", "go", "-m", model, "--ephemeral", ...flags);
  return {
    code,
    stdout,
    stderr: stderr.replaceAll(ADDRESS, "HOST").replaceAll(TIMES, "N ms").trimEnd().split("\n"),
    messages: project.provider.requests.at(-1)?.body.messages,
    count: project.provider.requests.length,
  };
}

Deno.test("misbehaving: characters that are cut between two chunks are whole", async () => {
  const text = "Grüße 🎉, 漢字, e\u0301, \u{1F468}\u200D\u{1F469}";
  for (const model of ["compatible/test", "openai/test", "anthropic/test", "google/test"]) {
    const { stdout, code } = await asked([{ parts: [{ text }], chunkBytes: 1 }], { model });
    assert.deepEqual([stdout.trimEnd(), code], [text, 0], model);
  }
});

Deno.test("misbehaving: an error in the middle of a stream keeps what was said, and ends with 7", async () => {
  const { code, stdout, stderr, count } = await asked([
    { parts: [{ text: "Half an " }], streamError: { type: "server_error", message: "boom" } },
  ]);
  assert.deepEqual([code, stdout, count], [7, "Half an ", 1], "what was shown is not asked for again");
  assert.match(
    stderr.join("\n"),
    /error: compatible\/test at HOST: the provider ended its answer with an error \(boom\)/,
  );
});

Deno.test("misbehaving: a connection that is closed, before an answer and in one", async () => {
  const early = await asked([{ parts: [{ text: "x" }], breakAfterBytes: 0 }, { parts: [{ text: "Hello" }] }]);
  assert.deepEqual([early.code, early.stdout.trimEnd(), early.count], [0, "Hello", 2]);
  assert.match(
    early.stderr.join("\n"),
    /warn {2}compatible\/test at HOST: the connection was closed before an answer came\..+; trying again in [\d.]+ s/,
  );
  const late = await asked([{
    parts: [{ text: ["Hello", " you", " there"] }],
    breakAfterBytes: 500,
  }]);
  assert.equal(late.code, 7);
  assert.ok("Hello you there".startsWith(late.stdout) && late.stdout !== "", late.stdout);
  assert.match(
    late.stderr.join("\n"),
    new RegExp(`the answer broke off after ${late.stdout.length} characters \\(the connection was closed\\)`),
  );
});

// Calls of the provider's own, event by event.

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, more: object = {}) =>
  event({ id: "x", choices: [{ index: 0, delta, ...more }] });
const call = (index: number, id: string, args: string) =>
  chunk({ tool_calls: [{ index, id, type: "function", function: { name: "Template", arguments: args } }] });
const more = (index: number, args: string) =>
  chunk({ tool_calls: [{ index, function: { arguments: args } }] });
const END = [chunk({}, { finish_reason: "tool_calls" }), "data: [DONE]\n\n"];
const template = (text: string) => JSON.stringify({ template: text });

/** What the model is told of its calls. */
async function results(events: readonly string[]) {
  const { messages, stderr, code, count } = await asked(
    [{ parts: [], events: [...events, ...END] }, { parts: [{ text: "Done." }] }],
    { flags: ["--tools", "Template", "--tools-mode", "native"] },
  );
  const told: readonly { readonly role: string; readonly tool_call_id: string; readonly content: string }[] =
    messages;
  const answers = told.filter(({ role }) => role === "tool");
  assert.equal(
    new Set(answers.map((each) => each.tool_call_id)).size,
    answers.length,
    "an id names two calls",
  );
  return { contents: answers.map(({ content }) => content), stderr, code, count };
}

Deno.test("misbehaving: two calls with one id are two calls", async () => {
  for (const index of [0, 1]) {
    const events = [call(0, "c1", template("one")), call(index, "c1", template("two"))];
    const { contents, code } = await results(events);
    assert.deepEqual([contents, code], [["one", "two"], 0], `second index ${index}`);
  }
});

Deno.test("misbehaving: arguments that are whole early and go on are read to their end", async () => {
  const blanks = await results([call(0, "c1", template("a")), more(0, " \n")]);
  assert.deepEqual(blanks.contents, ["a"]);
  for (const [first, rest] of [["{}", template("late")], [template("a"), ',"x":1}']] as const) {
    const { contents, code } = await results([call(0, "c1", first), more(0, rest)]);
    assert.equal(code, 0);
    assert.equal(contents.length, 1);
    assert.match(contents[0] ?? "", /^Error: The arguments are not valid JSON/);
    assert.ok(contents[0]?.endsWith(first + rest), "both halves are shown");
  }
});

Deno.test("misbehaving: more arguments behind the next call break the answer, and what ran is kept", async () => {
  const { contents, stderr, code } = await results([
    call(0, "c1", template("a")),
    call(1, "c2", template("b")),
    more(0, "x"),
  ]);
  assert.deepEqual([contents, code], [["a"], 0]);
  assert.match(stderr.join("\n"), /more arguments of Template behind the beginning of the next call/);
});
