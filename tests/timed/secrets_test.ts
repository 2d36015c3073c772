import assert from "node:assert/strict";
import fc from "fast-check";
import { createSecrets } from "../../lib/core/secrets.ts";
import type { Secrets } from "../../lib/core/world.ts";

function secretsOf(values: Readonly<Record<string, string>>): Secrets {
  const secrets = createSecrets();
  for (const [name, value] of Object.entries(values)) secrets.add(name, value);
  return secrets;
}

function streamed(secrets: Secrets, pieces: readonly string[]): string {
  const stream = secrets.stream();
  return pieces.map((piece) => stream.push(piece)).join("") + stream.end();
}

function cut(text: string, places: readonly number[]): readonly string[] {
  const sorted = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((start, index) => text.slice(start, sorted[index] ?? text.length));
}

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

Deno.test("a secret is replaced in every form", () => {
  const value = `p/ä"s+\\w&r d?~>`;
  const secrets = secretsOf({ KEY: value });
  const forms = {
    raw: value,
    json: JSON.stringify(value).slice(1, -1),
    "json with escaped slashes": JSON.stringify(value).slice(1, -1).replaceAll("/", "\\/"),
    "json in ASCII": JSON.stringify(value).slice(1, -1).replaceAll("ä", "\\u00e4"),
    url: encodeURIComponent(value),
    "url, lower case": encodeURIComponent(value).replace(/%../g, (hex) => hex.toLowerCase()),
    form: new URLSearchParams({ k: value }).toString().slice(2),
    base64: base64(value),
    "base64 without padding": base64(value).replace(/=+$/, ""),
    "base64 for URLs": base64(value).replaceAll("+", "-").replaceAll("/", "_"),
  };
  for (const [name, form] of Object.entries(forms)) {
    assert.equal(secrets.mask(`a ${form} b`), "a [secret KEY] b", name);
  }
  assert.ok(base64(value).endsWith("=") && /[+/]/.test(base64(value)), "the value tries what base64 has");
});

Deno.test("what is no secret stays, and is the same value", () => {
  const secrets = secretsOf({ KEY: "correct horse", SHORT: "abcdefg", BLANKS: "   abc    " });
  const text = "correct hors abcdefg abc";
  assert.equal(secrets.mask(text), text);
  const json = { a: [1, null, "x", { b: text }], "correct hors": true };
  assert.equal(secrets.maskJson(json), json);
  assert.equal(createSecrets().maskJson(json), json);
  assert.equal(streamed(createSecrets(), ["a", "b"]), "ab");
});

Deno.test("eight characters are a secret, and the blanks around a value are not of it", () => {
  const secrets = secretsOf({ EIGHT: "abcdefgh", FILE: "token-12345\n" });
  assert.equal(secrets.mask("xabcdefghx token-12345;"), "x[secret EIGHT]x [secret FILE];");
});

Deno.test("overlapping, nested and touching secrets leave nothing of any of them", () => {
  const secrets = secretsOf({ INNER: "efghijkl", OUTER: "abcdefghijklmnop", NEXT: "nopqrstuv" });
  const cases: readonly (readonly [string, string])[] = [
    ["<abcdefghijklmnop>", "<[secret OUTER]>"],
    ["<abcdefghijkl>", "<abcd[secret INNER]>"],
    ["<abcdefghijklmnopqrstuv>", "<[secret OUTER]>"],
    ["<efghijklnopqrstuv>", "<[secret INNER][secret NEXT]>"],
    ["<abcdefghijklmnopabcdefghijklmnop>", "<[secret OUTER][secret OUTER]>"],
    ["efghijklm", "[secret INNER]m"],
  ];
  for (const [text, masked] of cases) {
    assert.equal(secrets.mask(text), masked);
    assert.equal(streamed(secrets, [...text]), masked, `one character at a time: ${text}`);
  }
});

Deno.test("a secret that overlaps itself is one place however long the row is", () => {
  const secrets = secretsOf({ ROW: "aaaaaaaa", BEAT: "abababababab" });
  assert.equal(secrets.mask(`b${"a".repeat(20)}b`), "b[secret ROW]b");
  assert.equal(secrets.mask("ababababababab c"), "[secret BEAT] c");
  const start = performance.now();
  assert.equal(secrets.mask("a".repeat(1_000_000)), "[secret ROW]");
  assert.equal(streamed(secrets, Array.from({ length: 50_000 }, () => "aaaa")), "[secret ROW]");
  assert.ok(performance.now() - start < 3000, `it took ${performance.now() - start} ms`);
});

