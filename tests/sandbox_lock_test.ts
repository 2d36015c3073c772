// orrery.lock: its text, its errors, and what grantFor does with it.
import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import { type JsonObject, ProblemsError, SourceError, type User } from "../mod.ts";
import { loadConfig } from "../lib/catalog/config/load.ts";
import { lockText, parseLock } from "../lib/catalog/lock_file.ts";
import type { GadgetToGrant, Lock } from "../lib/core/catalog.ts";
import { hostFiles } from "../lib/host/files/files.ts";
import { checkFrozen } from "../lib/project/project.ts";
import { type Grant, GrantMeans, type GrantMeansOptions } from "../lib/project/trust/grant_gadget.ts";
import { readProjectLock } from "../lib/project/trust/lock.ts";
import { hashOfBytes } from "../lib/project/trust/module_hashes.ts";
import { writeFiles } from "./_gadgets.ts";

const HASH = "ab".repeat(32);
const LOCK: Lock = {
  gadgets: [
    {
      name: "Zip",
      file: "gadgets/zip.ts",
      permissions: { write: ["out"], read: true },
      modules: { "gadgets/zip.ts": HASH, "gadgets/_pack.ts": HASH },
    },
    {
      name: "Fetch",
      file: "gadgets/fetch.ts",
      permissions: { net: ["b.com", "a.com:443"] },
      modules: { "gadgets/fetch.ts": HASH },
    },
  ],
  servers: [
    { name: "web", reached: { url: "https://x/mcp" }, sha256: HASH, tools: {} },
    {
      name: "files",
      reached: { command: ["npx", "-y", "files"] },
      sha256: HASH,
      tools: { read: HASH, "10": HASH },
    },
  ],
};

