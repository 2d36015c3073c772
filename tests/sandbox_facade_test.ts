// Ordinary gadgets, each a small function, inside the facades: what they would see with Deno and Node they see here. And
// what a gadget might try on its own facades: no more may come of it than it could have asked for, and the errors are plain.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { promisify } from "node:util";
import { makeFacades } from "../lib/sandbox/inside/facade/facade.ts";
import { thrownError } from "../lib/sandbox/inside/thrown.ts";
import { facadeModules } from "../lib/sandbox/facade_modules.ts";
import { type GadgetWorld, gadgetWorld } from "./_gadget_world.ts";
import { failure, MemoryEffects } from "./_memory_effects.ts";
import { PURE_NODE_NAMES } from "../lib/sandbox/facade_modules.ts";

const FILES = { "a.txt": "one\ntwo\n", "data/b.json": '{"n": 1}', "data/deep/c.txt": "c" };

async function thrown(work: () => unknown): Promise<Error & Record<string, unknown>> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof Error, `expected an error, found ${String(error)}`);
    return Object.assign(error);
  }
  throw new assert.AssertionError({ message: "expected an error" });
}

const GADGETS: Readonly<Record<string, (world: GadgetWorld) => unknown>> = {
  "counts the lines of a file": async ({ Deno }) => {
    assert.equal((await Deno.readTextFile("a.txt")).trim().split("\n").length, 2);
    assert.equal(Deno.readTextFileSync("/project/a.txt"), "one\ntwo\n");
    assert.deepEqual([...await Deno.readFile("a.txt")].slice(0, 3), [111, 110, 101]);
  },
  "writes, appends, and makes new files only": async ({ Deno, effects }) => {
    await Deno.writeTextFile("out.txt", "1");
    await Deno.writeTextFile("out.txt", "2", { append: true });
    Deno.writeFileSync("out.txt", new Uint8Array([51]), { append: true });
    assert.equal(effects.text("out.txt"), "123");
    assert.ok(
      (await thrown(() => Deno.writeTextFile("out.txt", "x", { createNew: true }))) instanceof
        Deno.errors.AlreadyExists,
    );
    assert.ok(
      (await thrown(() => Deno.writeTextFile("no.txt", "x", { create: false }))) instanceof
        Deno.errors.NotFound,
    );
    await Deno.writeFile("stream.bin", new Blob(["a", "b"]).stream());
    assert.equal(effects.text("stream.bin"), "ab");
  },
  "walks a folder": async ({ Deno }) => {
    const found: string[] = [];
    const walk = async (folder: string): Promise<void> => {
      for await (const entry of Deno.readDir(folder)) {
        if (entry.isDirectory) await walk(`${folder}/${entry.name}`);
        else if (entry.isFile && !entry.isSymlink) found.push(`${folder}/${entry.name}`);
      }
    };
    await walk("data");
    assert.deepEqual(found, ["data/b.json", "data/deep/c.txt"]);
    assert.deepEqual([...Deno.readDirSync("data")].map(({ name }) => name), ["b.json", "deep"]);
  },
  "looks at files": async ({ Deno }) => {
    const info = await Deno.stat("a.txt");
    assert.ok(info.isFile && !info.isDirectory && info.size === 8);
    assert.equal(info.mtime?.toISOString(), "1970-01-02T00:00:00.000Z");
    assert.ok(Deno.lstatSync("data").isDirectory);
    assert.equal(await Deno.realPath("data/../a.txt"), "/project/a.txt");
  },
  "makes, renames, copies and removes": async ({ Deno, effects }) => {
    await Deno.mkdir("x/y/z", { recursive: true });
    Deno.mkdirSync("x/y/z", { recursive: true });
    assert.ok((await thrown(() => Deno.mkdir("x"))) instanceof Deno.errors.AlreadyExists);
    assert.ok((await thrown(() => Deno.mkdir("q/r"))) instanceof Deno.errors.NotFound);
    await Deno.copyFile("a.txt", "x/a.txt");
    await Deno.rename("x/a.txt", "x/b.txt");
    assert.equal(effects.text("x/b.txt"), "one\ntwo\n");
    assert.equal((await thrown(() => Deno.remove("x"))).code, "ENOTEMPTY");
    await Deno.remove("x", { recursive: true });
    assert.ok((await thrown(() => Deno.stat("x"))) instanceof Deno.errors.NotFound);
    const temporary = await Deno.makeTempDir({ dir: "data", prefix: "t-" });
    assert.ok(Deno.statSync(temporary).isDirectory && temporary.startsWith("data/t-"));
  },
  "keeps JSON": async ({ Deno }) => {
    const state = JSON.parse(await Deno.readTextFile("data/b.json"));
    await Deno.writeTextFile("data/b.json", JSON.stringify({ ...state, n: state.n + 1 }));
    assert.equal(JSON.parse(Deno.readTextFileSync("data/b.json")).n, 2);
  },
  "uses node:fs, blocking": ({ fs, effects }) => {
    assert.equal(fs.readFileSync("a.txt", "utf8"), "one\ntwo\n");
    assert.equal(
      fs.readFileSync("a.txt", { encoding: "base64" }),
      Buffer.from("one\ntwo\n").toString("base64"),
    );
    assert.ok(Buffer.isBuffer(fs.readFileSync("a.txt")));
    fs.writeFileSync("b.bin", "ff00", "hex");
    assert.deepEqual([...effects.entries.get("/project/b.bin") ?? []], [255, 0]);
    fs.appendFileSync("a.txt", "three\n");
    assert.ok(fs.existsSync("a.txt") && !fs.existsSync("no") && !fs.existsSync("a.txt/x/y"));
    assert.deepEqual(fs.readdirSync("data"), ["b.json", "deep"]);
    const entries = fs.readdirSync("data", { withFileTypes: true });
    assert.deepEqual(entries.map((entry) => [entry.name, entry.isDirectory(), entry.parentPath]), [[
      "b.json",
      false,
      "data",
    ], ["deep", true, "data"]]);
    assert.deepEqual(fs.readdirSync("data", { recursive: true }), ["b.json", "deep", "deep/c.txt"]);
    assert.equal(fs.mkdirSync("m/n/o", { recursive: true }), "m");
    assert.equal(fs.statSync("nothing", { throwIfNoEntry: false }), undefined);
    assert.ok(fs.statSync("a.txt").isFile() && fs.statSync("a.txt").size === 14);
    fs.rmSync("m", { recursive: true });
    fs.rmSync("m", { force: true, recursive: true });
    fs.copyFileSync("a.txt", "c.txt");
    fs.renameSync("c.txt", "d.txt");
    fs.unlinkSync("d.txt");
    fs.cpSync("data", "copy", { recursive: true });
    assert.equal(effects.text("copy/deep/c.txt"), "c");
    fs.accessSync("a.txt", fs.constants.R_OK);
    assert.equal(fs.realpathSync.native("a.txt"), "/project/a.txt");
  },
  "uses node:fs/promises": async ({ fsp, effects }) => {
    await fsp.mkdir("p", { recursive: true });
    await fsp.writeFile("p/x.txt", "hello", { flag: "wx" });
    assert.equal((await thrown(() => fsp.writeFile("p/x.txt", "again", { flag: "wx" }))).code, "EEXIST");
    assert.equal(await fsp.readFile("p/x.txt", "utf-8"), "hello");
    await fsp.rm("p", { recursive: true, force: true });
    assert.equal(effects.entries.has("/project/p"), false);
    assert.match(await fsp.mkdtemp("tmp-"), /^tmp-.{6}$/);
  },
  "uses callbacks": async ({ fs }) => {
    const text = await new Promise<string>((resolve, reject) =>
      fs.readFile("a.txt", "utf8", (error, data) => error ? reject(error) : resolve(data))
    );
    assert.equal(text, "one\ntwo\n");
    const code = await new Promise((resolve) => fs.stat("none", (error) => resolve(error?.code)));
    assert.equal(code, "ENOENT");
    assert.equal(await promisify(fs.readFile)("a.txt", "utf8"), "one\ntwo\n");
  },
  "names files by URL": async ({ Deno, fs }) => {
    const here = new URL("file:///project/gadgets/count.ts"); // what import.meta.url is
    assert.equal((await Deno.readTextFile(new URL("../a.txt", here))).length, 8);
    assert.equal(fs.readFileSync(new URL("../data/deep/c.txt", here), "utf8"), "c");
    Deno.writeTextFileSync(new URL("../with%20blank.txt", here), "x");
    assert.ok(fs.existsSync("with blank.txt"));
  },
  "fetches JSON": async ({ fetch, effects }) => {
    effects.fetched = ({ url, headers, method }) => ({
      ok: { status: 200, url, headers: [["content-type", "application/json"]] },
      bytes: new TextEncoder().encode(JSON.stringify({ url, method, headers })),
    });
    const response = await fetch("https://example.com/a?b=1", {
      headers: { Accept: "application/json", "X-Key": "k" },
    });
    assert.ok(
      response.ok && response.status === 200 && response.statusText === "OK" && response instanceof Response,
    );
    assert.equal(response.url, "https://example.com/a?b=1");
    assert.equal(response.headers.get("Content-Type"), "application/json");
    const copy = response.clone();
    assert.deepEqual(await response.json(), {
      url: "https://example.com/a?b=1",
      method: "GET",
      headers: [["accept", "application/json"], ["x-key", "k"]],
    });
    assert.equal(copy.url, response.url);
    assert.ok((await copy.arrayBuffer()).byteLength > 10);
  },
  "posts": async ({ fetch, effects }) => {
    const bodies: string[] = [];
    effects.fetched = ({ url, method, headers }, bytes) => {
      bodies.push(
        `${method} ${Object.fromEntries(headers)["content-type"]} ${new TextDecoder().decode(bytes)}`,
      );
      return { ok: { status: 201, url, headers: [] } };
    };
    const post = (body: BodyInit) => fetch("https://example.com/", { method: "POST", body });
    await post(JSON.stringify({ a: 1 }));
    await post(new URLSearchParams({ a: "b c" }));
    assert.equal((await post(new Uint8Array([120]))).status, 201);
    await fetch(new Request("https://example.com/", { method: "PUT", body: "from a request" }));
    assert.deepEqual(bodies, [
      'POST text/plain;charset=UTF-8 {"a":1}',
      "POST application/x-www-form-urlencoded;charset=UTF-8 a=b+c",
      "POST undefined x",
      "PUT text/plain;charset=UTF-8 from a request",
    ]);
  },
  "sees an error status and redirects": async ({ fetch, effects }) => {
    effects.fetched = ({ url, redirect }) =>
      url.endsWith("/old")
        ? redirect === "manual"
          ? { ok: { status: 302, url, headers: [["location", "/new"]] } }
          : { ok: { status: 200, url: "https://example.com/new", headers: [] } }
        : { ok: { status: 404, url, headers: [] }, bytes: new TextEncoder().encode("not here") };
    const missing = await fetch("https://example.com/gone");
    assert.deepEqual([missing.ok, missing.status, missing.statusText, await missing.text()], [
      false,
      404,
      "Not Found",
      "not here",
    ]);
    const manual = await fetch("https://example.com/old", { redirect: "manual" });
    assert.deepEqual([manual.status, manual.headers.get("location")], [302, "/new"]);
    const followed = await fetch("https://example.com/old");
    assert.deepEqual([followed.redirected, followed.url], [true, "https://example.com/new"]);
  },
  "aborts a fetch": async ({ fetch }) => {
    const stop = new AbortController();
    const going = fetch("https://example.com/slow", { signal: stop.signal });
    stop.abort();
    assert.equal((await thrown(() => going)).name, "AbortError");
    const reason = new Error("enough");
    assert.equal(
      await thrown(() => fetch("https://example.com/", { signal: AbortSignal.abort(reason) })),
      reason,
    );
    assert.equal(
      (await thrown(() => fetch("https://example.com/slow", { signal: AbortSignal.timeout(1) }))).name,
      "TimeoutError",
    );
  },
  "fetches what is no page": async ({ fetch, Deno }) => {
    assert.equal(await (await fetch("data:text/plain,hi%20there")).text(), "hi there");
    const url = URL.createObjectURL(new Blob(["blob"]));
    assert.equal(await (await fetch(url)).text(), "blob");
    URL.revokeObjectURL(url);
    assert.equal(await (await fetch(new URL("file:///project/a.txt"))).text(), "one\ntwo\n");
    assert.match(
      (await thrown(() => fetch("ftp://example.com/"))).message,
      /expected http: or https:, found "ftp:"/,
    );
    assert.match((await thrown(() => fetch("/relative"))).message, /expected a whole URL/);
    assert.ok((await thrown(() => fetch("file:///project/none"))) instanceof TypeError);
    assert.ok(Deno.errors.NotFound.prototype instanceof Error);
  },
  "logs": ({ console, logs, Deno, process }) => {
    console.log("plain", 1, { a: [1, new Map([["k", "v"]])] });
    console.log("%s is %d%% of %o, %j %i %f", "it", 50, { b: 1 }, { c: 2 }, "4.9", "1.5", "more");
    console.error(new Error("boom").message);
    console.group("outer");
    console.info("in\nside");
    console.groupEnd();
    console.assert(1 > 2, "wrong");
    console.count("n");
    console.count("n");
    Deno.stdout.writeSync(new TextEncoder().encode("raw\n"));
    process.stderr.write("err\n");
    assert.deepEqual(logs, [
      'plain 1 { a: [ 1, Map(1) { "k" => "v" } ] }',
      'it is 50% of { b: 1 }, {"c":2} 4 1.5 more',
      "boom",
      "outer",
      "  in\n  side",
      "Assertion failed: wrong",
      "n: 1",
      "n: 2",
      "raw",
      "err",
    ]);
    assert.equal(Deno.inspect({ a: "b" }), '{ a: "b" }');
  },
  "reads what was granted of the environment": ({ Deno, process, os }) => {
    assert.equal(Deno.env.get("TOKEN"), "t");
    assert.equal(Deno.env.get("HOME"), undefined);
    assert.equal(process.env.TOKEN, "t");
    assert.equal(process.env.NONE ?? "default", "default");
    process.env.NEW = "1";
    assert.deepEqual(Deno.env.toObject(), { TOKEN: "t", NEW: "1" });
    assert.deepEqual({ ...process.env }, { TOKEN: "t", NEW: "1" });
    delete process.env.NEW;
    assert.ok(!Deno.env.has("NEW") && !("NEW" in process.env) && !Deno.env.has("toString"));
    assert.equal(Deno.cwd(), "/project");
    assert.equal(process.cwd(), "/project");
    assert.equal(Deno.hostname(), "box");
    assert.equal(os.hostname(), "box");
    assert.equal(os.platform(), process.platform);
    assert.throws(() => Deno.osRelease(), /--allow-gadget NAME=sys:osRelease/);
  },
  "runs commands": async ({ Deno, effects, logs }) => {
    effects.ran = ({ command, args }, bytes) => {
      if (command === "nope") return failure("not-found", 'Cannot run "nope": no program of this name');
      const [out, error] = [
        `${command} ${args.join(" ")}${bytes.length}`,
        command === "fails" ? "oh no\n" : "",
      ];
      const text = new TextEncoder().encode(out + error);
      return {
        ok: { exitCode: command === "fails" ? 3 : 0, stdoutBytes: new TextEncoder().encode(out).length },
        bytes: text,
      };
    };
    const { code, success, stdout } = await new Deno.Command("git", { args: ["log", "-1"] }).output();
    assert.deepEqual([code, success, new TextDecoder().decode(stdout)], [0, true, "git log -10"]);
    const failing = new Deno.Command("fails", { env: { A: "1" }, cwd: "data", stderr: "inherit" })
      .outputSync();
    assert.deepEqual([failing.code, failing.success, logs.at(-1)], [3, false, "oh no"]);
    assert.deepEqual(effects.asked.at(-1), {
      kind: "run",
      command: "fails",
      args: [],
      cwd: "data",
      env: { TOKEN: "t", A: "1" },
    });
    assert.ok((await thrown(() => new Deno.Command("nope").output())) instanceof Deno.errors.NotFound);
  },
  "tells errors by class and code": async ({ Deno, fs, fsp, effects }) => {
    const missing = await thrown(() => Deno.readTextFile("none.txt"));
    assert.ok(
      missing instanceof Deno.errors.NotFound && missing.name === "NotFound" && missing.code === "ENOENT",
    );
    assert.match(missing.message, /none\.txt/);
    const node = await thrown(() => fsp.readFile("none.txt"));
    assert.equal(node.message, "ENOENT: no such file or directory, open 'none.txt'");
    assert.deepEqual([node.code, node.errno, node.syscall, node.path], ["ENOENT", -2, "open", "none.txt"]);
    assert.ok((await thrown(() => Deno.readFile("data"))) instanceof Deno.errors.IsADirectory);
    assert.ok((await thrown(() => Deno.readDirSync("a.txt"))) instanceof Deno.errors.NotADirectory);
    effects.refused = /secret/;
    for (
      const work of [
        () => Deno.readTextFile("secret.txt"),
        () => fs.readFileSync("secret.txt"),
        () => fs.existsSync("secret.txt"),
      ]
    ) {
      const refused = await thrown(work);
      assert.equal(refused.code, "EACCES");
      assert.match(refused.message, /"secret.txt" is not allowed: add --allow-gadget Test=read:secret\.txt/);
      assert.equal(thrownError(refused).refusal, effects.asked.length);
      assert.equal(thrownError(new Error("wrapped", { cause: refused })).refusal, effects.asked.length);
    }
    assert.ok((await thrown(() => Deno.readTextFile("secret.txt"))) instanceof Deno.errors.NotCapable);
  },
  "is told what is not there": async ({ Deno, fs, process }) => {
    assert.equal(typeof Deno.listen, "function");
    assert.match(
      (await thrown(() => Deno.listen({ port: 1 }))).message,
      /^Deno\.listen is not there in a gadget: /,
    );
    assert.match((await thrown(() => Deno.open("a.txt"))).message, /use Deno\.readFile/);
    assert.match(
      (await thrown(() => Deno.permissions.query({ name: "read" }))).message,
      /Deno\.permissions is not there/,
    );
    assert.match(
      (await thrown(() => new Deno.UnsafeCallback({ parameters: [], result: "void" }, () => {}))).message,
      /not there/,
    );
    assert.match(
      (await thrown(() => fs.createReadStream("a.txt"))).message,
      /fs\.createReadStream is not there/,
    );
    assert.match((await thrown(() => Deno.exit(3))).message, /called Deno\.exit\(3\)/);
    assert.match((await thrown(() => process.exit())).message, /called process\.exit\(\)/);
    assert.match(
      (await thrown(() => Deno.writeTextFile("a", "b", { mode: 0o600 }))).message,
      /leave "mode" out/,
    );
    assert.equal(Object.getOwnPropertySymbols(Deno).length, 0);
    assert.equal(Reflect.get(Deno, "internal"), undefined);
  },
  "defines itself with orrery": ({ orrery }) => {
    const gadget = orrery.defineGadget({ name: "Count", description: "Counts.", run: () => 1 });
    assert.ok(Object.isFrozen(gadget) && gadget.linked && gadget.kind === "gadget");
    assert.equal(orrery.defineGadget({ name: "Later" }).link(() => 2).linked, true);
  },
};

