// What a run is going to need is seen in the first chunk of its text, which is read in its turn all the same.

import assert from "node:assert/strict";
import fc from "fast-check";
import { begunText } from "../lib/cli/run/source.ts";
import { calledNames } from "../lib/parse/calls/header.ts";

async function* of(chunks: readonly string[], log: string[] = [], error?: Error): AsyncGenerator<string> {
  try {
    for (const chunk of chunks) {
      log.push(`read ${chunk}`);
      yield chunk;
    }
    if (error !== undefined) throw error;
  } finally {
    log.push("closed");
  }
}

async function all(text: AsyncIterable<string>): Promise<readonly string[]> {
  return await Array.fromAsync(text);
}

Deno.test("a begun text is whole, and no more of it is read before its turn", async () => {
  const log: string[] = [];
  const { first, text } = await begunText(of(["a", "b", "c"], log));
  assert.equal(first, "a");
  assert.deepEqual(log, ["read a"]);
  assert.deepEqual(await all(text), ["a", "b", "c"]);
  assert.deepEqual(log, ["read a", "read b", "read c", "closed"]);
  const empty = await begunText(of([]));
  assert.equal(empty.first, "");
  assert.deepEqual(await all(empty.text), []);
});

Deno.test("what is wrong with a text is told when it is read", async () => {
  for (const chunks of [[], ["a"], ["a", "b"]]) {
    const { first, text } = await begunText(of(chunks, [], new Error("no text")));
    assert.equal(first, chunks[0] ?? "");
    const read: string[] = [];
    await assert.rejects(async () => {
      for await (const chunk of text) read.push(chunk);
    }, /no text/);
    assert.deepEqual(read, chunks);
  }
});

Deno.test("a text that is left early is closed", async () => {
  for (const left of ["a", "b"]) {
    const log: string[] = [];
    const { text } = await begunText(of(["a", "b", "c"], log));
    for await (const chunk of text) if (chunk === left) break;
    assert.equal(log.at(-1), "closed");
  }
});

Deno.test("the names of called gadgets are seen", () => {
  const start = "!!!GADGET_START:";
  const seen = (text: string): readonly string[] => [...calledNames(text, { start })];
  assert.deepEqual(seen(""), []);
  assert.deepEqual(seen(`${start}Now:a\n!!!GADGET_END\n${start} ReadFile : b : a\n${start}Now\n`), [
    "Now",
    "ReadFile",
  ]);
  assert.deepEqual(seen(`${start}\n${start}`), []);
  assert.deepEqual(seen(`${start}toString\n`), ["toString"]);
  fc.assert(fc.property(fc.string(), fc.constantFrom("Now", "Mine", "s.tool-1"), (text, name) => {
    assert.deepEqual(new Set(seen(`${text}\n${start}${name}:x`)), new Set([...seen(text), name]));
  }));
});
