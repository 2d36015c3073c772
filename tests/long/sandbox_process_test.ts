// What runs inside the process of a gadget: the real process, with its real flags. A gadget may break the language around it, or try to get
// round what was taken away. A package from npm gets Node's own modules there, where the gadget's own get facades, and has no rights by any
// of them; what it prints, or asks of `process`, is the gadget's. In the binary there are no packages.

import assert from "node:assert/strict";
import { GadgetSide, type Said, type StartSide } from "../_gadget_side.ts";
import { thoroughTest } from "../_thorough.ts";
import { join } from "node:path";

const probe = (run: string, further = ""): StartSide["modules"] => ({
  "0.js":
    `export default { name: "Probe", description: "A test.", ${further} async run(input, context) { ${run} } };`,
});

async function one(
  run: string,
  options: { further?: string; top?: string } & Partial<StartSide> = {},
): Promise<Said> {
  const { further, top = "", ...start } = options;
  const modules = probe(run, further);
  const { side, loaded } = await GadgetSide.load({
    modules: { "0.js": `${top}\n${modules["0.js"]}` },
    ...start,
  });
  await using _ = side;
  assert.equal(loaded.type, "loaded", JSON.stringify(loaded));
  return await side.call(1);
}

Deno.test("a process says its token, loads and is called", async () => {
  const side = await GadgetSide.start({ modules: probe("return { got: input, id: context.invocationId };") });
  await using _ = side;
  assert.equal(side.token, "ab".repeat(32));
  await side.sendLoad();
  assert.deepEqual(await side.next("loaded"), {
    type: "loaded",
    gadget: {
      name: "Probe",
      description: "A test.",
      isLinked: true,
      hasFormat: false,
      isValidating: false,
      warnings: [],
    },
  });
  assert.deepEqual(await side.call(7, { a: 1 }), {
    type: "result",
    id: 7,
    value: { got: { a: 1 }, id: "c7" },
  });
});

Deno.test("an error keeps its name, its message and its places", async () => {
  const said = await one(`function deep() { throw new RangeError("too far"); } deep();`);
  const error = errorOf(said);
  assert.equal(error.name, "RangeError");
  assert.equal(error.message, "too far");
  assert.match(String(error.stack), /^RangeError: too far\n {4}at deep \(file:\/\/\S+\/0\.js:2:\d+\)/);
});

const THROWN: readonly (readonly [thrown: string, message: string])[] = [
  [`"a text"`, "a text"],
  ["undefined", "undefined"],
  ["Symbol('x')", "Symbol(x)"],
  ["{ __proto__: null }", "a value that cannot be shown was thrown"],
  ["{ toString() { throw 1; } }", "a value that cannot be shown was thrown"],
  ["new Proxy({}, { get() { throw 1; } })", "a value that cannot be shown was thrown"],
  ["Object.defineProperty(new Error('x'), 'stack', { get() { throw 1; } })", "x"],
  ["Object.assign(new Error('x'), { name: 5, stack: {} })", "x"],
  ["new Error('')", "Error"],
];
Deno.test("whatever is thrown is told", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(`throw [${THROWN.map(([thrown]) => thrown).join(", ")}][input.at];`),
  });
  await using _ = side;
  for (const [at, [thrown, message]] of THROWN.entries()) {
    assert.equal(errorOf(await side.call(at, { at })).message, message, thrown);
  }
});

Deno.test("a long error is cut", async () => {
  const { message } = errorOf(await one(`throw new Error("x".repeat(1e7));`));
  assert.equal(String(message).length, 65_537);
});

const NO_JSON: readonly (readonly [value: string, message: string])[] = [
  ["() => 1", "is not JSON: found a function; a gadget gives text, or a value that JSON can hold"],
  [
    "{ a: [1, 2n] }",
    "is not JSON: found a bigint at a/1; return String(bigint), or Number(bigint) where that is exact, instead",
  ],
  ["new Map()", "is not JSON: found a Map; return Object.fromEntries(map) instead"],
  ["NaN", "is not JSON: found the number NaN; return null or a text instead"],
  [
    "(() => { const a = {}; a.b = a; return a; })()",
    "is not JSON: found a cycle at b; a gadget gives text, or a value that JSON can hold",
  ],
  [
    "{ get a() { throw new Error('mine'); } }",
    "cannot be read: mine; a gadget gives text, or a value that JSON can hold",
  ],
];
Deno.test("a result that is no JSON is an error", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(`return ([${NO_JSON.map(([value]) => `() => (${value})`).join(", ")}][input.at])();`),
  });
  await using _ = side;
  for (const [at, [value, message]] of NO_JSON.entries()) {
    const error = errorOf(await side.call(at, { at }));
    assert.equal(error.message, `The result of Probe ${message}`, value);
    assert.equal(error.name, "ResultError");
  }
  assert.equal((await side.call(99, { at: 99 })).type, "error");
});

