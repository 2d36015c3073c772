// What a gadget might try on its own facades: no more may come of it than it could have asked for, and the errors are plain.
import assert from "node:assert/strict";
import { PURE_NODE_NAMES } from "../lib/sandbox/gate/allowed_names.ts";
import { gadgetWorld } from "./_gadget_world.ts";

const FILES = { "a.txt": "one" };

async function message(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "nothing was thrown";
}

Deno.test("a path is read once, and only what is a path is one", async () => {
  const { Deno: facade, fs, effects } = gadgetWorld(FILES);
  let reads = 0;
  const changing = { toString: () => reads++ === 0 ? "a.txt" : "/etc/passwd", href: "file:///etc/passwd" };
  const odd: readonly unknown[] = [
    changing,
    null,
    undefined,
    7,
    {},
    [],
    ["a.txt"],
    Symbol("x"),
    true,
    () => "a.txt",
  ];
  for (const path of odd) {
    assert.match(
      await message(() => Reflect.apply(facade.readTextFile, facade, [path])),
      /^expected a path: a text or a file: URL, found /,
    );
    if (typeof path !== "number") {
      assert.match(await message(() => Reflect.apply(fs.readFileSync, fs, [path])), /^expected a path/);
    }
  }
  assert.equal(reads, 0);
  assert.match(await message(() => facade.readTextFile("")), /empty text/);
  assert.match(await message(() => facade.readTextFile("a\0.txt")), /NUL/);
  assert.match(await message(() => facade.rename("a.txt", "b\0")), /NUL/);
  assert.equal(effects.asked.length, 0, "nothing of it was asked");
});

Deno.test("a URL is what it really is, whatever its properties say", async () => {
  const { Deno: facade, effects } = gadgetWorld(FILES);
  const lying = new URL("file:///project/a.txt");
  Object.defineProperty(lying, "href", { get: () => "file:///etc/passwd" });
  Object.defineProperty(lying, "pathname", { get: () => "/etc/passwd" });
  assert.equal(await facade.readTextFile(lying), "one");
  assert.deepEqual(effects.asked, [{ kind: "read", path: "/project/a.txt" }]);
  const wrong = {
    "http://example.com/a.txt": /found "http:"/,
    "file://host/a.txt": /found the host "host"/,
    "file:///a%2Fb": /encoded separators/,
    "file:///a%00": /NUL/,
  };
  for (const [url, expected] of Object.entries(wrong)) {
    assert.match(await message(() => facade.readTextFile(new URL(url))), expected);
  }
  assert.match(await message(() => facade.readTextFile(Object.create(URL.prototype))), /./);
  await assert.rejects(facade.readTextFile(new URL("file:///project/x/../../etc/none")));
  assert.deepEqual(effects.asked.at(-1), { kind: "read", path: "/etc/none" }, "Orrery judges it");
});

Deno.test("getters in options are read once, and may throw", async () => {
  const { Deno: facade, effects } = gadgetWorld(FILES);
  let reads = 0;
  const options = {
    get append() {
      return reads++ > 0;
    },
  };
  await facade.writeTextFile("a.txt", "two", options);
  assert.deepEqual([reads, effects.text("a.txt")], [1, "two"]);
  const thrower = {
    get recursive(): boolean {
      throw new Error("mine");
    },
  };
  assert.equal(await message(() => facade.mkdir("x", thrower)), "mine");
  assert.equal(await message(() => facade.removeSync("a.txt", thrower)), "mine");
  let asked = 0;
  const list = new Proxy(["-1"], {
    get(target, name, receiver) {
      if (name === "0") asked++;
      return Reflect.get(target, name, receiver);
    },
  });
  await message(() => new facade.Command("git", { args: list }).output());
  assert.equal(asked, 1);
});

Deno.test("what is too large is not sent", async () => {
  const { Deno: facade, fetch: send, effects } = gadgetWorld(FILES);
  const large = new Uint8Array(32 * 1024 * 1024 + 1);
  assert.match(
    await message(() => facade.writeFile("a.txt", large)),
    /33554433 bytes, at most 33554432 bytes \(32 MiB\)/,
  );
  assert.match(await message(() => facade.writeFileSync("a.txt", large)), /at most 33554432/);
  assert.match(
    await message(() => send("https://example.com/", { method: "POST", body: large })),
    /more than 33554432 bytes/,
  );
  assert.match(
    await message(() => facade.readTextFile("x/".repeat(1_000_000))),
    /arguments of 2\d{6} characters, at most 1048576/,
  );
  assert.match(
    await message(() => new facade.Command("git", { args: Array(300_000).fill("aaaa") }).outputSync()),
    /at most 1048576/,
  );
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
  });
  assert.match(await message(() => facade.writeFile("a.txt", endless)), /more than 33554432 bytes/);
  assert.equal(effects.asked.length, 0);
});

