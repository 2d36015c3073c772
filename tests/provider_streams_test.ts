// What real providers sent, read whole and in pieces: the parts must be those that the AI SDK itself makes of the same bytes.
// The streams are no part of the project; without them this file says so.
import assert from "node:assert/strict";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { memoryFiles, ModelError, type ModelPart, systemClock } from "../mod.ts";
import { openModels } from "../lib/models/open_models.ts";

type Fetch = typeof fetch;

interface Provider {
  readonly id: string;
  sdk(fetch: Fetch): LanguageModelV4;
}

const KEY = { apiKey: "test" };
const PROVIDERS: Readonly<Record<string, Provider>> = {
  "anthropic": {
    id: "anthropic/claude-sonnet-4-5",
    sdk: (fetch) => createAnthropic({ ...KEY, fetch })("claude-sonnet-4-5"),
  },
  "google": {
    id: "google/gemini-2.5-pro",
    sdk: (fetch) => createGoogle({ ...KEY, fetch })("gemini-2.5-pro"),
  },
  "mistral": { id: "mistral/m", sdk: (fetch) => createMistral({ ...KEY, fetch })("m") },
  "openai-chat": {
    id: "local/m",
    sdk: (fetch) => createOpenAICompatible({ name: "local", baseURL: "http://local.test/v1", fetch })("m"),
  },
  "openai-responses": { id: "openai/gpt-5", sdk: (fetch) => createOpenAI({ ...KEY, fetch })("gpt-5") },
};

/** What both readings are compared by. */
interface Reading {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly (readonly [name: string, input: string])[];
  readonly usage?: { readonly input: number; readonly output: number };
  /** The finish reason of the provider, or `error`. */
  readonly end: string;
}

const folder = Deno.env.get("ORRERY_PROVIDER_STREAMS") ?? "";
const streams = Object.keys(PROVIDERS).flatMap((name) =>
  filesIn(`${folder}/${name}`).map((file) => ({ name, file }))
);

if (streams.length === 0) {
  Deno.test("provider streams", () => {
    console.log(
      `not run here: ${folder === "" ? "ORRERY_PROVIDER_STREAMS is not set" : `no streams in ${folder}`}`,
    );
  });
}

for (const { name, file } of streams) {
  Deno.test(`provider streams: ${name}/${file}`, async () => {
    const provider = PROVIDERS[name];
    assert.ok(provider);
    const record = wireText(name, await Deno.readTextFile(`${folder}/${name}/${file}`));
    const bytes = new TextEncoder().encode(record);
    const wanted = await sdkReading(provider.sdk(fetchOf(bytes, bytes.length)));
    for (const size of [bytes.length, 64, 7, 1]) {
      assert.deepEqual(
        await ourReading(provider.id, fetchOf(bytes, size)),
        wanted,
        `cut at every ${size} bytes`,
      );
    }
    await checkCuts(provider.id, { record, wanted });
    const half = await ourReading(provider.id, fetchOf(bytes.slice(0, bytes.length / 2), 64));
    assert.ok(wanted.text.startsWith(half.text), "half of it says something else");
  });
}

/** Reasons that are written in place of the stream's own, where it has one. */
const REASONS = ["length", "max_tokens", "MAX_TOKENS", "content_filter", "refusal", "SAFETY", "weird"];
const REASON = /("(?:finish_reason|stop_reason|finishReason)"\s*:\s*)"\w+"/g;

/** Cut behind each event, and ended for each reason: a call is told only when something came behind it, or the answer ended well. */
async function checkCuts(
  id: string,
  { record, wanted }: { readonly record: string; readonly wanted: Reading },
): Promise<void> {
  const events = record.split(/(?<=\n\n)/);
  // Of long streams some: what matters is near the calls, and each beginning is read whole.
  const every = Math.ceil(events.length / 150);
  for (let kept = 1; kept < events.length; kept += every) {
    const bytes = new TextEncoder().encode(events.slice(0, kept).join(""));
    const parts = await ourParts(id, fetchOf(bytes, bytes.length));
    const { calls, end } = readingOf(parts);
    assert.deepEqual(calls, wanted.calls.slice(0, calls.length), `${kept} of ${events.length}`);
    assert.ok(end !== "error" || !endsWithCall(parts), `${kept} of ${events.length}`);
  }
  for (const reason of record.search(REASON) < 0 ? [] : REASONS) {
    const bytes = new TextEncoder().encode(record.replaceAll(REASON, `$1"${reason}"`));
    const parts = await ourParts(id, fetchOf(bytes, bytes.length));
    const { calls } = readingOf(parts);
    if (reason === "weird") assert.deepEqual(calls, wanted.calls.slice(0, calls.length));
    else assert.ok(!endsWithCall(parts), `${reason}: a call at the end of an answer that was cut`);
  }
}