Deno.test("a result that fits into no frame is told by its beginning and its size", async () => {
  const maxFrameBytes = 2_000_000;
  const text = await one(`return "é\\"".repeat(2e6);`, { maxFrameBytes });
  assert.match(String(text.value), /^(é")+é?$/);
  assert.ok(String(text.value).length > 900_000, `${String(text.value).length}`);
  assert.equal(text.wholeBytes, 6_000_000);
  const list = await one(`return Array.from({ length: 1e6 }, (_, at) => at);`, { maxFrameBytes });
  assert.match(String(list.value), /^\[0,1,2,(\d+,)*\d*$/);
  assert.equal(list.wholeBytes, 6_888_891);
  const whole = await one(`return "x".repeat(1_900_000);`, { maxFrameBytes });
  assert.deepEqual([whole.value, whole.wholeBytes], ["x".repeat(1_900_000), undefined]);
  const odd = await one(`return "\\ud800".repeat(1e5) + "😀".repeat(1e5) + "\\u0000";`, { maxFrameBytes });
  assert.equal(odd.value, "\ud800".repeat(1e5) + "😀".repeat(1e5) + "\u0000");
});

const HUGE: readonly (readonly [value: string, wholeBytes: number])[] = [
  [`"x".repeat(1e8)`, 1e8],
  [`"€".repeat(5e7)`, 1.5e8],
  [
    `(() => { let text = ""; for (let at = 0; at < 1e5; at++) text += String(at % 10).repeat(1000); return text; })()`,
    1e8,
  ],
  [`Array.from({ length: 100 }, () => "x".repeat(1e6))`, 1e8 + 301],
  [`Object.fromEntries(Array.from({ length: 2e5 }, (_, at) => ["key" + at, "x".repeat(400)]))`, 82_888_891],
];
thoroughTest("a result of nearly all the memory there is is told by its beginning and its size", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(`return [${HUGE.map(([value]) => `() => ${value}`).join(", ")}][input.at]();`),
  });
  await using _ = side;
  for (const [at, [value, wholeBytes]] of HUGE.entries()) {
    const said = await side.call(at, { at });
    assert.equal(said.wholeBytes, wholeBytes, `${value}: ${JSON.stringify(said).slice(0, 200)}`);
    assert.ok(String(said.value).length > 5_000_000, value);
  }
});

thoroughTest(
  "a million logs and a million reports of progress: a part is told, and once how much is missing",
  async () => {
    const { side } = await GadgetSide.load({
      modules: probe(
        `for (let at = 1; at <= 1e6; at++) { context.log("line " + at); context.progress(at, 1e6); if (input.waits && at % 100 === 0) await new Promise((done) => setTimeout(done)); }`,
      ),
    });
    await using _ = side;
    for (const [id, waits] of [[1, false], [2, true]] as const) {
      await side.call(id, { waits });
      const logs = side.all("log").map(({ text }) => String(text));
      const reports = side.all("progress").map(({ done }) => done);
      assert.ok(logs.length < 10_000 && reports.length < 10_000, `${logs.length}, ${reports.length}`);
      assert.equal(reports.at(-1), 1e6);
      assert.equal(logs.filter((text) => text.includes("[cut: ")).length, 1);
      assert.match(
        logs.at(-1) ?? "",
        /^\n\[cut: \d+ characters in \d{6} messages of this log are missing; .*\]\n\n\[cut: \d{6} reports of progress are left out; /,
      );
    }
  },
);

Deno.test("a stream goes on as far as there is room", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(
      `let made = 0; return (async function* () { for (; made < 40; made++) yield "p" + made; })();`,
    ),
  });
  await using _ = side;
  const take = async (count: number) => {
    const texts: unknown[] = [];
    for (let at = 0; at < count; at++) texts.push((await side.next("piece")).text);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(side.count("piece"), 0);
    return texts;
  };
  await side.begin(1);
  assert.equal((await take(16)).at(-1), "p15");
  await side.send({ type: "more", id: 1, count: 8 });
  assert.equal((await take(8)).at(-1), "p23");
  await side.send({ type: "more", id: 1, count: 20 });
  assert.equal((await take(16)).at(-1), "p39");
  assert.deepEqual(await side.end(1), { type: "result", id: 1 });
});

Deno.test("bytes of a stream are text, wherever they are cut", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(
      `const bytes = new TextEncoder().encode("aé€😀"); return (async function* () { for (const byte of bytes) yield new Uint8Array([byte]); })();`,
    ),
  });
  await using _ = side;
  assert.deepEqual(await side.call(1), { type: "result", id: 1 });
  const pieces = [];
  while (side.count("piece") > 0) pieces.push((await side.next("piece")).text);
  assert.deepEqual(pieces, ["a", "é", "€", "😀"]);
});

Deno.test("a stream of something else is an error", async () => {
  const error = errorOf(await one(`return (async function* () { yield 5; })();`));
  assert.equal(
    error.message,
    "The stream of Probe gave a number; a streamed result is text, or bytes of UTF-8",
  );
});

Deno.test("cancelling a stream closes its source", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(
      `return (async function* () { try { while (true) yield "x"; } finally { context.log("closed"); } })();`,
    ),
  });
  await using _ = side;
  await side.begin(1);
  for (let i = 0; i < 16; i++) await side.next("piece");
  await side.send({ type: "more", id: 1, count: 2 });
  for (let i = 0; i < 2; i++) await side.next("piece");
  await side.send({ type: "cancel", id: 1, reason: "enough" });
  assert.deepEqual(await side.end(1), { type: "cancelled", id: 1 });
  assert.deepEqual(await side.next("log"), { type: "log", text: "closed" });
});

