// What pages load, and the forms that start something: modules as a browser reads them, fields made from JSON Schema, and the values that
// their texts stand for.

import assert from "node:assert/strict";
import { type Served, served } from "./_served_project.ts";
import { statusOf, TOKEN } from "./_server.ts";

const SCHEMA = {
  type: "object",
  properties: {
    path: { type: "string", maxLength: 100, description: "Where." },
    text: { type: "string" },
    count: { type: "integer", minimum: 1, default: 3 },
    deep: { type: "boolean" },
    mode: { enum: ["fast", "slow"], default: "fast" },
    tags: { type: "array", items: { type: "string" } },
    "a/b": { type: "object", properties: { size: { type: "number" } }, required: ["size"] },
    any: {},
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
    nothing: { type: ["string", "null"] },
  },
  required: ["path", "count"],
  additionalProperties: false,
};

const SIZED = {
  type: "object",
  properties: { size: { type: "number" }, unit: { type: "string" } },
  required: ["size"],
};

const gadget = (name: string, input: object): string =>
  `export default { name: "${name}", description: "Test.", input: ${
    JSON.stringify(input)
  }, run: (input) => input };\n`;

const GROUP = { type: "object", properties: { g: SIZED } };

const FILES = {
  "gadgets/keep.js": gadget("Keep", SCHEMA),
  "gadgets/grouped.js": gadget("Grouped", { ...GROUP, required: ["g"] }),
  "gadgets/half.js": gadget("Half", GROUP),
  "gadgets/any.js": gadget("Any", { type: "object" }),
  "gadgets/one_of.js": gadget("OneOf", {
    type: "object",
    properties: { a: {} },
    oneOf: [{ required: ["a"] }],
  }),
};

Deno.test("pages load each module with all that it imports, as JavaScript under its own name, and nothing from elsewhere", async () => {
  await using server = await served({});
  const page = await (await server.ask("/")).text();
  const loaded = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, at = ""]) => at);
  for (const at of loaded) assert.match(at, /^[/#](?!\/)/, "it is of this server");
  const base = /\/assets\/[0-9a-f]{16}\//.exec(page)?.[0] ?? "";
  assert.notEqual(base, "");
  // Nobody needs a token for them.
  const found = async (path: string) => {
    const answer = await fetch(`${server.origin}${base}${path}`);
    return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
  };
  const seen = new Set<string>();
  const waiting = ["theme", "keys", "form", "search", "times"].map((name) => `lib/browser/${name}.ts`);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, type, text } = await found(path);
    assert.deepEqual([status, type], [200, "text/javascript; charset=utf-8"], path);
    assert.doesNotMatch(text, /^import type |: readonly |interface \w+ \{/m, path);
    for (const [, specifier = ""] of text.matchAll(/\bfrom "([^"]+)"/g)) {
      waiting.push(new URL(specifier, `http://x/${path}`).pathname.slice(1));
    }
  }
  assert.ok(seen.has("lib/browser/dom.ts"));
  const styles = await found("lib/browser/page.css");
  assert.equal(styles.type, "text/css; charset=utf-8");
  assert.doesNotMatch(styles.text, /url\(|@import|https?:/);
  assert.equal((await found("lib/browser/icon.svg")).type, "image/svg+xml");
  for (const path of ["lib/core/memory_files.ts", "deno.json", "__proto__", "constructor"]) {
    assert.equal((await found(path)).status, 404, path);
  }
  const outside = `${base}lib/browser/%2e%2e/%2e%2e/deno.json`;
  assert.ok([400, 403, 404].includes(await statusOf(await server.ask(outside))));
});

/** What a form says when it is posted: where it leads, or what is wrong with which field. */
async function posted(
  server: Served,
  name: string,
  fields: Readonly<Record<string, string>>,
): Promise<{ readonly value?: unknown; readonly problems?: readonly string[] }> {
  const answer = await fetch(`${server.origin}/start`, {
    method: "POST",
    redirect: "manual",
    headers: { authorization: `Bearer ${TOKEN}`, accept: "application/json" },
    body: new URLSearchParams({ kind: "gadget", name, ...fields }),
  });
  const text = await answer.text();
  if (answer.status === 200) {
    const { body } = await server.json(`/v1${JSON.parse(text).url}?wait=20`);
    return { value: body.value };
  }
  assert.equal(answer.status, 400, text);
  const problems: readonly { readonly pointer: string; readonly message: string }[] = JSON.parse(text).fields;
  return { problems: problems.map(({ pointer, message }) => `${pointer}: ${message}`) };
}

