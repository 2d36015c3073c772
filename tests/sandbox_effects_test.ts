import fc from "fast-check";
import assert from "node:assert/strict";
import {
  FileError,
  type FileErrorCode,
  type Files,
  type Http,
  memoryFiles,
  PermissionRefused,
  type Shell,
} from "../mod.ts";
import { type FileChanges, type FileLook, tooLargeReason } from "../lib/core/world.ts";
import { type FileAction, fileProblem } from "../lib/core/file_text.ts";
import { basename, dirname, join, resolve } from "node:path";
import { type EffectOp, MAX_EFFECT_BYTES } from "../lib/core/gadget_message.ts";
import { exactFiles, hostFileChanges } from "../lib/host/files/changes.ts";
import { hostHttp } from "../lib/host/http/http.ts";
import { realPath } from "../lib/host/paths.ts";
import { hostShell } from "../lib/host/commands/shell.ts";
import { guardWorld } from "../lib/policy/guard.ts";
import { guardFileChanges } from "../lib/policy/guard_files.ts";
import { createPolicy } from "../lib/policy/policy.ts";
import { parsePolicyFlags } from "../lib/policy/policy_settings.ts";
import { type EffectOptions, performEffect } from "../lib/sandbox/effects.ts";
import { withServer } from "./_loopback.ts";
import { hostFiles } from "../lib/host/files/files.ts";

/** Files in memory, for tests, that can be read as `Files` and changed: no links, no modes. */
interface MemoryDisk {
  readonly files: Files;
  readonly changes: FileChanges;
}

/** @param initial by paths that are relative to `root` (default `/project`) or absolute */
function memoryDisk(
  initial: Readonly<Record<string, string | Uint8Array>> = {},
  { root = "/project" }: { readonly root?: string } = {},
): MemoryDisk {
  const contents = new Map<string, Uint8Array>();
  return { files: memoryFiles(initial, { root, contents }), changes: new MemoryChanges(contents, root) };
}

class MemoryChanges implements FileChanges {
  readonly #contents: Map<string, Uint8Array>;
  readonly #root: string;

  constructor(contents: Map<string, Uint8Array>, root: string) {
    this.#contents = contents;
    this.#root = root;
  }