Deno.test("log and progress belong to their call, also behind an await", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(
      `await new Promise((done) => setTimeout(done, input.ms)); console.log("from", input.ms); context.progress(1, 2); context.progress(2);
       try { context.progress("x"); } catch (error) { return error.message; }`,
    ),
  });
  await using _ = side;
  await Promise.all([side.begin(1, { ms: 20 }), side.begin(2, { ms: 5 })]);
  assert.deepEqual(await side.next("log"), { type: "log", id: 2, text: "from 5\n" });
  assert.deepEqual(await side.next("progress"), { type: "progress", id: 2, done: 1, total: 2 });
  assert.deepEqual(await side.next("progress"), { type: "progress", id: 2, done: 2 });
  assert.deepEqual(await side.next("log"), { type: "log", id: 1, text: "from 20\n" });
  assert.equal((await side.end(2)).value, "progress(done, total?) takes finite numbers; found x, undefined");
  await side.end(1);
});

Deno.test("what is logged faster than it is read is counted", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(`for (let i = 0; i < 1000; i++) context.log("x".repeat(1e5)); return null;`),
  });
  await using _ = side;
  await side.call(1);
  await side.call(2);
  const logs = side.logs().map(({ text }) => String(text));
  assert.ok(logs.length < 30, `${logs.length}`);
  const words = /^\n\[cut: 989\d{5} characters in 990 messages of this log are missing; .*\]\n$/;
  assert.deepEqual(logs.map((text) => words.test(text)).filter((isSo) => isSo).length, 2);
});

Deno.test("a cancelled call is answered at once; its signal is aborted, and nothing else is told of it", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(
      `await new Promise((done) => context.signal.addEventListener("abort", () => { console.log("why: " + context.signal.reason.name + " " + context.signal.reason.message); done(); })); return "late";`,
    ),
  });
  await using _ = side;
  await side.begin(1);
  await side.begin(2);
  await side.send({ type: "cancel", id: 1, reason: "timed out" });
  assert.deepEqual(await side.end(1), { type: "cancelled", id: 1 });
  assert.deepEqual(await side.next("log"), { type: "log", text: "why: AbortError timed out\n" });
  await side.send({ type: "cancel", id: 2, reason: "timed out" });
  await side.end(2);
  assert.equal(side.count("result"), 0);
});

Deno.test("a gadget that never settles is cancelled", async () => {
  const { side } = await GadgetSide.load({ modules: probe(`return new Promise(() => undefined);`) });
  await using _ = side;
  await side.begin(1);
  await side.send({ type: "cancel", id: 1, reason: "x" });
  assert.equal((await side.end(1)).type, "cancelled");
});

Deno.test("what is thrown where nobody waits is logged, and ends nothing", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(
      `setTimeout(() => { throw new Error("in a timer"); }, 0);
       queueMicrotask(() => { throw new Error("in a microtask"); });
       Promise.reject(new Error("rejected"));
       context.signal.addEventListener("abort", () => { throw new Error("in a listener"); });
       await new Promise((done) => setTimeout(done, 20)); return "fine";`,
    ),
  });
  await using _ = side;
  assert.equal((await side.call(1)).value, "fine");
  const logs: string[] = []; // on a busy machine some come behind the result
  while (logs.length < 3) logs.push(String((await side.next("log")).text).split("\n")[0] ?? "");
  assert.deepEqual(logs.toSorted(), [
    "Uncaught (in promise): Error: rejected",
    "Uncaught: Error: in a microtask",
    "Uncaught: Error: in a timer",
  ]);
  await side.begin(2);
  await side.send({ type: "cancel", id: 2, reason: "x" });
  await side.end(2);
  let logged = "";
  while (!logged.includes("in a listener")) logged = String((await side.next("log")).text);
  assert.match(logged, /^Uncaught: Error: in a listener\n/);
  assert.equal((await side.call(3)).value, "fine");
});

Deno.test("effects are asked of Orrery, and belong to their call", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(`return await Deno.readTextFile("a.txt");`),
  });
  await using _ = side;
  assert.equal((await side.call(3)).value, "text of a.txt");
  const asked = await side.next("effect");
  assert.deepEqual(asked, { type: "effect", effect: 1, call: 3, op: { kind: "read", path: "a.txt" } });
});

Deno.test("bytes go beside an effect", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(`await Deno.writeFile("b", new Uint8Array([1, 2, 255])); return null;`),
  });
  await using _ = side;
  let got: Uint8Array | undefined;
  side.perform = (_op, bytes) => {
    got = bytes.slice();
    return Promise.resolve("");
  };
  await side.call(1);
  assert.deepEqual(got, new Uint8Array([1, 2, 255]));
});

Deno.test("effects that block, while others are on the way", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(
      `const late = Deno.readTextFile("late"); const texts = []; for (let i = 0; i < 50; i++) texts.push(Deno.readTextFileSync("s" + i)); return [texts.length, texts[49], await late];`,
    ),
  });
  await using _ = side;
  assert.deepEqual((await side.call(1)).value, [50, "text of s49", "text of late"]);
});

Deno.test("a long reply to an effect that blocks comes whole", async () => {
  const { side } = await GadgetSide.load({ modules: probe(`return Deno.readTextFileSync("x").length;`) });
  await using _ = side;
  side.perform = () => Promise.resolve("y".repeat(3_000_000));
  assert.equal((await side.call(1)).value, 3_000_000);
});

