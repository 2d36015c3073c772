// What is the same to a journal, and the hash of an agent file: SHA-256 as the platform makes it.

import assert from "node:assert/strict";
import fc from "fast-check";
import { type Json, loadAgent, memoryJournal, type StepStart } from "../mod.ts";

const AGENT = 'version: "0.1"\nstructure: { id: a, action: { id: m, message: { message: x } } }\n#';

/** Of an agent file that ends with a comment. */
async function hashes(comment: string): Promise<readonly [mine: string, platform: string]> {
  const text = AGENT + comment;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const platform = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [(await loadAgent({ file: "a", text })).hash, platform];
}

Deno.test("every length around the ends of a block is hashed as the platform does it", async () => {
  for (let length = 0; length < 200; length++) {
    const [mine, platform] = await hashes("é".repeat(length >> 1) + "a".repeat(length & 1));
    assert.equal(mine, platform, String(length));
  }
});

Deno.test("property: any text is hashed as the platform does it", () =>
  fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 3000 }), async (text) => {
      const [mine, platform] = await hashes(text.replaceAll(/[\s\p{C}]/gu, "_"));
      assert.equal(mine, platform);
    }),
  ));

Deno.test("property: the order of keys makes no difference to what was recorded, and anything else does", () => {
  const shuffled = (value: Json): Json =>
    Array.isArray(value)
      ? value.map(shuffled)
      : typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).toReversed().map(([key, inside]) => [key, shuffled(inside)]))
      : value;
  const json = fc.jsonValue().map((value): Json => JSON.parse(JSON.stringify(value)));
  using journal = memoryJournal();
  fc.assert(
    fc.property(json, json, (left, right) => {
      const run = journal.create({ kind: "calls", input: null });
      const step = (input: Json): StepStart => ({
        key: "a",
        kind: "gadget",
        name: "X",
        input,
        idempotent: true,
      });
      run.begin(step(left));
      run.finish("a", { ok: 1 });
      assert.equal(run.begin(step(shuffled(left))).do, "answer");
      let isSame = true;
      try {
        assert.deepEqual(left, right);
      } catch {
        isSame = false;
      }
      if (isSame) assert.equal(run.begin(step(right)).do, "answer");
      else assert.throws(() => run.begin(step(right)), { name: "DivergedError" });
      run.release("done");
      assert.deepEqual(journal.read(run.id).steps[0]?.input, left);
    }),
  );
});