  look(path: string): Promise<FileLook> {
    return this.#soon("look at", path, (at) => {
      const kind = this.#found(path, at, "look at");
      return { kind, size: this.#contents.get(at)?.length ?? 0, modifiedMs: 0 };
    });
  }

  readBytes(
    path: string,
    { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array> {
    return this.#soon("read", path, (at) => {
      signal?.throwIfAborted();
      if (this.#found(path, at, "read") === "folder") throw problem("read", path, "is-folder");
      const bytes = this.#contents.get(at) ?? new Uint8Array();
      if (bytes.length <= maxBytes) return bytes.slice();
      throw fileProblem(path, {
        action: "read",
        code: "too-large",
        reason: tooLargeReason(bytes.length, maxBytes),
      });
    });
  }

  list(path: string): ReturnType<FileChanges["list"]> {
    return this.#soon("list", path, (at) => {
      if (this.#found(path, at, "list") === "file") throw problem("list", path, "not-folder");
      const names = new Set(this.#below(at).map((inside) => inside.slice(at.length + 1).split("/")[0] ?? ""));
      names.delete("");
      return [...names].sort().map((name) => ({ name, kind: this.#kind(resolve(at, name)) ?? "other" }));
    });
  }

  writeBytes(path: string, bytes: Uint8Array): Promise<void> {
    return this.#soon("write", path, (at) => this.#put(path, { at, action: "write", bytes }));
  }

  append(path: string, bytes: Uint8Array): Promise<void> {
    return this.#soon("append to", path, (at) => {
      const before = this.#contents.get(at) ?? new Uint8Array();
      const after = new Uint8Array(before.length + bytes.length);
      after.set(before);
      after.set(bytes, before.length);
      this.#put(path, { at, action: "append to", bytes: after });
    });
  }

  create(path: string, bytes: Uint8Array): Promise<void> {
    return this.#soon("create", path, (at) => {
      if (this.#kind(at) !== undefined) throw problem("create", path, "exists");
      this.#put(path, { at, action: "create", bytes });
    });
  }

  makeFolder(path: string, { isRecursive }: { readonly isRecursive: boolean }): Promise<void> {
    const action = "make the folder";
    return this.#soon(action, path, (at) => {
      const there = this.#kind(at);
      if (there === "folder" && isRecursive) return;
      if (there !== undefined) throw problem(action, path, "exists");
      if (!isRecursive) this.#needFolder(path, { at, action });
      if (this.#fileAbove(at)) throw problem(action, path, "not-folder");
      this.#contents.set(`${at}/`, new Uint8Array());
    });
  }

  remove(path: string, { isRecursive }: { readonly isRecursive: boolean }): Promise<void> {
    return this.#soon("remove", path, (at) => {
      const kind = this.#found(path, at, "remove");
      const below = this.#below(at).filter((inside) => inside !== `${at}/`);
      if (kind === "folder" && below.length > 0 && !isRecursive) throw problem("remove", path, "not-empty");
      this.#take(at);
    });
  }

  rename(path: string, to: string): Promise<void> {
    return this.#soon("rename", path, (at) => {
      const kind = this.#found(path, at, "rename");
      const target = resolve(this.#root, to);
      this.#needFolder(to, { at: target, action: "rename" });
      const there = this.#kind(target);
      if (there === "folder" && kind === "file") throw problem("rename", to, "is-folder");
      if (there === "file" && kind === "folder") throw problem("rename", to, "not-folder");
      if (this.#below(target).some((inside) => inside !== `${target}/`)) {
        throw problem("rename", to, "not-empty");
      }
      for (const [inside, bytes] of this.#take(at)) {
        this.#contents.set(target + inside.slice(at.length), bytes);
      }
    });
  }

  copy(path: string, to: string): Promise<void> {
    return this.#soon("copy", path, (at) => {
      if (this.#found(path, at, "copy") === "folder") throw problem("copy", path, "is-folder");
      const bytes = this.#contents.get(at) ?? new Uint8Array();
      this.#put(to, { at: resolve(this.#root, to), action: "write", bytes: bytes.slice() });
    });
  }

  #put(path: string, { at, action, bytes }: { at: string; action: FileAction; bytes: Uint8Array }): void {
    this.#needFolder(path, { at, action });
    if (this.#kind(at) === "folder") throw problem(action, path, "is-folder");
    this.#keepFolder(at);
    this.#contents.set(at, bytes.slice());
  }

  /** The folder of a path stays when the last thing in it goes. */
  #keepFolder(at: string): void {
    this.#contents.set(`${dirname(at)}/`, new Uint8Array());
  }

  #take(at: string): readonly (readonly [path: string, bytes: Uint8Array])[] {
    this.#keepFolder(at);
    const taken = [...this.#contents].filter(([inside]) => inside === at || inside.startsWith(`${at}/`));
    for (const [inside] of taken) this.#contents.delete(inside);
    return taken;
  }

  #needFolder(path: string, { at, action }: { at: string; action: FileAction }): void {
    const above = this.#kind(dirname(at));
    if (this.#fileAbove(at) || above === "file") throw problem(action, path, "not-folder");
    if (above === undefined) throw problem(action, path, "not-found");
  }

  #fileAbove(at: string): boolean {
    return [...this.#contents.keys()].some((file) => !file.endsWith("/") && at.startsWith(`${file}/`));
  }

  #found(path: string, at: string, action: FileAction): "file" | "folder" {
    const kind = this.#kind(at);
    if (kind !== undefined) return kind;
    throw problem(action, path, this.#fileAbove(at) ? "not-folder" : "not-found");
  }

  #kind(at: string): "file" | "folder" | undefined {
    if (this.#contents.has(at)) return "file";
    return at === this.#root || basename(at) === "" || this.#below(at).length > 0 ? "folder" : undefined;
  }

  #below(at: string): readonly string[] {
    return [...this.#contents.keys()].filter((inside) => inside.startsWith(`${at}/`));
  }

  #soon<T>(action: FileAction, path: string, work: (at: string) => T): Promise<T> {
    return Promise.resolve().then(() => {
      if (!path.includes("\0")) return work(resolve(this.#root, path));
      throw fileProblem(path, { action, code: "other", reason: "the path holds a NUL character" });
    });
  }
}