Deno.test("lock: sorted, the same text for the same content, read back as it was", () => {
  const text = lockText(LOCK);
  const back = parseLock(text, "orrery.lock");
  assert.deepEqual(back.gadgets.map(({ name }) => name), ["Fetch", "Zip"]);
  assert.deepEqual(back.gadgets[0]?.permissions, { net: ["a.com:443", "b.com"] });
  assert.deepEqual(Object.keys(back.gadgets[1]?.modules ?? {}), ["gadgets/_pack.ts", "gadgets/zip.ts"]);
  assert.equal(lockText({ gadgets: back.gadgets.toReversed(), servers: back.servers.toReversed() }), text);
  assert.deepEqual(parseLock(text.replaceAll("\n", "\r\n"), "orrery.lock"), back);
  assert.match(text, /^\{\n {2}"version": 1,\n {2}"gadgets": \[\n {4}\{\n {6}"name": "Fetch",/);
  assert.ok(text.endsWith("]\n}\n"));
});

const name = fc.string({ minLength: 1, maxLength: 8 });
const hashes = fc.dictionary(name, fc.constantFrom(HASH, "0".repeat(64)), { maxKeys: 4 });
const anyLock: fc.Arbitrary<Lock> = fc.record({
  gadgets: fc.uniqueArray(
    fc.record({
      name,
      file: name,
      permissions: fc.record({
        read: fc.oneof(fc.constant(true as const), fc.array(name, { maxLength: 3 })),
        net: fc.array(name, { maxLength: 3 }),
      }, { requiredKeys: [] }),
      modules: hashes,
    }),
    { maxLength: 4, selector: (gadget) => gadget.name },
  ),
  servers: fc.uniqueArray(
    fc.record({
      name,
      reached: fc.oneof(fc.record({ url: name }), fc.record({ command: fc.array(name, { maxLength: 3 }) })),
      sha256: fc.constant(HASH),
      tools: hashes,
    }),
    { maxLength: 3, selector: (server) => server.name },
  ),
});

Deno.test("lock: whatever stands in it is read back", () => {
  fc.assert(fc.property(anyLock, (lock) => {
    const text = lockText(lock);
    assert.equal(lockText(parseLock(text, "orrery.lock")), text);
  }));
});

function problemOf(text: string): SourceError {
  try {
    parseLock(text, "orrery.lock");
  } catch (error) {
    assert.ok(error instanceof SourceError, String(error));
    return error;
  }
  assert.fail(`it was read: ${text}`);
}

Deno.test("lock: one character changed by hand is an error with its place, wherever it is", () => {
  const text = lockText(LOCK);
  fc.assert(fc.property(fc.nat(text.length - 1), fc.constantFrom(...'a0 {}",:é\n'), (at, by) => {
    fc.pre(text[at] !== by);
    const error = problemOf(text.slice(0, at) + by + text.slice(at + 1));
    assert.match(error.place, /^orrery\.lock:\d+:\d+$/);
    assert.match(error.message, /^Cannot believe orrery\.lock: /);
    assert.match(error.hint ?? "", /version control|newer/);
  }));
});

Deno.test("lock: what is wrong, and where", () => {
  const text = lockText(LOCK);
  const rows: readonly (readonly [string, string, RegExp])[] = [
    ["", "orrery.lock:1:1", /it is not JSON/],
    ["[]", "orrery.lock:1:1", /expected an object/],
    ["{}", "orrery.lock:1:1", /expected "version": 1/],
    [
      text.replace('"version": 1', '"version": 2'),
      "orrery.lock:2:14",
      /found version 2, expected "version": 1/,
    ],
    [
      text.replace("a.com:443", "evil.com"),
      "orrery.lock:4:5",
      /what it says of gadget "Fetch" was changed by hand/,
    ],
    [text.replace('"read": true', '"read": false'), "orrery.lock:22:17", /expected a list under "read"/],
    [text.replace('"net"', '"ffi"'), "orrery.lock:8:16", /found the key "ffi", expected one of read, write/],
    [text.replace('"name": "Zip"', '"nam": "Zip"'), "orrery.lock:19:14", /found the key "nam"/],
    [text.replace("npx", "npm"), "orrery.lock:35:5", /MCP server "files" was changed by hand/],
    [text.replace(HASH, "x"), "orrery.lock:14:29", /expected a SHA-256: 64 hexadecimal digits/],
    [`${text}\n`, "orrery.lock:58:1", /not as Orrery writes it from here on/],
  ];
  for (const [wrong, place, message] of rows) {
    const error = problemOf(wrong);
    assert.equal(error.place, place, error.message);
    assert.match(error.message, message);
  }
  assert.match(problemOf(rows[3]?.[0] ?? "").hint ?? "", /A newer Orrery wrote it/);
});

Deno.test("lock: two sides of a merge are told as that, whichever way they were left", () => {
  const lines = lockText(LOCK).split("\n");
  for (const [at, mark] of [[2, "<<<<<<< HEAD"], [9, "======="], [20, ">>>>>>> other"]] as const) {
    const error = problemOf(lines.toSpliced(at, 0, mark).join("\n"));
    assert.equal(error.place, `orrery.lock:${at + 1}:1`);
    assert.match(error.message, /two versions of it were not merged/);
    assert.match(error.hint ?? "", /Keep the entries of one side, .*: orrery trust allow NAME\.$/);
  }
  const [first] = LOCK.gadgets;
  assert.ok(first !== undefined);
  const both = problemOf(
    lockText({ gadgets: [first, { ...first, permissions: { run: true } }], servers: [] }),
  );
  assert.match(both.message, /it has two entries of "Zip"/);
  assert.match(both.place, /^orrery\.lock:\d+:5$/);
});

Deno.test("lock: any text is a lock or an error with a place", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
    assert.match(problemOf(text).place, /^orrery\.lock:\d+:\d+$/);
  }));
});

// grantFor

const grantFor = (gadget: GadgetToGrant, means: GrantMeans) => means.grantFor(gadget);

