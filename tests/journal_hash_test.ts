import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalJson } from "../lib/core/json.ts";
import { sha256 } from "../lib/core/sha256.ts";

async function platformSha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

Deno.test("the examples of FIPS 180-4", () => {
  const known = {
    "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    abc: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq:
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  };
  for (const [text, hash] of Object.entries(known)) assert.equal(sha256(text), hash);
});

Deno.test("every length around the ends of a block is hashed as the platform does it", async () => {
  for (let length = 0; length < 200; length++) {
    const text = "é".repeat(length >> 1) + "a".repeat(length & 1);
    assert.equal(sha256(text), await platformSha256(text), String(length));
  }
});

Deno.test("property: any text is hashed as the platform does it", () =>
  fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 3000 }), async (text) => {
      assert.equal(sha256(text), await platformSha256(text));
    }),
  ));

Deno.test("property: the order of keys makes no difference, and anything else does", () => {
  const shuffled = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(shuffled)
      : typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).toReversed().map(([key, inside]) => [key, shuffled(inside)]))
      : value;
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const [left, right] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))];
      assert.equal(canonicalJson(shuffled(left)), canonicalJson(left));
      assert.deepEqual(JSON.parse(canonicalJson(left)), left);
      let isSame = true;
      try {
        assert.deepEqual(left, right);
      } catch {
        isSame = false;
      }
      assert.equal(canonicalJson(left) === canonicalJson(right), isSame);
    }),
  );
});