function problem(action: FileAction, path: string, code: FileErrorCode): Error {
  return fileProblem(path, { action, code });
}

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

const isWindows = Deno.build.os === "windows";

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-changes-" }));
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const CONTENT = { "a.txt": "one", "b/c.txt": "c", "b/d/e.txt": "e" };

function fill(folder: string): void {
  for (const [path, text] of Object.entries(CONTENT)) {
    Deno.mkdirSync(join(folder, path, ".."), { recursive: true });
    Deno.writeTextFileSync(join(folder, path), text);
  }
}

const read = async (changes: FileChanges, path: string): Promise<string> =>
  new TextDecoder().decode(await changes.readBytes(path, { maxBytes: 1000 }));

async function fails(work: Promise<unknown>, code: FileErrorCode, message?: RegExp): Promise<void> {
  const error = await work.then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof FileError, `expected a FileError, found ${error}`);
  assert.equal(error.code, code, error.message);
  if (message !== undefined) assert.match(error.message, message);
}

async function refused(work: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await work.then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof PermissionRefused, `expected a refusal, found ${error}`);
  assert.match(error.message, message);
}

/** What every implementation does. */
const CONTRACT: Readonly<Record<string, (changes: FileChanges, root: string) => Promise<void>>> = {
  "writes bytes whole, over what is there and new": async (changes, root) => {
    await changes.writeBytes("a.txt", new Uint8Array([0, 255, 10]));
    assert.deepEqual([...await changes.readBytes(join(root, "a.txt"), { maxBytes: 3 })], [0, 255, 10]);
    await changes.writeBytes("b/new.txt", bytes("new"));
    assert.equal(await read(changes, "b/new.txt"), "new");
    assert.deepEqual((await changes.list("b")).map(({ name }) => name), ["c.txt", "d", "new.txt"]);
    await fails(
      changes.writeBytes("no/x.txt", bytes("")),
      "not-found",
      /"no\/x.txt": the folder that it would be in does not exist/,
    );
    await fails(changes.writeBytes("b", bytes("")), "is-folder");
    await fails(changes.writeBytes("a.txt/x", bytes("")), "not-folder");
  },
  "appends, and makes the file": async (changes) => {
    await changes.append("a.txt", bytes(" two"));
    await changes.append("new.txt", bytes("1"));
    await changes.append("new.txt", bytes("2"));
    assert.equal(await read(changes, "a.txt") + await read(changes, "new.txt"), "one two12");
    await fails(changes.append("b", bytes("")), "is-folder");
  },
  "creates what is new only": async (changes) => {
    await changes.create("new.txt", bytes("1"));
    await fails(
      changes.create("new.txt", bytes("2")),
      "exists",
      /Cannot create "new.txt": there is something of this name already/,
    );
    await fails(changes.create("b", bytes("2")), "exists");
    assert.equal(await read(changes, "new.txt"), "1");
  },
  "looks and lists": async (changes) => {
    const { kind, size } = await changes.look("a.txt");
    assert.deepEqual([kind, size], ["file", 3]);
    assert.equal((await changes.look("b")).kind, "folder");
    assert.deepEqual(await changes.list("b"), [{ name: "c.txt", kind: "file" }, {
      name: "d",
      kind: "folder",
    }]);
    await fails(changes.look("none"), "not-found");
    await fails(changes.list("a.txt"), "not-folder");
    await fails(changes.list("none"), "not-found");
  },
  "reads no more than it may": async (changes) => {
    await fails(
      changes.readBytes("a.txt", { maxBytes: 2 }),
      "too-large",
      /it has 3 bytes, at most 2 can be read at once/,
    );
    assert.equal(await read(changes, "a.txt"), "one");
    await fails(changes.readBytes("b", { maxBytes: 2 }), "is-folder");
    const reason = new Error("stop");
    await assert.rejects(
      changes.readBytes("a.txt", { maxBytes: 9, signal: AbortSignal.abort(reason) }),
      reason,
    );
  },
  "makes folders": async (changes) => {
    await changes.makeFolder("x/y/z", { isRecursive: true });
    await changes.makeFolder("x/y/z", { isRecursive: true });
    await changes.makeFolder("x/q", { isRecursive: false });
    assert.deepEqual((await changes.list("x")).map(({ name }) => name), ["q", "y"]);
    await fails(changes.makeFolder("x", { isRecursive: false }), "exists");
    await fails(changes.makeFolder("a.txt", { isRecursive: true }), "exists");
    await fails(changes.makeFolder("no/where", { isRecursive: false }), "not-found");
  },
  "removes": async (changes) => {
    await fails(changes.remove("b", { isRecursive: false }), "not-empty");
    await changes.remove("b/c.txt", { isRecursive: false });
    await changes.remove("b", { isRecursive: true });
    await fails(changes.look("b"), "not-found");
    await fails(
      changes.remove("b", { isRecursive: true }),
      "not-found",
      /Cannot remove "b": no such file or folder/,
    );
  },
  "renames": async (changes) => {
    await changes.rename("a.txt", "b/c.txt");
    assert.equal(await read(changes, "b/c.txt"), "one");
    await changes.rename("b", "q");
    assert.equal(await read(changes, "q/d/e.txt"), "e");
    await fails(changes.rename("none", "x"), "not-found", /Cannot rename "none"/);
    await fails(changes.rename("q", "no/where"), "not-found", /"no\/where"/);
  },
  "copies": async (changes) => {
    await changes.copy("a.txt", "b/c.txt");
    await changes.copy("a.txt", "new.txt");
    assert.equal(await read(changes, "b/c.txt") + await read(changes, "new.txt"), "oneone");
    await fails(changes.copy("b", "x"), "is-folder");
    await fails(changes.copy("none", "x"), "not-found", /"none"/);
    await fails(changes.copy("a.txt", "no/x"), "not-found", /"no\/x"/);
  },
  "refuses a NUL character": async (changes) => {
    await fails(changes.writeBytes("a\0b", bytes("")), "other", /NUL/);
    await fails(changes.remove("a\0b", { isRecursive: true }), "other", /NUL/);
  },
};