interface At {
  readonly root: string;
  readonly gadget: GadgetToGrant;
  readonly notices: string[];
  readonly accepted: JsonObject[];
  means(options?: Partial<GrantMeansOptions>): Promise<GrantMeans>;
}

async function inProject(work: (at: At) => Promise<void>): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-lock-" }));
  try {
    await writeFiles(root, { "gadgets/fetch.ts": "export default 1;\n", "gadgets/_http.ts": "export {};\n" });
    const modules = await Promise.all(
      ["gadgets/fetch.ts", "gadgets/_http.ts"].map(async (file) => {
        const path = join(root, file);
        return { path, sha256: await hashOfBytes(await Deno.readFile(path)) };
      }),
    );
    const notices: string[] = [];
    const accepted: JsonObject[] = [];
    await work({
      root,
      notices,
      accepted,
      gadget: {
        name: "Fetch",
        file: join(root, "gadgets/fetch.ts"),
        permissions: { net: ["a.com"] },
        modules,
      },
      async means(options = {}) {
        return new GrantMeans({
          root,
          cwd: root,
          config: await loadConfig(root, hostFiles({ root })),
          projectAccepted: false,
          lock: await readProjectLock({ root, cwd: root }),
          flags: { trust: [] },
          user: userWho(),
          notice: (text) => void notices.push(text),
          accept: (parts) => Promise.resolve(void accepted.push(parts)),
          ...options,
        });
      },
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

function userWho(...answers: readonly string[]): User & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    canAnswer: answers.length > 0,
    asked,
    ask(question) {
      asked.push(question);
      return Promise.resolve(answers[asked.length - 1] ?? assert.fail("asked too often"));
    },
  };
}

const refusalOf = (grant: Grant) => grant.kind === "refused" ? grant.error : assert.fail("it was granted");

Deno.test("grantFor: nobody to ask is a refusal with the flag; once is asked once for all calls", () =>
  inProject(async ({ gadget, means, root }) => {
    const none = await grantFor(gadget, await means());
    assert.equal(none.kind === "refused" && none.code, "permission");
    assert.equal(refusalOf(none).flag, "--trust Fetch");
    const user = userWho("once");
    const asking = await means({ user });
    const grants = await Promise.all([1, 2, 3].map(() => grantFor(gadget, asking)));
    assert.deepEqual(grants[2], { kind: "granted", permissions: gadget.permissions, from: ["your answer"] });
    assert.equal(user.asked.length, 1);
    assert.equal(refusalOf(await grantFor(gadget, await means({ user: userWho("deny") }))).flag, "");
    await assert.rejects(Deno.stat(join(root, "orrery.lock")), Deno.errors.NotFound);
  }));

Deno.test("grantFor: --trust and --allow-gadget by name and file; a name that fits two grants nothing", () =>
  inProject(async ({ gadget, means, root }) => {
    const withFlags = async (flags: GrantMeansOptions["flags"], more: Partial<GrantMeansOptions> = {}) =>
      await grantFor(gadget, await means({ flags, ...more }));
    for (const name of ["Fetch", "gadgets/fetch.ts", join(root, "gadgets/fetch.ts")]) {
      assert.equal((await withFlags({ trust: [name] })).kind, "granted", name);
      const allowed = await withFlags({ trust: [], "allow-gadget": [`${name}=read:data`] });
      assert.deepEqual(allowed.kind === "granted" && allowed.permissions, { read: [join(root, "data")] });
    }
    assert.equal(
      (await withFlags({ trust: ["Other", "fetch"], "allow-gadget": ["Other=net"] })).kind,
      "refused",
    );
    const servers = { serverNames: ["Fetch"] };
    assert.equal((await withFlags({ trust: ["Fetch"] }, servers)).kind, "refused");
    const other = join(root, "more/fetch.ts");
    const candidates = [{
      path: other,
      file: "more/fetch.ts",
      stem: "fetch",
      source: { kind: "project" as const, file: "more/fetch.ts" },
      declared: "Fetch",
    }];
    assert.equal((await withFlags({ trust: ["Fetch"] }, { candidates })).kind, "refused");
    assert.equal((await withFlags({ trust: ["gadgets/fetch.ts"] }, { candidates })).kind, "granted");
  }));

Deno.test("grantFor: grants of the user count, those of the project when it was accepted", () =>
  inProject(async ({ gadget, means, root }) => {
    const config = await loadConfig(root, hostFiles({ root }));
    const own = { ...config, grants: { Fetch: { net: ["b.com"] } } };
    const project = {
      ...config,
      project: { ...config.project, grants: { Fetch: "trusted" as const }, parts: { grants: {} } },
    };
    assert.deepEqual(await grantFor(gadget, await means({ config: own })), {
      kind: "granted",
      permissions: { net: ["b.com"] },
      from: ["your settings"],
    });
    assert.equal((await grantFor(gadget, await means({ config: project }))).kind, "refused");
    assert.deepEqual(await grantFor(gadget, await means({ config: project, projectAccepted: true })), {
      kind: "granted",
      permissions: { net: ["a.com"] },
      from: ["the project"],
    });
  }));

Deno.test("grantFor: always writes the lock, and a changed module asks again and says what changed", () =>
  inProject(async ({ gadget, means, root, accepted, notices }) => {
    assert.equal((await grantFor(gadget, await means({ user: userWho("always") }))).kind, "granted");
    const text = await Deno.readTextFile(join(root, "orrery.lock"));
    assert.deepEqual(accepted, [{ "orrery.lock": JSON.parse(text) }]);
    assert.deepEqual(parseLock(text, "").gadgets.map(({ name, file }) => [name, file]), [[
      "Fetch",
      "gadgets/fetch.ts",
    ]]);
    assert.deepEqual(await grantFor(gadget, await means({ projectAccepted: true })), {
      kind: "granted",
      permissions: { net: ["a.com"] },
      from: ["orrery.lock"],
    });
    // Not accepted: as if there was none.
    const refused = refusalOf(await grantFor(gadget, await means()));
    assert.match(refused.message, /orrery\.lock counts as absent, since you have not accepted this project$/);
    const [own = assert.fail(), other = assert.fail()] = gadget.modules;
    const changed = {
      ...gadget,
      permissions: { net: true as const },
      modules: [own, { ...other, sha256: HASH }],
    };
    const user = userWho("always");
    await grantFor(changed, await means({ user, projectAccepted: true }));
    assert.equal(
      user.asked[0],
      [
        "The gadget Fetch of gadgets/fetch.ts asks for this:",
        "  connect to every public host",
        "It is not as it was when you allowed it:",
        "  gadgets/_http.ts was changed",
        "  now also: connect to every public host",
        "Once is for this run, always until a file of it changes (kept in orrery.lock).",
        "Allow it?",
      ].join("\n"),
    );
    const after = parseLock(await Deno.readTextFile(join(root, "orrery.lock")), "");
    assert.deepEqual(after.gadgets.map(({ permissions }) => permissions), [{ net: true }]);
    assert.deepEqual(notices, []);
  }));

Deno.test("grantFor: a project that was not accepted stays so, and is told what that means", () =>
  inProject(async ({ gadget, means, accepted, notices }) => {
    const parts = { mcpServers: { evil: { command: "rm" } } };
    const grant = await grantFor(gadget, await means({ user: userWho("always"), parts }));
    assert.equal(grant.kind, "granted");
    assert.deepEqual(accepted, []);
    assert.deepEqual(notices, [
      "orrery.lock counts for nothing until you accept this project; --trust-project accepts it",
    ]);
  }));

Deno.test("grantFor: a lock that somebody else wrote meanwhile is neither lost nor accepted", () =>
  inProject(async ({ gadget, means, root, accepted, notices }) => {
    const asking = await means({ user: userWho("always") });
    const foreign = lockText(LOCK);
    await Deno.writeTextFile(join(root, "orrery.lock"), foreign);
    assert.equal((await grantFor(gadget, asking)).kind, "granted");
    assert.equal(await Deno.readTextFile(join(root, "orrery.lock")), foreign);
    assert.deepEqual([accepted, notices], [[], [
      'Gadget "Fetch" is allowed for this run only: orrery.lock was changed meanwhile, so nothing was written to it',
    ]]);
  }));

Deno.test("grantFor: two that are allowed at the same time are both in the lock", () =>
  inProject(async ({ gadget, means, root }) => {
    const asking = await means({ user: userWho("always", "always") });
    const second = { ...gadget, name: "Second", file: join(root, "gadgets/second.ts") };
    await Promise.all([grantFor(gadget, asking), grantFor(second, asking)]);
    const { gadgets } = parseLock(await Deno.readTextFile(join(root, "orrery.lock")), "");
    assert.deepEqual(gadgets.map(({ name }) => name), ["Fetch", "Second"]);
  }));

Deno.test("the lock is never a link: nothing outside the project is read or written by it", {
  ignore: Deno.build.os === "windows",
}, () =>
  inProject(async ({ gadget, means, root, notices }) => {
    const asking = await means({ user: userWho("always") });
    const target = join(root, "..", `orrery-target-${crypto.randomUUID()}`);
    await Deno.symlink(target, join(root, "orrery.lock"));
    assert.equal((await grantFor(gadget, asking)).kind, "granted");
    assert.match(notices[0] ?? "", /for this run only: Cannot use orrery\.lock: it is a link to/);
    await assert.rejects(Deno.stat(target), Deno.errors.NotFound);
    await Deno.writeTextFile(target, lockText(LOCK));
    await assert.rejects(readProjectLock({ root, cwd: root }), /it is a link to/);
    await Deno.remove(target);
  }));

Deno.test("grantFor: a manifest that cannot be read is an error of its gadget", () =>
  inProject(async ({ gadget, means }) => {
    const wrong = { ...gadget, permissions: { net: ["a.com", "http://b.com"] } };
    await assert.rejects(
      grantFor(wrong, await means({ flags: { trust: ["Fetch"] } })),
      /^SourceError: gadgets\/fetch\.ts: permissions\.net\[1\] of gadget "Fetch": expected a host .*found a URL$/,
    );
  }));

Deno.test("--frozen: what is not as the lock has it is an error that names gadget, module and place", () =>
  inProject(async ({ gadget, means, root }) => {
    const frozen = { flags: { trust: [], frozen: true }, projectAccepted: true, user: userWho("always") };
    await assert.rejects(grantFor(gadget, await means(frozen)), (error) => {
      assert.ok(error instanceof SourceError);
      assert.equal(
        error.message,
        '--frozen: gadget "Fetch" is not as orrery.lock has it: gadgets/fetch.ts is not in it',
      );
      assert.equal(error.hint, "orrery trust allow Fetch allows it as it is now.");
      return true;
    });
    await grantFor(gadget, await means({ user: userWho("always") }));
    assert.equal((await grantFor(gadget, await means(frozen))).kind, "granted");
    const lock = await readProjectLock({ root, cwd: root });
    await checkFrozen(lock, { root });
    await Deno.writeTextFile(join(root, "gadgets/_http.ts"), "export const x = 1;\n");
    await Deno.remove(join(root, "gadgets/fetch.ts"));
    await assert.rejects(checkFrozen(lock, { root }), (error) => {
      assert.ok(error instanceof ProblemsError);
      assert.deepEqual(error.problems.map(({ place, message }) => [place, message]), [[
        "orrery.lock:4:5",
        '--frozen: gadget "Fetch" is not as orrery.lock has it: gadgets/_http.ts was changed; gadgets/fetch.ts is gone',
      ]]);
      const [problem] = error.problems;
      assert.equal(problem?.hint, "orrery trust deny Fetch takes it out of the lock.");
      return true;
    });
  }));
