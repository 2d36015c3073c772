// What a gadget gives that is no JSON: what was found, where, and what to give instead.

import assert from "node:assert/strict";
import fc from "fast-check";
import { createCatalog, runCalls } from "../mod.ts";
import { ResultError } from "../lib/core/gadget.ts";
import { createSecrets } from "../lib/journal/secrets.ts";
import { resultOf } from "../lib/run/calls/gadget.ts";

const given = (value: unknown) =>
  resultOf(value, { gadgetName: "Totals", maxBytes: 1000, mask: (json) => json });

function refused(value: unknown): string {
  try {
    given(value);
  } catch (error) {
    assert.ok(error instanceof ResultError, String(error));
    return error.message;
  }
  return assert.fail("it was taken");
}

const MAP = "return Object.fromEntries(map) instead";
const SET = "return [...set] instead";
const BIGINT = "return String(bigint), or Number(bigint) where that is exact, instead";
const NUMBER = "return null or a text instead";
const ANY = "a gadget gives text, or a value that JSON can hold";

const REFUSED: readonly (readonly [value: unknown, found: string, advice: string])[] = [
  [new Map(), "a Map", MAP],
  [{ items: [0, new Map()] }, "a Map at items/1", MAP],
  [{ "odd at key": new Set() }, "a Set at odd at key", SET],
  [new Set([1]), "a Set", SET],
  [[10n], "a bigint at 0", BIGINT],
  [{ a: { b: 1n } }, "a bigint at a/b", BIGINT],
  [Infinity, "the number Infinity", NUMBER],
  [{ mean: NaN }, "the number NaN at mean", NUMBER],
  [new Uint8Array(2), "a Uint8Array", ANY],
  [{ f: () => 1 }, "a function at f", ANY],
  [{ toJSON: () => new Map() }, "a Map", MAP],
];

Deno.test("a result that is no JSON: what was found, where, and what to give instead", () => {
  for (const [value, found, advice] of REFUSED) {
    assert.equal(refused(value), `The result of Totals is not JSON: found ${found}; ${advice}`);
  }
});

Deno.test("a result that cannot be read says why", () => {
  const value = {
    get a() {
      throw new Error("not JSON: found a Map");
    },
  };
  assert.match(refused(value), /^The result of Totals /);
  const boom = {
    toJSON: () => {
      throw new Error("boom");
    },
  };
  assert.equal(refused(boom), `The result of Totals cannot be read: boom; ${ANY}`);
});

Deno.test("property: what is advised for maps and sets is taken, and is the same data", () => {
  fc.assert(fc.property(fc.array(fc.tuple(fc.string(), fc.integer())), (entries) => {
    const map = new Map(entries.filter(([key]) => key !== "__proto__"));
    assert.deepEqual(given(Object.fromEntries(map)), Object.fromEntries(map));
    assert.deepEqual(given([...new Set(map.values())]), [...new Set(map.values())]);
  }));
});

/** Runs a gadget that streams these pieces, with a secret that nobody is to see. */
async function streamed(pieces: readonly string[], secret: string) {
  let isClosed = false;
  const catalog = createCatalog([{
    name: "Streams",
    run: async function* () {
      try {
        yield* pieces;
      } finally {
        isClosed = true;
      }
    },
  }]);
  const secrets = createSecrets();
  secrets.add("KEY", secret);
  let result: unknown;
  const text = ["!!!GADGET_START:Streams\n!!!GADGET_END\n"];
  for await (const event of runCalls(text, { catalog, secrets, limits: { resultBytes: 1_000 } })) {
    if (event.type === "call-result") result = event.result;
  }
  return { result: String(result), isClosed };
}

Deno.test("a stream is ended at the limit, and no half of a secret is left there", async () => {
  const secret = "0123456789abcdef".repeat(4);
  const cut =
    "[cut: the stream was ended here, so nobody knows how much is missing; limits.result-bytes is 1000]";
  const end = ["more", "and more"];
  const before = "x".repeat(960);
  assert.deepEqual(await streamed([before, secret.slice(0, 30), secret.slice(30), ...end], secret), {
    result: `${before}[secret KEY]\n${cut}`,
    isClosed: true,
  });
  assert.deepEqual(await streamed([before, secret.slice(0, 41), secret.slice(41), ...end], secret), {
    result: `${before}\n${cut}`,
    isClosed: true,
  });
  assert.deepEqual(await streamed([before, "a", "b"], secret), { result: `${before}ab`, isClosed: true });
});