Deno.test("a form has a field of its kind for each value, and one for JSON where there is no plain object", async () => {
  await using server = await served(FILES);
  const formOf = async (name: string): Promise<string> =>
    /<form class="form.*<\/form>/s.exec(await (await server.ask(`/gadgets/${name}`)).text())?.[0] ?? "";
  const form = await formOf("Keep");
  const shown = [...form.matchAll(
    /<label for="in_[^"]*"><code>([^<]*)<\/code> <span class="type">([^<]*)<\/span><\/label><(input|textarea|select)([^>]*)>(.*?)<p class="(?:hint|wrong)"/gs,
  )].map(([, label, type, element, attributes = "", rest = ""]) => {
    const name = /name="in:([^"]*)"/.exec(attributes)?.[1];
    const kind = /type="(\w+)"/.exec(attributes)?.[1] ?? element;
    const value = /value="([^"]+)"\//.exec(attributes)?.[1] ?? /value="(\w+)" selected/.exec(rest)?.[1];
    return `${name} ${label}: ${kind}, ${type}${value === undefined ? "" : ` = ${value}`}`;
  });
  assert.deepEqual(shown, [
    "/path path: text, text",
    "/text text: textarea, text, optional",
    "/count count: number, integer, optional = 3",
    "/deep deep: select, true or false, optional",
    "/mode mode: select, one of these, optional = fast",
    "/tags tags: textarea, one a line, optional",
    "/a~1b/size size: number, number, optional",
    "/any any: textarea, JSON, optional",
    "/either either: textarea, JSON, optional",
    "/nothing nothing: textarea, text, optional",
  ]);
  assert.match(form, /<input id="in_path" name="in:\/path" required/);
  assert.match(form, /<legend><code>a\/b<\/code> <span class="type">object, optional<\/span>/);
  for (const name of ["Any", "OneOf"]) {
    const plain = await formOf(name);
    assert.match(plain, /<textarea id="json" name="json"/);
    assert.doesNotMatch(plain, /name="in:|<details/);
  }
});

Deno.test("the texts of a form become values of the schema, or each has what is wrong with it; so does its JSON", async () => {
  await using server = await served(FILES);
  const filled = await posted(server, "Keep", {
    "in:/path": "5",
    "in:/text": "a\r\nb",
    "in:/count": "7",
    "in:/deep": "true",
    "in:/mode": "slow",
    "in:/tags": "x\n\n1\n",
    "in:/a~1b/size": "1.5",
    "in:/any": "[1, null]",
    "in:/either": '"7"',
    "in:/nothing": "",
    "in:/unknown": "is not looked at",
  });
  assert.deepEqual(filled.value, {
    path: "5", // stays a text
    text: "a\nb",
    count: 7,
    deep: true,
    mode: "slow",
    tags: ["x", "1"],
    "a/b": { size: 1.5 },
    any: [1, null],
    either: "7",
  });
  const problems = async (fields: Readonly<Record<string, string>>, name = "Keep") =>
    (await posted(server, name, fields)).problems ?? [];
  assert.deepEqual(await problems({}), ["/path: needs a value"]);
  assert.deepEqual(await problems({ "in:/path": "x", "in:/count": "many" }), [
    '/count: expected integer, found "many"',
  ]);
  assert.match((await problems({ "in:/path": "x", "in:/any": "{" })).join(), /^\/any: expected JSON: /);
  assert.match((await problems({ "in:/path": "x", "in:/count": "0" })).join(), /^\/count: .*1/);
  assert.deepEqual(await problems({}, "Grouped"), ["/g/size: needs a value"]);
  assert.match((await problems({ "in:/g/unit": "m" }, "Half")).join(), /^\/g/);
  assert.deepEqual((await posted(server, "Keep", { json: '{"path":"a","count":2}' })).value, {
    path: "a",
    count: 2,
    mode: "fast",
  });
  const ofJson = async (json: string) => (await problems({ json }))[0]?.replace(/^: /, "") ?? "";
  assert.match(await ofJson("{"), /^expected a JSON object: /);
  assert.equal(await ofJson("[1]"), "expected a JSON object");
  assert.notEqual(await ofJson("{}"), "");
});