Deno.test("a refusal is an error, and an effect that is too large goes nowhere", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(
      `const tries = [() => Deno.readTextFile("x"), () => Deno.readTextFileSync("x"), () => Deno.writeFile("b", new Uint8Array(3_000_000))];
       const told = []; for (const attempt of tries) { try { await attempt(); } catch (error) { told.push(error.code + ": " + error.message); } } return told;`,
    ),
    maxFrameBytes: 2_000_000,
  });
  await using _ = side;
  side.perform = () => Promise.reject(new Error("needs read"));
  assert.deepEqual((await side.call(1)).value, [
    "refused: needs read",
    "refused: needs read",
    "too-large: found 3000000 bytes, expected at most 2000000: do it in smaller parts",
  ]);
});

Deno.test("an aborted effect is given up", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(
      `const abort = new AbortController(); const read = Deno.readTextFile("x", { signal: abort.signal }); abort.abort();
       const told = []; for (const attempt of [read, Deno.readTextFile("y", { signal: abort.signal })]) told.push(await attempt.catch((error) => error.code)); return told;`,
    ),
  });
  await using _ = side;
  assert.deepEqual((await side.call(1)).value, ["aborted", "aborted"]);
  assert.deepEqual(await side.next("effect-cancel"), { type: "effect-cancel", effect: 1 });
});

Deno.test("with its call the effects of a call are over", async () => {
  const { side } = await GadgetSide.load({
    modules: probe(
      `await Deno.readTextFile("first").catch((error) => console.log("first " + error.code));
       await Deno.readTextFile("second").catch((error) => console.log("second " + error.code));
       try { Deno.readTextFileSync("third"); } catch (error) { console.log("third " + error.code); }`,
    ),
  });
  await using _ = side;
  side.perform = () => new Promise(() => undefined);
  await side.begin(1);
  await side.next("effect");
  await side.send({ type: "cancel", id: 1, reason: "x" });
  await side.end(1);
  for (const name of ["first", "second", "third"]) {
    assert.deepEqual(await side.next("log"), { type: "log", text: `${name} aborted\n` });
  }
  assert.equal(side.count("effect"), 0);
});

Deno.test("a Standard Schema checks the input in the process", async () => {
  const schema = `const schema = { "~standard": { version: 1, vendor: "t",
    validate: async (value) => value.n > 1 ? { value: { n: value.n * 2, at: new Date(0) } } : { issues: [{ message: "too small", path: ["n", { key: "a/b" }] }, { message: "odd" }] },
    jsonSchema: { input: ({ target }) => ({ type: "object", title: target }), output: () => ({}) } } };`;
  const { side, loaded } = await GadgetSide.load({
    modules: {
      "0.js":
        `${schema} export default { name: "Probe", description: "d", input: schema, run: (input, { call }) => [input.n, input.at.getTime(), call.parameters === input] };`,
    },
  });
  await using _ = side;
  const { gadget } = loaded;
  assert.deepEqual(gadget, {
    name: "Probe",
    description: "d",
    input: { type: "object", title: "draft-2020-12" },
    isLinked: true,
    hasFormat: false,
    isValidating: true,
    warnings: [],
  });
  assert.deepEqual((await side.call(1, { n: 4 })).value, [8, 0, true]);
  assert.deepEqual(await side.call(2, { n: 1 }), {
    type: "invalid",
    id: 2,
    issues: "n/a~1b: too small\nodd",
  });
});

Deno.test("format gives a text", async () => {
  const { side } = await GadgetSide.load({
    modules: {
      "0.js":
        `export default { name: "Probe", description: "d", run: () => 1, format: (result, call) => result === 5 ? 5 : "<" + result + " " + call.gadgetName + ">" };`,
    },
  });
  await using _ = side;
  const call = { gadgetName: "Probe", invocationId: "c", parameters: {} };
  await side.send({ type: "format", id: 1, result: 7, call });
  assert.deepEqual(await side.end(1), { type: "result", id: 1, value: "<7 Probe>" });
  await side.send({ type: "format", id: 2, result: 5, call });
  assert.equal(errorOf(await side.end(2)).message, `format of "Probe" must return a string, found 5`);
});