function guarded(root: string, flags: readonly string[] = ["allow-write=."]): FileChanges {
  const settings = parsePolicyFlags(flags.map((flag) => {
    const [name = "", value = ""] = flag.split("=");
    return { name, value };
  }));
  const policy = createPolicy(settings, { root, cwd: root, realPath });
  return guardFileChanges(hostFileChanges({ root }), { policy, root, files: hostFiles({ root }) });
}

for (const [name, test] of Object.entries(CONTRACT)) {
  Deno.test(`memoryDisk ${name}`, () => test(memoryDisk(CONTENT).changes, "/project"));
  for (
    const [kind, make] of [["hostFileChanges", (root: string) => hostFileChanges({ root })], [
      "guarded changes",
      guarded,
    ]] as const
  ) {
    Deno.test(`${kind}: ${name}`, () =>
      withFolder(async (root) => {
        fill(root);
        await test(make(root), root);
        assert.deepEqual([...leftovers(root)], []);
      }));
  }
}

function* leftovers(folder: string): Generator<string> {
  for (const entry of Deno.readDirSync(folder)) {
    if (entry.isDirectory) yield* leftovers(join(folder, entry.name));
    else if (entry.name.endsWith(".tmp")) yield entry.name;
  }
}

Deno.test("memory files and their changes are the same files", async () => {
  const { files, changes } = memoryDisk(CONTENT);
  await changes.writeBytes("b/n.txt", bytes("n"));
  await changes.makeFolder("empty", { isRecursive: false });
  assert.equal(await files.readText("b/n.txt"), "n");
  assert.deepEqual((await files.list(".")).map(({ name, kind }) => `${kind} ${name}`), [
    "file a.txt",
    "folder b",
    "folder empty",
  ]);
  assert.deepEqual(await files.list("empty"), []);
});