for (const [name, gadget] of Object.entries(GADGETS)) {
  Deno.test(`a gadget ${name}`, async () => {
    await gadget(gadgetWorld(FILES, { env: { TOKEN: "t" }, sys: { hostname: "box" } }));
  });
}

Deno.test("the texts of the facade modules name what the facades have", async (t) => {
  const { modules } = makeFacades(new MemoryEffects(), { root: "/project", env: {}, sys: {}, log: () => {} });
  assert.deepEqual(Object.keys(facadeModules).sort(), Object.keys(modules).sort());
  Object.defineProperty(globalThis, Symbol.for("orrery.gadget"), {
    value: { facade: modules },
    configurable: true,
  });
  for (const [specifier, text] of Object.entries(facadeModules)) {
    await t.step(specifier, async () => {
      const loaded = await import(`data:text/javascript,${encodeURIComponent(text)}`);
      const { default: whole, ...named } = loaded;
      assert.deepEqual(Object.keys(named).sort(), Object.keys(modules[specifier] ?? {}).sort());
      if (specifier !== "orrery") assert.equal(whole, modules[specifier]);
    });
  }
  Reflect.deleteProperty(globalThis, Symbol.for("orrery.gadget"));
});

const ONE_FILE = { "a.txt": "one" };

async function message(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "nothing was thrown";
}

Deno.test("a path is read once, and only what is a path is one", async () => {
  const { Deno: facade, fs, effects } = gadgetWorld(ONE_FILE);
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
  const { Deno: facade, effects } = gadgetWorld(ONE_FILE);
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
  const { Deno: facade, effects } = gadgetWorld(ONE_FILE);
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
  const { Deno: facade, fetch: send, effects } = gadgetWorld(ONE_FILE);
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
  const { fetch: send, effects } = gadgetWorld(ONE_FILE);
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