const BROKEN: readonly (readonly [text: string, message: RegExp])[] = [
  ["export const x = 1;", /^it has no default export, expected "export default \{/],
  ["export default 5;", /^found 5, expected a gadget: an object with name/],
  ["export default () => 1;", /^found a function, expected a gadget/],
  ["export default { run() {} };", /^name: missing, expected a name such as FetchPage$/],
  [
    `export default { name: "a b", timeoutMs: 0 };`,
    /^name: found "a b", expected up to 64 .*\ntimeoutMs: found 0, expected whole milliseconds/,
  ],
  [`export default { name: "A", runn() {} };`, /^unknown field "runn"\. Did you mean "run"\?$/],
  [
    `export default { name: "A", input: 5 };`,
    /^input: found 5, expected a JSON Schema or a Standard Schema$/,
  ],
  [`export default { name: "A", input: { a: () => 1 } };`, /^input: not JSON: found a function at a$/],
  [
    `export default { name: "A", permissions: { net: "x" } };`,
    /^permissions\/net: found "x", expected true or a list of texts$/,
  ],
  [`export default { get name() { throw new Error("no name"); } };`, /^no name$/],
  [`export default new Proxy({}, { ownKeys() { throw new Error("no keys"); } });`, /^no keys$/],
  [`throw new Error("at load");`, /^at load$/],
  [`import "./gone.js";`, /gone\.js/],
  [`await Promise.reject(5);`, /^5$/],
];
Deno.test("a module that is no gadget says why", async () => {
  await Promise.all(BROKEN.map(async ([text, message]) => {
    const { side, loaded } = await GadgetSide.load({ modules: { "0.js": text } });
    await using _ = side;
    assert.equal(loaded.type, "load-failed", text);
    assert.match(String(errorOf(loaded).message), message, text);
  }));
});

Deno.test("fields are read once, and of the prototype too", async () => {
  const { side, loaded } = await GadgetSide.load({
    modules: {
      "0.js": `let asked = 0;
        class Probe { get name() { return "Probe" + ++asked; } get description() { return " "; } idempotent = () => true; #secret = 4; run() { return [this.#secret, asked]; } }
        export default new Probe();`,
    },
  });
  await using _ = side;
  const { gadget } = loaded;
  assert.ok(typeof gadget === "object" && gadget !== null && "name" in gadget && "warnings" in gadget);
  assert.equal(gadget.name, "Probe1");
  assert.deepEqual(gadget.warnings, [
    `gadget "Probe1" has no description: a model cannot tell what it is for`,
    "idempotent is a function, which cannot be asked outside of the gadget's process: it counts as false",
  ]);
  assert.deepEqual((await side.call(1)).value, [4, 1]);
});

Deno.test("a computed import finds the modules of the gadget only, import.meta is that of the source", async () => {
  const door = `globalThis[Symbol.for("orrery.gadget")]`;
  const side = await GadgetSide.start({
    modules: {
      "0.js": `const door = ${door}; export default { name: "Probe", description: "d", run: async ({ x }) => {
        if (x === "meta") { const meta = door.metaOf("file:///p/g/a b.ts"); return [meta.url, meta.main, meta.resolve("./c.ts"), meta === door.metaOf("file:///p/g/a b.ts")]; }
        return (await door.importFrom("file:///p/g/a.ts", x, { with: {} })).value; } };`,
      "1.js": `export const value = "found";`,
    },
  });
  await using _ = side;
  await side.sendLoad({ "file:///p/g/b.ts": "1.js" });
  await side.next("loaded");
  assert.equal((await side.call(1, { x: "./b.ts" })).value, "found");
  assert.equal((await side.call(2, { x: "file:///p/g/b.ts" })).value, "found");
  for (
    const [at, x] of ["/etc/passwd", "node:fs", "data:text/javascript,1", "../b.ts", "1.js", "b.ts"].entries()
  ) {
    const error = errorOf(await side.call(10 + at, { x }));
    assert.match(String(error.message), /^Cannot import ".*": a computed import\(\) finds the modules/, x);
  }
  assert.deepEqual((await side.call(3, { x: "meta" })).value, [
    "file:///p/g/a b.ts",
    false,
    "file:///p/g/c.ts",
    true,
  ]);
});

Deno.test("the end of the socket ends the process, in the middle of a call", async () => {
  for (
    const run of [
      "return new Promise(() => undefined);",
      `addEventListener("unload", () => { while (true); }); return new Promise(() => undefined);`,
    ]
  ) {
    const { side } = await GadgetSide.load({ modules: probe(`context.log("on"); ${run}`) });
    await using _ = side;
    await side.begin(1);
    await side.next("log");
    side.closeSocket();
    assert.equal((await side.child.status).code, 0);
    assert.equal(await side.stderr, "");
  }
});

Deno.test("the end of stdin ends a process that waits for it", async () => {
  const { side } = await GadgetSide.load({ modules: probe(`return Deno.readTextFileSync("x");`) });
  await using _ = side;
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  side.perform = () => {
    asked.resolve();
    return answer.promise;
  };
  await side.begin(1);
  await asked.promise;
  await side.closeStdin();
  assert.equal((await side.child.status).code, 0);
  answer.resolve("too late");
});

Deno.test("a module that waits for ever at its top is listening still", async () => {
  const side = await GadgetSide.start({
    modules: { "0.js": `console.log("here"); await new Promise(() => undefined); export default {};` },
  });
  await using _ = side;
  await side.sendLoad();
  assert.deepEqual(await side.next("log"), { type: "log", text: "here\n" });
  side.closeSocket();
  assert.equal((await side.child.status).code, 0);
});

Deno.test("thenables are waited for", async () => {
  const { side } = await GadgetSide.load({
    modules: {
      "0.js":
        `export default { name: "Probe", description: "d", run: ({ x }) => x === 1 ? { then(done) { done(5); done(6); } } : x === 2 ? { then(_, fail) { fail(new Error("no")); } } : { get then() { throw new Error("getter"); } } };`,
    },
  });
  await using _ = side;
  assert.equal((await side.call(1, { x: 1 })).value, 5);
  assert.equal(errorOf(await side.call(2, { x: 2 })).message, "no");
  assert.equal(errorOf(await side.call(3, { x: 3 })).message, "getter");
});

function errorOf({ error }: Said): { readonly [field: string]: unknown } {
  assert.ok(typeof error === "object" && error !== null);
  return { ...error };
}

async function loaded(top: string, run: string): Promise<GadgetSide> {
  const text =
    `${top}\nexport default { name: "Probe", description: "A test.", async run(input, context) { ${run} } };`;
  const { side, loaded } = await GadgetSide.load({ modules: { "0.js": text } });
  if (loaded.type === "loaded") return side;
  await side[Symbol.asyncDispose]();
  throw new Error(JSON.stringify(loaded));
}

/** What must be refused: each gives a text of what was thrown. */
const CODE: readonly string[] = [
  "eval('1')",
  "(0, eval)('1')",
  "globalThis.eval('1')",
  "Function('return 1')",
  "new Function('return 1')()",
  "(() => 1).constructor('return 1')()",
  "(async () => 1).constructor('return 1')()",
  "(function* () {}).constructor('yield 1')()",
  "(async function* () {}).constructor('yield 1')()",
  "Reflect.construct(Function, ['return 1'])()",
  "Reflect.construct(Object.getPrototypeOf(class {}).constructor, ['return 1'])()",
  "new (class extends Function {})('return 1')()",
  "(() => 1).bind().constructor('return 1')()",
  "setTimeout.constructor('return 1')()",
  "setTimeout('globalThis.bad = 1', 0)",
  "setInterval({ toString: () => 'globalThis.bad = 1' }, 0)",
  "setImmediate('1')",
  "Symbol.constructor('return 1')()",
  "Promise.prototype.constructor.constructor('return 1')()",
];

Deno.test("no text becomes code", async (t) => {
  await using side = await loaded(
    "const left = []; addEventListener('unhandledrejection', () => undefined);",
    `const tries = [${CODE.map((code) => `() => ${code}`).join(", ")}];
     try { const value = tries[input.at](); return "worked: " + typeof value; } catch (error) { return error.name + ": " + error.message; }`,
  );
  for (const [at, code] of CODE.entries()) {
    await t.step(code, async () => {
      assert.match(
        String((await side.call(at, { at })).value),
        /^(EvalError: (eval|new Function) is not there in a gadget|TypeError: set\w+: found \w+, expected a function)/,
      );
    });
  }
});

Deno.test("the makers of functions lead nowhere else", async () => {
  await using side = await loaded(
    "",
    `return [async () => 1, function* () {}, async function* () {}, () => 1].map((kind) => { const maker = Object.getPrototypeOf(kind).constructor; return Object.getPrototypeOf(maker) === Function.prototype && maker.prototype === Object.getPrototypeOf(kind); });`,
  );
  assert.deepEqual((await side.call(1)).value, [true, true, true, true]);
});

Deno.test("functions are what they were, but for their making", async () => {
  await using side = await loaded(
    "",
    `const asynchronous = (async () => 1).constructor; function Old() {} Old.prototype = Object.create(Promise.prototype); Old.prototype.constructor = Old;
     return [(() => 1) instanceof Function, (async () => 1) instanceof asynchronous, Function.name, asynchronous.name, typeof Function, Old.prototype.constructor === Old,
       new (class extends Promise {})(() => 1).constructor === Promise, Promise.resolve(1).constructor === Promise, await new Promise((done) => setTimeout((a) => done(a), 0, 5))];`,
  );
  assert.deepEqual((await side.call(1)).value, [
    true,
    true,
    "Function",
    "AsyncFunction",
    "function",
    true,
    false,
    true,
    5,
  ]);
});

Deno.test("what reaches out of the process is gone, and stays gone", async () => {
  const names =
    "Worker SharedWorker BroadcastChannel WebSocket WebSocketStream EventSource WebTransport caches CacheStorage Cache localStorage sessionStorage Storage indexedDB alert confirm prompt postMessage close require GPU XMLHttpRequest ShadowRealm"
      .split(" ");
  await using side = await loaded(
    "",
    `const there = ${JSON.stringify(names)}.filter((name) => globalThis[name] !== undefined);
     const fixed = []; for (const name of ["Deno", "eval", "Function", "console", "fetch", Symbol.for("orrery.gadget")]) { try { globalThis[name] = 1; fixed.push(name); } catch {} try { delete globalThis[name]; fixed.push(name); } catch {} }
     return [there, fixed, navigator.gpu === undefined, typeof Deno.internal, typeof Deno.connect, Object.keys(globalThis[Symbol.for("orrery.gadget")]), Object.isFrozen(globalThis[Symbol.for("orrery.gadget")])];`,
  );
  assert.deepEqual((await side.call(1)).value, [
    [],
    [],
    true,
    "undefined",
    "undefined",
    ["importFrom", "metaOf", "facade"],
    true,
  ]);
});

Deno.test("stacks show no functions of the runtime", async () => {
  await using side = await loaded(
    "",
    `Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFunction()); return typeof new Error("x").stack;`,
  );
  assert.equal((await side.call(1)).value, "string");
});

Deno.test("an exhausted stack breaks its own call", async () => {
  await using side = await loaded(
    "",
    `const deep = () => { try { deep(); } finally { context.log("x"); Deno.readTextFile("y").catch(() => 1); } }; if (input.x === 1) deep(); return "fine";`,
  );
  await side.call(1, { x: 1 });
  assert.equal((await side.call(2)).value, "fine");
});

Deno.test("a permission is not left, and cannot be asked for", async () => {
  await using side = await loaded(
    `import * as fs from "node:fs"; import * as net from "node:net"; import * as process from "node:child_process"; import * as os from "node:os";`,
    `const tries = { read: () => fs.readFileSync("/etc/hostname"), list: () => fs.readdirSync("/"), write: () => fs.writeFileSync("/tmp/orrery-probe", ""), env: () => globalThis.Buffer && os.userInfo(),
       run: () => process.execFileSync("/bin/true"), sys: () => os.hostname(), net: () => new Promise((done, fail) => net.connect(80, "127.0.0.1").on("error", fail).on("connect", done)) };
     const told = {}; for (const [name, attempt] of Object.entries(tries)) { try { await attempt(); told[name] = "worked"; } catch (error) { told[name] = error.name + " " + error.code; } } return told;`,
  );
  const told = (await side.call(1)).value;
  assert.deepEqual(
    Object.entries(told ?? {}).filter(([, how]) => how === "worked"),
    [],
    JSON.stringify(told),
  );
});

const PROCESS = new URL("../../lib/sandbox/inside/inside.ts", import.meta.url).href;

/** A folder of Deno's with one package in it, `probe`, as it is after it was fetched. */
async function cacheWith(files: Readonly<Record<string, string>>): Promise<string> {
  const cache = await Deno.makeTempDir({ prefix: "orrery-packages-" });
  const folder = join(cache, "npm/registry.npmjs.org/probe");
  await Deno.mkdir(join(folder, "1.0.0"), { recursive: true });
  const tarball = "https://registry.npmjs.org/probe/-/probe-1.0.0.tgz";
  const version = { version: "1.0.0", dist: { tarball, shasum: "0".repeat(40) } };
  await Deno.writeTextFile(
    join(folder, "registry.json"),
    JSON.stringify({ name: "probe", versions: { "1.0.0": version }, "dist-tags": { latest: "1.0.0" } }),
  );
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(join(folder, "1.0.0", name), text);
  }
  return cache;
}

