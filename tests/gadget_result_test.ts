// What a gadget gives that is no JSON: what was found, where, and what to give instead.

import assert from "node:assert/strict";
import fc from "fast-check";
import { ResultError } from "../lib/core/gadget_error.ts";
import { resultOf } from "../lib/run/run_gadget.ts";

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