/** Nothing was told that had begun behind the last call. */
function endsWithCall(parts: readonly ModelPart[]): boolean {
  const told = parts.filter(({ type }) => type !== "finish" && type !== "call-delta" && type !== "call-cut");
  return told.at(-1)?.type === "call";
}

function filesIn(path: string): readonly string[] {
  if (folder === "") return [];
  try {
    return [...Deno.readDirSync(path)].map((entry) => entry.name).filter((each) => each.endsWith(".txt"))
      .toSorted();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** A line of a record is the data of one event. */
function wireText(name: string, record: string): string {
  const events = record.split("\n").filter((line) => line.trim() !== "").map((line) => {
    const type = /"type"\s*:\s*"([^"]+)"/.exec(line)?.[1];
    const isNamed = name === "anthropic" || name === "openai-responses";
    return `${isNamed && type !== undefined ? `event: ${type}\n` : ""}data: ${line}\n\n`;
  });
  return events.join("") + (name === "openai-chat" ? "data: [DONE]\n\n" : "");
}

function fetchOf(bytes: Uint8Array<ArrayBuffer>, size: number): Fetch {
  return () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(at, at += size));
      },
    });
    return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  };
}

async function sdkReading(model: LanguageModelV4): Promise<Reading> {
  const [texts, thoughts, calls]: [string[], string[], [string, string][]] = [[], [], []];
  let [end, usage]: [string, Reading["usage"]] = ["error", undefined];
  try {
    const { stream } = await model.doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    });
    for await (const part of stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") texts.push(part.delta);
      if (part.type === "reasoning-delta") thoughts.push(part.delta);
      if (part.type === "tool-call" && !part.providerExecuted) calls.push([part.toolName, part.input]);
      if (part.type === "finish") {
        const { unified, raw } = part.finishReason;
        if (unified === "interrupted") throw new Error("interrupted");
        // `stop` after calls is `calls` to us.
        end = raw ?? (unified === "stop" && calls.length > 0 ? "tool-calls" : unified);
        const [input = 0, said = 0] = [part.usage.inputTokens.total, part.usage.outputTokens.total];
        const thought = part.usage.outputTokens.reasoning ?? 0;
        usage = { input, output: thought > said ? said + thought : said };
      }
    }
  } catch {
    [end, usage] = ["error", undefined];
  }
  return { text: texts.join(""), reasoning: thoughts.join(""), calls, ...(usage && { usage }), end };
}

async function ourReading(id: string, fetch: Fetch): Promise<Reading> {
  return readingOf(await ourParts(id, fetch));
}

async function ourParts(id: string, fetch: Fetch): Promise<readonly ModelPart[]> {
  const models = openModels({
    settings: { providers: { local: { type: "openai-compatible", baseURL: "http://local.test/v1" } } },
    fetch,
    env: () => "test-key-0123456789",
    clock: systemClock,
    files: memoryFiles(),
    retry: { retries: 0 },
  });
  const parts: ModelPart[] = [];
  let failed = false;
  try {
    const model = await models.find(id);
    for await (const part of model.stream({ messages: [{ role: "user", content: "Hi" }] })) parts.push(part);
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    assert.ok(error.message.length > 20);
    failed = true;
  }
  const finish = parts.find((part) => part.type === "finish");
  assert.equal(finish === undefined, failed, "each answer ends with a finish or an error");
  return parts;
}

function readingOf(parts: readonly ModelPart[]): Reading {
  const finish = parts.find((part) => part.type === "finish");
  const calls = parts.flatMap((part) => part.type === "call" ? [part.call] : []);
  assert.equal(new Set(calls.map((call) => call.id)).size, calls.length, "a call was told twice");
  return {
    text: parts.map((part) => part.type === "text" ? part.text : "").join(""),
    reasoning: parts.map((part) => part.type === "reasoning" ? part.text : "").join(""),
    calls: calls.map((call) => [call.name, call.arguments] as const),
    ...(finish && { usage: { input: finish.usage.input, output: finish.usage.output } }),
    end: finish === undefined
      ? "error"
      : finish.rawReason ?? (finish.reason === "calls" ? "tool-calls" : finish.reason),
  };
}
