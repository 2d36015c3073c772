import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Http, PermissionRefused, type Shell } from "../mod.ts";
import { type EffectOp, MAX_EFFECT_BYTES } from "../lib/core/gadget_message.ts";
import { memoryDisk } from "./_memory_disk.ts";
import { exactFiles } from "../lib/host/files/exact_files.ts";
import { hostFileChanges } from "../lib/host/files/changes.ts";
import { hostHttp } from "../lib/host/http/http.ts";
import { realPath } from "../lib/host/paths.ts";
import { hostShell } from "../lib/host/commands/shell.ts";
import { guardWorld } from "../lib/policy/guard.ts";
import { guardFileChanges } from "../lib/policy/guard_files.ts";
import { createPolicy } from "../lib/policy/policy.ts";
import { parsePolicyFlags } from "../lib/policy/policy_flags.ts";
import { type EffectOptions, performEffect } from "../lib/sandbox/effects.ts";
import { withServer } from "./_loopback.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const signal = new AbortController().signal;

const noHttp: Http = {
  fetch: () => Promise.reject(new Error("no network")),
  open: () => Promise.reject(new Error("no network")),
};
const noShell: Shell = { run: () => Promise.reject(new Error("no commands")) };

function memory(files: Readonly<Record<string, string>> = {}): EffectOptions {
  const disk = memoryDisk(files);
  return { world: { files: disk.files, http: noHttp, shell: noShell }, changes: disk.changes, signal };
}