Deno.test("requests that are none", async () => {
  const { fetch: send, effects } = gadgetWorld(FILES);
  const bad: readonly (readonly [unknown, RequestInit, RegExp])[] = [
    ["https://example.com/", { headers: { "x": "a\r\nhost: b" } }, /Invalid header value/],
    ["https://example.com/", { headers: { "x\ny": "a" } }, /Invalid header name/],
    ["https://example.com/", { method: "GET", body: "x" }, /GET\/HEAD/],
    ["https://example.com/", { method: "A B" }, /[Mm]ethod/],
    ["not a url", {}, /expected a whole URL/],
    [{ toString: () => "javascript:1" }, {}, /expected http: or https:, found "javascript:"/],
    ["file://host/etc/passwd", {}, /found the host "host"/],
  ];
  for (const [url, init, expected] of bad) {
    assert.match(await message(() => Reflect.apply(send, undefined, [url, init])), expected);
  }
  assert.equal(effects.asked.length, 0);
  await message(() => send("https://user:password@example.com/"));
  assert.deepEqual(
    effects.asked.map((op) => "url" in op && op.url),
    ["https://user:password@example.com/"],
    "Orrery refuses it",
  );
});

Deno.test("environment: odd names, and values that are no texts", () => {
  const { Deno: facade, process } = gadgetWorld({}, { env: { A: "1" } });
  for (const name of ["", "a=b", "a\0"]) {
    assert.throws(() => facade.env.get(name), /expected the name of a variable/);
  }
  assert.throws(() => facade.env.set("A", "\0"), /NUL/);
  for (const name of ["__proto__", "constructor", "toString"]) assert.equal(facade.env.get(name), undefined);
  Object.assign(process.env, { N: 1, U: undefined });
  assert.deepEqual(facade.env.toObject(), { A: "1", N: "1", U: "undefined" });
  Reflect.set(process.env, "__proto__", "x");
  assert.equal(Object.getPrototypeOf(process.env), Object.prototype);
  assert.equal(globalThis.Deno.env.get("N"), undefined, "the real one is not touched");
});

Deno.test("without a grant all variables together are refused, and one by one they are as not set", () => {
  const { Deno: facade, process } = gadgetWorld();
  assert.throws(
    () => facade.env.toObject(),
    (error) =>
      error instanceof Deno.errors.NotCapable &&
      /none was granted that is set; write env: \["NAME"\].* --allow-gadget GADGET=env:NAME$/.test(
        error.message,
      ),
  );
  facade.env.set("OWN", "1");
  assert.throws(() => facade.env.toObject(), Deno.errors.NotCapable, "its own are not the environment");
  assert.deepEqual([facade.env.get("HOME"), facade.env.has("HOME")], [undefined, false]);
  // What libraries do while they are loaded.
  assert.equal(process.env.NODE_ENV, undefined);
  assert.equal("NO_COLOR" in process.env, false);
  assert.deepEqual(Object.keys(process.env).filter((name) => /^debug_/i.test(name)), []);
  assert.deepEqual({ ...process.env }, { OWN: "1" });
  assert.deepEqual(gadgetWorld({}, { env: { A: "1" } }).Deno.env.toObject(), { A: "1" });
});

Deno.test("no facade leads to the runtime's own functions", () => {
  const { Deno: facade, process, fs, os } = gadgetWorld();
  const own = new Set<unknown>(
    Object.keys(Deno).flatMap((name) => {
      const value: unknown = Object.getOwnPropertyDescriptor(Deno, name)?.value;
      return typeof value === "function" ? [value] : [];
    }),
  );
  const harmless = new Set<unknown>([Deno.inspect, Deno.memoryUsage, Deno.refTimer, Deno.unrefTimer]);
  const seen = new Set<unknown>();
  const look = (value: unknown, path: string): void => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) {
      return;
    }
    seen.add(value);
    assert.ok(!own.has(value) || harmless.has(value), `${path} is the runtime's own`);
    if (value instanceof Date || value === Function.prototype || value === Object.prototype) return;
    for (const name of Reflect.ownKeys(value)) {
      const descriptor = Object.getOwnPropertyDescriptor(value, name);
      if (descriptor !== undefined && "value" in descriptor) {
        look(descriptor.value, `${path}.${String(name)}`);
      }
    }
  };
  for (const [name, part] of Object.entries({ facade, process, fs, os })) look(part, name);
  assert.ok(seen.size > 200);
});

Deno.test("prototypes that a gadget has changed break no more than its own call", async () => {
  const script = new URL("./_polluting_gadget.ts", import.meta.url).pathname;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-lock", script],
    env: { NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert.equal(code, 0, text);
  assert.match(text, /^asked only for: read$/m, text);
});

Deno.test("Node's pure modules load when Deno and process are facades", async () => {
  const script = new URL("./_pure_modules_gadget.ts", import.meta.url).pathname;
  const names = [...PURE_NODE_NAMES];
  // All in one process, and each first in one: what is loaded first loads others on its way.
  for (
    const args of [names, ...["node:crypto", "node:zlib", "node:stream", "node:util"].map((name) => [name])]
  ) {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--no-lock", script, ...args],
      env: { NO_COLOR: "1" },
    }).output();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.equal(code, 0, text);
    assert.match(text, new RegExp(`^${args.length} modules, 0 failed$`, "m"), text);
  }
});