/** What the package does, in either kind of module; `node(name)` gives a module of Node's. */
const WAYS = `{
  readFile: (node) => node("fs").readFileSync("SECRET", "utf8"),
  readFolder: (node) => node("fs").readdirSync("/").join(),
  readPromise: (node) => node("fs/promises").readFile("SECRET", "utf8"),
  ownFolder: (node) => node("fs").readdirSync(node("path").dirname("SECRET")).join(),
  write: (node) => node("fs").writeFileSync("SECRET.written", "x"),
  link: (node) => node("fs").symlinkSync("SECRET", "link"),
  run: (node) => node("child_process").execFileSync("/bin/cat", ["SECRET"]).toString(),
  spawn: (node) => node("child_process").spawnSync("/bin/cat", ["SECRET"]).stdout.toString(),
  fork: (node) => node("child_process").fork("SECRET").pid,
  connect: (node) => new Promise((done, fail) => node("net").connect(PORT, "127.0.0.1").on("error", fail).on("connect", () => done("connected"))),
  request: (node) => new Promise((done, fail) => node("http").get("http://127.0.0.1:PORT/", done).on("error", fail)),
  datagram: (node) => new Promise((done, fail) => node("dgram").createSocket("udp4").on("error", fail).bind(0, "127.0.0.1", () => done("bound"))),
  lookUp: (node) => new Promise((done, fail) => node("dns").lookup("localhost", (error, found) => error ? fail(error) : done(found))),
  database: (node) => new (node("sqlite").DatabaseSync)("SECRET"),
  attached: (node) => new (node("sqlite").DatabaseSync)(":memory:").exec("attach 'SECRET' as other"),
  extension: (node) => new (node("sqlite").DatabaseSync)(":memory:", { allowExtension: true }).loadExtension("x"),
  requireFile: (node) => node("module").createRequire("/")("SECRET.json"),
  importFile: async () => JSON.stringify(await import("file://SECRET.json", { with: { type: "json" } })),
  importComputed: async () => (await import(["file:", "", "SECRET.js"].join("/"))).default,
  contextImport: (node) => node("vm").runInThisContext("import('file://SECRET.js')"),
  contextDeno: (node) => node("vm").runInThisContext("Deno.readTextFileSync('SECRET')"),
  newContext: (node) => node("vm").runInNewContext("this.constructor.constructor('return Deno')()").readTextFileSync("SECRET"),
  text: () => (0, eval)("Deno").readTextFileSync("SECRET"),
  inspector: (node) => (node("inspector").open(0), "opened"),
  session: (node) => { const session = new (node("inspector").Session)(); session.connect(); return "connected"; },
  snapshot: (node) => node("v8").writeHeapSnapshot("SECRET.heap"),
  hostname: (node) => node("os").hostname(),
  user: (node) => node("os").userInfo().username,
  variable: (node) => node("process").env.HOME,
  variables: (node) => Object.keys(node("process").env).filter((name) => name !== "GRANTED").join(),
  binding: (node) => node("process").binding("fs").open("SECRET"),
  native: (node) => node("process").dlopen({ exports: {} }, "SECRET"),
  kill: (node) => node("process").kill(node("process").ppid, 0),
  killSelf: (node) => node("process").kill(node("process").pid, "SIGKILL"),
  exit: (node) => node("process").exit(3),
  reallyExit: (node) => node("process").reallyExit(3),
  abort: (node) => node("process").abort(),
  changeFolder: (node) => (node("process").chdir("/"), "changed"),
  ownArguments: (node) => node("process").argv.join().includes("lib") && "told",
  internal: () => Deno[Deno.internal]?.core ?? Deno.core,
  globalProcess: (node) => process.exit === undefined || process.env.HOME,
  realDeno: () => Deno.readTextFileSync("/etc/hostname"),
}`;

