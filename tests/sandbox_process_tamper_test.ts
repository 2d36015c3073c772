// A gadget that breaks the language around it, or tries to get round what was taken away: the real process, with its real flags.

import assert from "node:assert/strict";
import { GadgetSide } from "./_gadget_side.ts";

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
