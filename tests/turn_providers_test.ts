// The turn over the wire: both ways to call gadgets against every format, with odd borders, keep-alive comments, a rate limit, and a stream
// that breaks in the middle. A call starts before the answer has ended in all of them.
import assert from "node:assert/strict";
import type { RunEvent } from "../mod.ts";
import { type ProviderProject, providerProject, type ProviderReply } from "./_provider_project.ts";
import { TEST_KEY } from "./_provider_server.ts";
import type { AnswerPart } from "./_provider_wire.ts";

const PROVIDERS = ["openai", "chat", "anthropic", "google", "compatible"] as const;
const MODES = ["blocks", "native"] as const;

type Mode = (typeof MODES)[number];

const BLOCK = ["!!!GADGET_", "START:Template:w\n!!!ARG:temp", "late\nsunny in Zür", "ich\n!!!GADGET_END\n"];

const callParts = (mode: Mode): readonly AnswerPart[] => [
  { text: ["Let me ", "look.\n"] },
  mode === "blocks"
    ? { text: BLOCK }
    : { call: { id: "call_w", name: "Template", arguments: ['{"temp', 'late":"sunny in Zü', 'rich"}'] } },
];

function run({ events }: ProviderProject, provider: string, mode: Mode): Promise<readonly RunEvent[]> {
  const question = "How is the weather in Zürich?";
  return events(
    question,
    "--ephemeral",
    "-m",
    `${provider}/test`,
    "--tools",
    "Template",
    "--tools-mode",
    mode,
  );
}

function assertAnswered(
  events: readonly RunEvent[],
  { requests }: ProviderProject["provider"],
  asked: number,
): void {
  const end = events.at(-1);
  assert.ok(end?.type === "run-end");
  assert.deepEqual([end.status, end.value], ["done", "Sunny."], end.error);
  const results = events.flatMap((event) => event.type === "call-result" ? [event.result] : []);
  assert.deepEqual(results, ["sunny in Zürich"]);
  assert.equal(requests.length, asked);
  assert.match(JSON.stringify(requests.at(-1)?.body), /sunny in Zürich/);
  assert.ok(!JSON.stringify(events).includes(TEST_KEY));
}

const answer: ProviderReply = { parts: [{ text: ["Sun", "ny."] }] };

for (const provider of PROVIDERS) {
  for (const mode of MODES) {
    const how: Readonly<
      Record<string, { readonly first: Partial<ProviderReply>; readonly before?: readonly ProviderReply[] }>
    > = {
      "as it comes": { first: {} },
      "cut at every third byte": { first: { chunkBytes: 3 } },
      "with keep-alive comments": { first: { keepAlive: true, chunkBytes: 11 } },
      "after a rate limit and a 503": {
        first: {},
        before: [{ status: 429, retryAfter: "0" }, { status: 503, retryAfter: "0" }],
      },
    };
    for (const [name, { first, before = [] }] of Object.entries(how)) {
      Deno.test(`${provider}, ${mode}, ${name}`, async () => {
        const replies: readonly ProviderReply[] = [
          ...before,
          { parts: callParts(mode), ...first } as ProviderReply,
          answer,
        ];
        await using at = await providerProject(replies);
        assertAnswered(await run(at, provider, mode), at.provider, replies.length);
      });
    }
    Deno.test(`${provider}, ${mode}: the call runs while the answer still comes`, async () => {
      const parts: readonly AnswerPart[] = mode === "blocks"
        ? [...callParts(mode), { text: Array.from({ length: 20 }, () => "and ") }]
        : [...callParts(mode), {
          call: { id: "call_v", name: "Template", arguments: Array.from('{"template":"Bern"}') },
        }];
      await using at = await providerProject([{ parts, delayMs: 15 }, answer]);
      const events = await run(at, provider, mode);
      const result = events.findIndex((event) => event.type === "call-result");
      const message = events.findIndex((event) => event.type === "message");
      assert.ok(result >= 0 && result < message, `${result} ${message}`);
      const [from, to] = [events[result]?.at ?? 0, events[message]?.at ?? 0];
      assert.ok(to - from > 10, `the answer went on for ${to - from} ms`);
    });
    Deno.test(`${provider}, ${mode}: a stream that breaks behind a call`, async () => {
      const parts: readonly AnswerPart[] = mode === "blocks"
        ? [...callParts(mode), { text: "and then some more text that will never end" }]
        : [...callParts(mode), {
          call: { id: "call_v", name: "Template", arguments: ['{"template":', '"Be', 'rn"}'] },
        }];
      await using at = await providerProject([{
        parts,
        finish: "none",
        streamError: { type: "overloaded_error", message: "gone" },
      }, answer]);
      const events = await run(at, provider, mode);
      const results = events.filter((event) => event.type === "call-result").length;
      assert.equal(results, 1, "nobody knows whether the last call of the provider was complete");
      const end = events.at(-1);
      assert.ok(
        end?.type === "run-end" && end.status === "done" && end.value === "Sunny.",
        JSON.stringify(end),
      );
    });
  }
}

Deno.test("a call in a thought at the beginning of a text is none, unless the provider's thoughts are text", async () => {
  const thinking: ProviderReply = { parts: [{ text: ["<thi", "nk>\n", ...BLOCK, "</think>\nSun", "ny."] }] };
  for (const [thoughts, results] of [[undefined, 0], ["reasoning", 0], ["text", 1]] as const) {
    await using at = await providerProject([thinking, answer], {
      models: ({ settings: { providers } }) => ({
        providers: {
          ...providers,
          compatible: { ...providers.compatible, ...(thoughts !== undefined && { thoughts }) },
        },
      }),
    });
    const events = await run(at, "compatible", "blocks");
    const end = events.at(-1);
    assert.ok(end?.type === "run-end");
    assert.equal(end.value, "Sunny.");
    assert.equal(events.filter(({ type }) => type === "call-result").length, results, thoughts);
  }
});