const WORKER = `
  const { parentPort } = require("node:worker_threads");
  const tries = {
    read: () => Deno.readTextFileSync("SECRET"), node: () => require("fs").readFileSync("SECRET", "utf8"),
    connect: () => Deno.connect({ port: PORT }), run: () => new Deno.Command("/bin/cat", { args: ["SECRET"] }).outputSync(),
    env: () => Deno.env.get("HOME"), more: () => Deno.permissions.requestSync({ name: "read" }).state === "granted" && "granted",
  };
  (async () => {
    const got = [];
    for (const [name, attempt] of Object.entries(tries)) try { const value = await attempt(); if (value) got.push(name + ": " + value); } catch { /* refused */ }
    parentPort.postMessage(got);
  })();`;

const KINDS = {
  "package.json":
    `{"name":"probe","version":"1.0.0","main":"index.cjs","exports":{".":"./index.cjs","./module":"./module.mjs"}}`,
  "index.cjs": `
    const node = (name) => require("node:" + name);
    exports.ways = ${WAYS};
    exports.node = node;
    exports.prints = {
      stdout: () => process.stdout.write("printed"), ownStdout: () => node("process").stdout.write("printed"),
      ownStderr: () => node("process").stderr.write("printed"), console: () => console.log("printed"),
      ownConsole: () => node("console").log("printed"), ownError: () => node("console").error("printed"),
    };
    exports.worker = (text) => new Promise((done) => {
      const worker = new (node("worker_threads").Worker)(text, { eval: true });
      worker.on("message", done); worker.on("error", (error) => done([])); setTimeout(() => done(["no answer"]), 5000);
    });`,
  "module.mjs": `
    import { createRequire } from "node:module";
    import process from "node:process";
    const node = createRequire(import.meta.url);
    export const ways = ${WAYS};
    export { node };
    export const prints = { stdout: () => process.stdout.write("printed"), console: () => console.log("printed") };
    export const worker = () => [];`,
};