Deno.test("two names of one value: the first is shown; two values of one name: both are taken out", () => {
  const secrets = createSecrets();
  secrets.add("FIRST", "one value");
  secrets.add("SECOND", "one value");
  secrets.add("SECOND", "other value");
  assert.equal(secrets.mask("one value, other value"), "[secret FIRST], [secret SECOND]");
});

Deno.test("keys of objects are masked, and none of two that become the same is lost", () => {
  const secrets = secretsOf({ KEY: "secret/value" });
  const masked = secrets.maskJson({
    "secret/value": 1,
    "secret%2Fvalue": 2,
    nested: [{ deep: "is secret/value" }],
    __proto__: null,
  });
  assert.deepEqual(masked, {
    "[secret KEY]": 1,
    "[secret KEY] 2": 2,
    nested: [{ deep: "is [secret KEY]" }],
  });
});

Deno.test("a stream holds back no more than may begin a secret", () => {
  const secrets = secretsOf({ KEY: "hunter2-hunter3" });
  const stream = secrets.stream();
  assert.equal(stream.push("the hun"), "the ");
  assert.equal(stream.push("gry hunter2-hunter"), "hungry ");
  assert.equal(stream.push("3"), "[secret KEY]");
  assert.equal(stream.push("hunter2"), "");
  assert.equal(stream.end(), "hunter2");
  assert.equal(stream.push("again"), "again");
});

Deno.test("a secret that is added while a stream is open is found in it", () => {
  const secrets = createSecrets();
  const stream = secrets.stream();
  assert.equal(stream.push("nothing yet; "), "nothing yet; ");
  secrets.add("LATE", "late-secret");
  assert.equal(stream.push("late-") + stream.push("secret.") + stream.end(), "[secret LATE].");
});

/** Few letters, so that secrets meet each other and themselves. */
const letters = fc.string({ unit: fc.constantFrom("a", "b", "/", "ä", '"'), minLength: 8, maxLength: 14 });
const filler = fc.string({ unit: fc.constantFrom("a", "b", "/", "ä", '"', "-", "="), maxLength: 12 });

const scene = fc.record({
  values: fc.array(letters, { minLength: 1, maxLength: 4 }),
  parts: fc.array(
    fc.oneof(
      filler,
      fc.tuple(fc.nat(), fc.nat({ max: 5 })).map(([which, form]) => ({ which, form })),
    ),
    { maxLength: 8 },
  ),
  cuts: fc.array(fc.nat(), { maxLength: 12 }),
});

function textOf(
  { values, parts }: {
    values: readonly string[];
    parts: readonly (string | { which: number; form: number })[];
  },
) {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    const value = values[part.which % values.length] ?? "";
    const forms = [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      base64(value),
      value.slice(3),
      value.slice(0, 9),
    ];
    return forms[part.form] ?? "";
  }).join("");
}

Deno.test("property: a stream is the mask of the whole, whatever the cuts", () => {
  fc.assert(
    fc.property(scene, ({ values, parts, cuts }) => {
      const secrets = secretsOf(Object.fromEntries(values.map((value, index) => [`S${index}`, value])));
      const text = textOf({ values, parts });
      assert.equal(streamed(secrets, cut(text, cuts)), secrets.mask(text));
      assert.equal(streamed(secrets, [...text]), secrets.mask(text));
    }),
    { numRuns: 1500 },
  );
});

Deno.test("property: no secret is left, in no form", () => {
  fc.assert(
    fc.property(scene, ({ values, parts, cuts }) => {
      const secrets = secretsOf(Object.fromEntries(values.map((value, index) => [`S${index}`, value])));
      const masked = streamed(secrets, cut(textOf({ values, parts }), cuts));
      for (const value of values.filter((value) => value.trim().length >= 8)) {
        for (
          const form of [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), base64(value)]
        ) {
          assert.ok(!masked.includes(form), `${JSON.stringify(form)} in ${JSON.stringify(masked)}`);
        }
      }
    }),
    { numRuns: 1500 },
  );
});

Deno.test("a megabyte without a secret is looked through in a few milliseconds", () => {
  const secrets = createSecrets();
  for (let i = 0; i < 10; i++) secrets.add(`K${i}`, `sk-${crypto.randomUUID()}`);
  const text = 'lorem ipsum sk- dolor 0123456789 sit amet {"a": 1}\n'.repeat(20_000);
  const times = Array.from({ length: 7 }, () => {
    const start = performance.now();
    assert.equal(secrets.mask(text), text);
    return performance.now() - start;
  }).sort((a, b) => a - b);
  assert.ok((times[3] ?? 0) < 20, `the median is ${times[3]} ms`);
});
