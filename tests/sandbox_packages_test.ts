// A package from npm inside the process of a gadget: it gets Node's own modules where the gadget's own get facades. It has no rights by any
// of them, and what it prints, or asks of `process`, is the gadget's. In the binary there are no packages.

import assert from "node:assert/strict";
import { join } from "node:path";
import { GadgetSide } from "./_gadget_side.ts";

const PROCESS = new URL("../lib/sandbox/inside/inside.ts", import.meta.url).href;

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