Deno.test({
  name: "a mode is kept by writing, and goes with a copy",
  ignore: isWindows,
  fn: () =>
    withFolder(async (root) => {
      fill(root);
      const changes = hostFileChanges({ root });
      Deno.chmodSync(join(root, "a.txt"), 0o750);
      await changes.writeBytes("a.txt", bytes("x"));
      await changes.copy("a.txt", "copy.txt");
      assert.deepEqual(
        ["a.txt", "copy.txt"].map((path) => (Deno.statSync(join(root, path)).mode ?? 0) & 0o777),
        [0o750, 0o750],
      );
      Deno.chmodSync(join(root, "a.txt"), 0o440);
      await fails(changes.writeBytes("a.txt", bytes("y")), "denied", /read-only/);
      await fails(changes.append("a.txt", bytes("y")), "denied", /read-only/);
    }),
});

Deno.test({
  name: "what is not judged by its real path is not touched: a link that came after the check",
  ignore: isWindows,
  fn: () =>
    withFolder(async (folder) => {
      const root = join(folder, "project");
      fill(root);
      Deno.writeTextFileSync(join(folder, "secret.txt"), "hush");
      Deno.mkdirSync(join(folder, "outside"));
      Deno.symlinkSync("../secret.txt", join(root, "file-link"));
      Deno.symlinkSync("../outside", join(root, "folder-link"));
      const changes = hostFileChanges({ root }); // as it is called with a path that was judged when no link was there
      const link = /a link is on this path, which was not there when the path was checked/;
      await fails(changes.readBytes("file-link", { maxBytes: 9 }), "other", link);
      await fails(changes.writeBytes("file-link", bytes("x")), "other", link);
      await fails(changes.append("file-link", bytes("x")), "other", link);
      await fails(changes.copy("file-link", "x"), "other", link);
      await fails(changes.copy("a.txt", "file-link"), "other", link);
      await fails(changes.look("file-link"), "other", link);
      for (
        const work of [
          () => changes.create("folder-link/x", bytes("x")),
          () => changes.writeBytes("folder-link/x", bytes("x")),
          () => changes.makeFolder("folder-link/x/y", { isRecursive: true }),
          () => changes.list("folder-link"),
          () => changes.rename("a.txt", "folder-link/x"),
          () => changes.remove("folder-link/x", { isRecursive: true }),
        ]
      ) await fails(work(), "other", link);
      assert.equal(Deno.readTextFileSync(join(folder, "secret.txt")), "hush");
      assert.deepEqual([...Deno.readDirSync(join(folder, "outside"))], []);
      await changes.remove("folder-link", { isRecursive: true });
      assert.ok(
        Deno.statSync(join(folder, "outside")).isDirectory,
        "the link is removed, not what it leads to",
      );
    }),
});

Deno.test({
  name: "the guard follows links, judges the real path of both ends, and says where a path leads",
  ignore: isWindows,
  fn: () =>
    withFolder(async (folder) => {
      const root = join(folder, "project");
      fill(root);
      Deno.mkdirSync(join(folder, "outside"));
      Deno.writeTextFileSync(join(folder, "outside/secret.txt"), "hush");
      Deno.symlinkSync("../outside", join(root, "out"));
      Deno.symlinkSync("../../outside/secret.txt", join(root, "b/secret"));
      Deno.symlinkSync("../a.txt", join(root, "b/inside"));
      const changes = guarded(root);
      const leads = /outside\/.*is not allowed: add --allow-(read|write)=.*leads there\)$/;
      await refused(changes.readBytes("b/secret", { maxBytes: 9 }), leads);
      await refused(changes.writeBytes("out/x", bytes("x")), leads);
      await refused(changes.writeBytes("b/secret", bytes("x")), leads);
      await refused(changes.copy("b/secret", "x"), leads);
      await refused(changes.copy("a.txt", "b/secret"), leads);
      await refused(changes.rename("a.txt", "out/a.txt"), leads);
      await refused(changes.rename("out/secret.txt", "mine"), leads);
      await refused(changes.remove("out/secret.txt", { isRecursive: false }), leads);
      await refused(changes.makeFolder("out/x", { isRecursive: true }), leads);
      await refused(changes.list("out"), /is not allowed/);
      await refused(changes.readBytes("../outside/secret.txt", { maxBytes: 9 }), /is not allowed/);
      await refused(changes.look("/etc/passwd"), /is not allowed/);
      await changes.writeBytes("b/inside", bytes("through the link"));
      assert.equal(Deno.readTextFileSync(join(root, "a.txt")), "through the link");
      assert.ok(Deno.lstatSync(join(root, "b/inside")).isSymlink);
      assert.equal((await changes.look("b/secret", { isLink: true })).kind, "link");
      await changes.rename("b/secret", "moved");
      await changes.remove("moved", { isRecursive: true });
      await changes.remove("b", { isRecursive: true });
      assert.equal(Deno.readTextFileSync(join(folder, "outside/secret.txt")), "hush");
    }),
});