const gadgetOf = (specifier: string): string => `
  import * as probe from "${specifier}";
  const { ways, node, prints, worker } = probe.default ?? probe;
  export default { name: "Probe", description: "A test.", async run({ does, text }) {
    if (does === "read") return Deno.readTextFileSync("a.txt");
    if (does === "worker") return await worker(text);
    if (does in prints) { prints[does](); return Deno.readTextFileSync("a.txt"); }
    const got = [];
    for (const [name, attempt] of Object.entries(ways)) {
      try {
        const value = await Promise.race([attempt(node), new Promise((done) => setTimeout(done, 300))]);
        if (value) got.push(name + ": " + String(value).slice(0, 200));
      } catch { /* refused */ }
    }
    return { tried: Object.keys(ways).length, got };
  } };`;

for (const specifier of ["npm:probe@1.0.0", "npm:probe@1.0.0/module"]) {
  Deno.test(`a package inside a gadget's process has no rights: ${specifier}`, async (t) => {
    const outside = await Deno.makeTempDir({ prefix: "orrery-outside-" });
    const secret = join(outside, "secret");
    for (
      const [end, text] of [["", "TOPSECRET"], [".json", `"TOPSECRET"`], [
        ".js",
        `export default "TOPSECRET";`,
      ]]
    ) {
      await Deno.writeTextFile(secret + end, text ?? "");
    }
    let connections = 0;
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
      connections++;
      return new Response("TOPSECRET");
    });
    const filled = (text: string) =>
      text.replaceAll("SECRET", secret).replaceAll("PORT", String(server.addr.port));
    const cache = await cacheWith(
      Object.fromEntries(Object.entries(KINDS).map(([name, text]) => [name, filled(text)])),
    );
    try {
      const { side, loaded } = await GadgetSide.load({
        modules: { "0.js": gadgetOf(specifier) },
        module: PROCESS,
        env: { DENO_DIR: cache },
      });
      await using _ = side;
      assert.equal(loaded.type, "loaded", JSON.stringify(loaded));
      side.perform = ({ path }) =>
        path === "a.txt" ? Promise.resolve("of Orrery") : Promise.reject(new Error("not allowed"));
      await t.step("by no module of Node's", async () => {
        const { value } = await side.call(1, { does: "all" });
        assert.ok(typeof value === "object" && value !== null && "tried" in value && "got" in value);
        assert.ok(Number(value.tried) > 40);
        assert.deepEqual(value.got, []);
      });
      await t.step("what it prints is logged, and the way for effects stays whole", async () => {
        const names = specifier.endsWith("module")
          ? ["stdout", "console"]
          : ["stdout", "ownStdout", "ownStderr", "console", "ownConsole", "ownError"];
        for (const [at, does] of names.entries()) {
          assert.equal((await side.call(10 + at, { does })).value, "of Orrery", does);
          const logs = side.logs().filter(({ id }) => id === 10 + at).map(({ text }) => String(text).trim());
          assert.deepEqual(logs, ["printed"], does);
        }
      });
      await t.step("not in a worker either", async () => {
        const { value } = await side.call(30, { does: "worker", text: filled(WORKER) });
        assert.deepEqual(value, []);
      });
      assert.equal((await side.call(40, { does: "read" })).value, "of Orrery");
      assert.equal(connections, 0);
      assert.deepEqual(
        [...Deno.readDirSync(outside)].map(({ name }) => name).sort(),
        ["secret", "secret.js", "secret.json"],
      );
    } finally {
      await server.shutdown();
      await Deno.remove(cache, { recursive: true });
      await Deno.remove(outside, { recursive: true });
    }
  });
}