/** The real thing, in a folder that is gone after the test. */
async function real(
  flags: readonly string[],
  work: (options: EffectOptions, root: string) => Promise<void>,
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-effects-" }));
  try {
    const settings = parsePolicyFlags(flags.map((flag) => {
      const [name = "", value = ""] = flag.split("=");
      return { name, value };
    }));
    const policy = createPolicy(settings, { root, cwd: root, realPath });
    const files = exactFiles({ root });
    const world = guardWorld({ root, files, shell: hostShell(), http: hostHttp }, policy);
    const changes = guardFileChanges(hostFileChanges({ root }), { policy, root, files });
    await work({ world, changes, signal }, root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

async function done(op: EffectOp, options: EffectOptions, sent = ""): Promise<{ ok: unknown; text: string }> {
  const outcome = await performEffect(op, bytes(sent), options);
  assert.ok("ok" in outcome, JSON.stringify(outcome));
  return { ok: outcome.ok, text: new TextDecoder().decode(outcome.bytes) };
}

async function failed(
  op: EffectOp,
  options: EffectOptions,
  sent = new Uint8Array(),
): Promise<{ code: string; message: string; refused?: PermissionRefused }> {
  const outcome = await performEffect(op, sent, options);
  assert.ok("error" in outcome, "expected a failure");
  return { ...outcome.error, ...(outcome.refused && { refused: outcome.refused }) };
}

Deno.test("effects on files", async () => {
  const options = memory({ "a.txt": "one", "b/c.txt": "c" });
  assert.equal((await done({ kind: "read", path: "a.txt" }, options)).text, "one");
  await done({ kind: "write", path: "a.txt", how: "append" }, options, " two");
  await done({ kind: "write", path: "n.txt", how: "create" }, options, "n");
  await done({ kind: "write", path: "n.txt", how: "replace" }, options, "m");
  assert.deepEqual((await done({ kind: "list", path: "." }, options)).ok, [
    ["a.txt", "file"],
    ["b", "folder"],
    ["n.txt", "file"],
  ]);
  assert.deepEqual((await done({ kind: "stat", path: "a.txt" }, options)).ok, {
    kind: "file",
    size: 7,
    modifiedMs: 0,
  });
  await done({ kind: "make-folder", path: "x/y", isRecursive: true }, options);
  await done({ kind: "copy", path: "a.txt", to: "x/a.txt" }, options);
  await done({ kind: "rename", path: "x/a.txt", to: "x/b.txt" }, options);
  await done({ kind: "remove", path: "x", isRecursive: true }, options);
  assert.equal((await done({ kind: "real-path", path: "b/../a.txt" }, options)).ok, "/project/a.txt");
  assert.deepEqual(await failed({ kind: "real-path", path: "none" }, options), {
    code: "not-found",
    message: 'Cannot look at "none": no such file or folder',
  });
  assert.equal((await failed({ kind: "write", path: "n.txt", how: "create" }, options)).code, "exists");
  assert.equal((await failed({ kind: "read", path: "b" }, options)).code, "is-folder");
  assert.equal((await failed({ kind: "list", path: "a.txt" }, options)).code, "not-folder");
  assert.equal((await failed({ kind: "remove", path: "b", isRecursive: false }, options)).code, "not-empty");
});

Deno.test("what is refused is told with its flag, and kept for the call", () =>
  real([], async (options, root) => {
    const refusal = await failed({ kind: "write", path: "out/x.txt", how: "replace" }, options);
    assert.equal(refusal.code, "refused");
    assert.match(refusal.message, /"out\/x\.txt" is not allowed: add --allow-write=out\/x\.txt/);
    assert.ok(refusal.refused instanceof PermissionRefused);
    assert.equal(refusal.refused.request.value, join(root, "out/x.txt"));
    for (const path of ["/etc/passwd", "../../etc/passwd", "/proc/self/environ", "/proc/self/fd/0"]) {
      assert.equal((await failed({ kind: "read", path }, options)).code, "refused", path);
    }
    assert.equal((await failed({ kind: "read", path: "a\0b" }, options)).code, "other");
    assert.equal((await failed({ kind: "run", command: "sh", args: [], env: {} }, options)).code, "refused");
    assert.equal(
      (await failed({
        kind: "fetch",
        url: "http://example.com/",
        method: "GET",
        headers: [],
        redirect: "follow",
      }, options)).code,
      "refused",
    );
  }));

Deno.test("too much is an error that says so, never cut", async (t) => {
  await t.step("what is written", async () => {
    const tooMuch = new Uint8Array(MAX_EFFECT_BYTES + 1);
    const { code, message } = await failed({ kind: "write", path: "a", how: "replace" }, memory(), tooMuch);
    assert.deepEqual([code, message], [
      "too-large",
      "Cannot take 33554433 bytes at once: at most 33554432 bytes (32 MiB) are possible",
    ]);
  });
  await t.step("what is read", () =>
    real([], async (options, root) => {
      const file = await Deno.open(join(root, "big"), { write: true, create: true });
      await file.truncate(MAX_EFFECT_BYTES + 1);
      file.close();
      const { code, message } = await failed({ kind: "read", path: "big" }, options);
      assert.deepEqual([code, message], [
        "too-large",
        'Cannot read "big": it has 33554433 bytes, at most 33554432 can be read at once',
      ]);
    }));
  await t.step("the words of an effect", async () => {
    const path = "x/".repeat(600_000);
    assert.equal((await failed({ kind: "read", path }, memory())).code, "too-large");
  });
  await t.step("the body of an answer", async () => {
    const http: Http = {
      ...noHttp,
      fetch: (url) => Promise.resolve({ status: 200, url, headers: {}, body: bytes("cut"), truncated: true }),
    };
    const options = memory();
    const { code, message } = await failed(get("https://example.com/"), {
      ...options,
      world: { ...options.world, http },
    });
    assert.equal(code, "too-large");
    assert.match(message, /the body of the answer has more than 33554432 bytes/);
  });
  await t.step("the output of a command", async () => {
    const result = { exitCode: 0, stdout: "x", stderr: "", truncated: true, dropped: 7, stopped: false };
    const options = memory();
    const world = { ...options.world, shell: { run: () => Promise.resolve(result) } };
    const { code, message } = await failed({ kind: "run", command: "yes", args: [], env: {} }, {
      ...options,
      world,
    });
    assert.deepEqual([code, message], [
      "too-large",
      'Cannot take the output of "yes": 7 bytes of it are more than fits, at most 16777216 of each stream are possible',
    ]);
  });
});

function get(url: string, redirect: "follow" | "manual" | "error" = "follow"): EffectOp {
  return { kind: "fetch", url, method: "GET", headers: [], redirect };
}

Deno.test("requests: bytes, headers, redirects, refused addresses", async () => {
  const seen: string[] = [];
  await withServer(async (request, port) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/old") return new Response(null, { status: 302, headers: { location: "/new" } });
    if (pathname === "/away") return Response.redirect(`http://localhost:${port}/new`);
    const body = new Uint8Array(await request.arrayBuffer());
    seen.push(`${request.method} ${request.headers.get("x-list")} ${[...body].join()}`);
    return new Response(new Uint8Array([255, 0, 1]), { status: 201, headers: { "x-answer": "1" } });
  }, (port) =>
    real([`allow-net=127.0.0.1:${port}`], async (options) => {
      const url = `http://127.0.0.1:${port}`;
      const outcome = await performEffect(
        {
          kind: "fetch",
          url: `${url}/`,
          method: "POST",
          headers: [["X-List", "a"], ["x-list", "b"]],
          redirect: "follow",
        },
        new Uint8Array([0, 200, 255]),
        options,
      );
      assert.ok("ok" in outcome);
      assert.deepEqual([...outcome.bytes], [255, 0, 1]);
      assert.deepEqual(seen, ["POST a, b 0,200,255"]);
      assert.match(JSON.stringify(outcome.ok), /^\{"status":201,"url":"http:.*\["x-answer","1"\]/);
      assert.match(
        JSON.stringify((await done(get(`${url}/old`), options)).ok),
        /"status":201,"url":"http:[^"]*\/new"/,
      );
      assert.match(
        JSON.stringify((await done(get(`${url}/old`, "manual"), options)).ok),
        /"status":302.*\["location","\/new"\]/,
      );
      assert.match(
        (await failed(get(`${url}/old`, "error"), options)).message,
        /it redirects, and the request says redirect: "error"/,
      );
      assert.equal((await failed(get(`${url}/away`), options)).code, "refused");
      assert.equal((await failed(get(`http://u:p@127.0.0.1:${port}/`), options)).code, "other");
      assert.equal((await failed(get("file:///etc/passwd"), options)).code, "other");
      const withBreak: EffectOp = {
        kind: "fetch",
        url,
        method: "GET",
        headers: [["x", "a\r\nhost: b"]],
        redirect: "follow",
      };
      assert.match((await failed(withBreak, options)).message, /a character that is not allowed/);
      const proto: EffectOp = {
        kind: "fetch",
        url,
        method: "GET",
        headers: [["__proto__", "x"], ["constructor", "y"]],
        redirect: "follow",
      };
      await done(proto, options);
    }));
});

Deno.test({
  name: "commands: output, stdin, exit codes, what is not there",
  ignore: Deno.build.os === "windows",
  fn: () =>
    real(["allow-run=cat,sh,no-such-program"], async (options) => {
      const run = (command: string, args: readonly string[], env = {}): EffectOp => ({
        kind: "run",
        command,
        args,
        env,
      });
      assert.deepEqual(await done(run("cat", []), options, "grüße"), {
        ok: { exitCode: 0, stdoutBytes: 7 },
        text: "grüße",
      });
      assert.deepEqual(await done(run("sh", ["-c", "echo out; echo err >&2; exit 3"]), options), {
        ok: { exitCode: 3, stdoutBytes: 4 },
        text: "out\nerr\n",
      });
      assert.deepEqual((await done(run("sh", ["-c", 'echo "$A"'], { A: "b" }), options)).text, "b\n");
      assert.equal((await failed(run("no-such-program", []), options)).code, "not-found");
      assert.equal((await failed(run("sh", [], { LD_PRELOAD: "x.so" }), options)).code, "refused");
      assert.equal((await failed(run("cat", []), options, new Uint8Array([255]))).code, "other");
      const stop = new AbortController();
      const going = failed(run("sh", ["-c", "sleep 20"]), { ...options, signal: stop.signal });
      setTimeout(() => stop.abort(), 50);
      assert.equal((await going).code, "aborted");
    }),
});

Deno.test("an effect never throws, whatever it asks for", async () => {
  const path = fc.oneof(
    fc.string(),
    fc.constantFrom("a", "a/b", ".", "..", "/", "/project", "a/../..", "\0", "a.txt/", "//", "b/"),
  );
  const flag = fc.boolean();
  const op: fc.Arbitrary<EffectOp> = fc.oneof(
    fc.record({ kind: fc.constant("read" as const), path }),
    fc.record({
      kind: fc.constant("write" as const),
      path,
      how: fc.constantFrom("replace" as const, "append" as const, "create" as const),
    }),
    fc.record({ kind: fc.constant("stat" as const), path, isLink: flag }),
    fc.record({ kind: fc.constant("list" as const), path }),
    fc.record({ kind: fc.constantFrom("make-folder" as const, "remove" as const), path, isRecursive: flag }),
    fc.record({ kind: fc.constantFrom("rename" as const, "copy" as const), path, to: path }),
    fc.record({ kind: fc.constant("real-path" as const), path }),
  );
  await real(["allow-write=."], async (options) => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { maxLength: 6 }), async (ops) => {
        for (const each of ops) {
          const outcome = await performEffect(each, bytes("x"), options);
          assert.ok("ok" in outcome || outcome.error.message !== "");
        }
      }),
      { numRuns: 150 },
    );
  });
});