Deno.test("the project itself is neither removed nor renamed", () =>
  withFolder(async (folder) => {
    const root = join(folder, "project");
    fill(root);
    const changes = guarded(root, ["allow-write=.."]);
    for (const path of [".", root, "b/..", folder]) {
      await fails(changes.remove(path, { isRecursive: true }), "other", /the project is in it, or is it/);
    }
    await refused(changes.rename(folder, "b/x"), /is not allowed/);
    await fails(changes.rename(".", "../other"), "other", /the project is in it, or is it/);
  }));

Deno.test("a wall inside of a folder stays one when the folder is moved or removed", () =>
  withFolder(async (root) => {
    fill(root);
    const changes = guarded(root, ["allow-write=.", "deny-read=b/d/e.txt", "deny-write=b/c.txt"]);
    await refused(changes.rename("b", "q"), /forbids it/);
    await refused(changes.rename("b/d", "q"), /--deny-read=b\/d\/e\.txt forbids it/);
    await refused(changes.remove("b", { isRecursive: true }), /--deny-write=b\/c\.txt forbids it/);
    assert.equal(
      Deno.readTextFileSync(join(root, "b/d/e.txt")),
      "e",
      "nothing was removed before the wall was found",
    );
    Deno.mkdirSync(join(root, ".orrery"));
    Deno.writeTextFileSync(join(root, ".orrery/orrery.db"), "kept");
    await refused(changes.remove(".orrery", { isRecursive: true }), /journal of Orrery/);
    await refused(changes.rename(".orrery", "x"), /journal of Orrery/);
    Deno.mkdirSync(join(root, "fake"));
    Deno.writeTextFileSync(join(root, "fake/orrery.db"), "forged");
    Deno.renameSync(join(root, ".orrery"), join(root, "aside"));
    await refused(changes.rename("fake", ".orrery"), /journal of Orrery/);
  }));

Deno.test({
  name: "many effects at once do not race a link past the guard",
  ignore: isWindows,
  fn: () =>
    withFolder(async (folder) => {
      const root = join(folder, "project");
      Deno.mkdirSync(root);
      Deno.mkdirSync(join(folder, "outside"));
      const secret = join(folder, "outside/a");
      const changes = guarded(root);
      const attacks: readonly (() => Promise<unknown>)[] = [
        async () => {
          const found = await changes.readBytes("d/a", { maxBytes: 99 });
          assert.notEqual(new TextDecoder().decode(found), "hush");
        },
        () => changes.append("d/a", bytes("more")),
        () => changes.writeBytes("d/a", bytes("other")),
        () => changes.remove("d/a", { isRecursive: false }),
        () => changes.rename("d/a", "stolen"),
      ];
      // The folder becomes a link a little later in each round: between the check and the work of one of them.
      for (let round = 0; round < 60 * attacks.length; round++) {
        Deno.writeTextFileSync(secret, "hush");
        Deno.mkdirSync(join(root, "d"));
        Deno.writeTextFileSync(join(root, "d/a"), "mine");
        Deno.symlinkSync("../outside", join(root, "evil"));
        const swap = changes.rename("d", "aside").then(() => changes.rename("evil", "d"));
        for (let turns = 0; turns < round / attacks.length; turns++) await undefined;
        const outcomes = await Promise.allSettled([swap, attacks[round % attacks.length]?.()]);
        for (const outcome of outcomes) {
          const isWrong = outcome.status === "rejected" && outcome.reason instanceof assert.AssertionError;
          assert.ok(!isWrong, `round ${round}`);
        }
        assert.equal(Deno.readTextFileSync(secret), "hush", `round ${round}`);
        for (const path of ["d", "aside", "evil", "stolen"]) {
          await Deno.remove(join(root, path), { recursive: true }).catch(() => undefined);
        }
      }
    }),
});
