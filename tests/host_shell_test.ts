import assert from "node:assert/strict";
import { join } from "node:path";
import { hostShell } from "../lib/host/shell.ts";

const shell = hostShell();
const bash = (script: string, options: Omit<Parameters<typeof shell.run>[1], "args"> = {}) =>
  shell.run("bash", { ...options, args: ["-c", script] });

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-shell-" }));
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function isAlive(pid: number): Promise<boolean> {
  // A zombie, which waits for its parent to look, is dead.
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "stat=", "-p", String(pid)] }).output();
  return /^[^Z\s]/.test(new TextDecoder().decode(stdout));
}

/** Waits until the script has written the ids of its processes. */
async function pidsIn(file: string, count: number): Promise<number[]> {
  for (let tries = 0; tries < 500; tries++) {
    const pids = await Deno.readTextFile(file).then((text) => text.match(/\d+(?=\n)/g) ?? [], () => []);
    if (pids.length === count) return pids.map(Number);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${file} never held ${count} process ids`);
}

Deno.test("shell: output, exit code and input", async () => {
  const result = await bash("cat; echo err >&2; exit 3", { stdin: "grüße\n" });
  assert.deepEqual(result, { exitCode: 3, stdout: "grüße\n", stderr: "err\n", truncated: false });
});

Deno.test("shell: no shell is in between", async () => {
  const { stdout } = await shell.run("printf", { args: ["%s|", "$(id)", "a b", "*", "; rm -rf /"] });
  assert.equal(stdout, "$(id)|a b|*|; rm -rf /|");
});

Deno.test("shell: without input the command reads nothing", async () => {
  assert.equal((await shell.run("cat", {})).stdout, "");
});

Deno.test("shell: a command need not read its input", async () => {
  const { exitCode } = await shell.run("true", { stdin: "x".repeat(1_000_000) });
  assert.equal(exitCode, 0);
});

Deno.test("shell: the environment is ours by list, and what was given", async () => {
  Deno.env.set("ORRERY_TEST_KEY", "secret");
  const path = Deno.env.get("PATH") ?? "";
  Deno.env.set("PATH", `.:relative/bin:${path}`);
  try {
    const { stdout } = await shell.run("env", { env: { OWN: "1", LANG: "C.UTF-8" } });
    const names = stdout.trim().split("\n").map((line) => line.split("=")[0]);
    assert.deepEqual(
      names.filter((name) => !["PATH", "HOME", "LANG", "TERM", "OWN"].includes(name ?? "")),
      [],
    );
    assert.match(stdout, /^OWN=1$/m);
    assert.match(stdout, /^LANG=C\.UTF-8$/m);
    assert.match(stdout, /^PATH=\/(?!.*relative)/m);
  } finally {
    Deno.env.delete("ORRERY_TEST_KEY");
    Deno.env.set("PATH", path);
  }
});

Deno.test("shell: the folder it runs in", () =>
  withFolder(async (folder) => {
    assert.equal((await shell.run("pwd", { cwd: folder })).stdout, folder + "\n");
    await assert.rejects(shell.run("pwd", { cwd: join(folder, "no") }), {
      message: `Cannot run "pwd": there is no folder ${JSON.stringify(join(folder, "no"))} to run it in`,
    });
  }));

Deno.test("shell: a program that cannot be run is named", () =>
  withFolder(async (folder) => {
    const rejects = (command: string, reason: string) =>
      assert.rejects(shell.run(command, {}), { message: `Cannot run ${JSON.stringify(command)}: ${reason}` });
    await rejects("orrery-no-such-program", "no program of this name is in the folders of PATH");
    await rejects(join(folder, "no"), "no such file");
    Deno.writeTextFileSync(join(folder, "plain"), "text", { mode: 0o644 });
    await rejects(join(folder, "plain"), "it is not an executable file");
    await assert.rejects(shell.run("", {}), { message: "Cannot run a command: its name is empty" });
  }));

Deno.test("shell: output over the cap is dropped, and the command still ends", async () => {
  const seen: string[] = [];
  const result = await bash("yes ä | head -c 3000000; echo short >&2", {
    maxBytes: 1000,
    onOutput: (text, stream) => seen.push(`${stream} ${text.length}`),
  });
  assert.equal(result.truncated, true);
  assert.equal(new TextEncoder().encode(result.stdout).length, 999); // 333 lines of 3 bytes, and half a letter that is left out
  assert.equal(result.stderr, "short\n");
  assert.ok(seen.includes("stderr 6"));
});

Deno.test("shell: a letter that comes in two parts is one letter", async () => {
  const texts: string[] = [];
  const script = `printf 'a\\xc3'; sleep 0.1; printf '\\xa4b'`;
  const { stdout } = await bash(script, { onOutput: (text) => texts.push(text) });
  assert.equal(stdout, "aäb");
  assert.deepEqual(texts, ["a", "äb"]);
});

Deno.test("shell: what the listener throws ends the run", async () => {
  const boom = new Error("boom");
  const run = bash("echo x; sleep 0.1; echo y", {
    onOutput() {
      throw boom;
    },
  });
  await assert.rejects(run, boom);
});

Deno.test("shell: an end by a signal is 128 + its number", async () => {
  assert.equal((await bash("kill -KILL $$")).exitCode, 137);
});

Deno.test("shell: after an abort the children of children are gone", () =>
  withFolder(async (folder) => {
    const abort = new AbortController();
    const script = "bash -c 'sleep 100 & echo $! >>pids; echo $$ >>pids; wait' & echo $$ >>pids; wait";
    const run = bash(script, { cwd: folder, signal: abort.signal });
    run.catch(() => {});
    const pids = await pidsIn(join(folder, "pids"), 3);
    assert.deepEqual(await Promise.all(pids.map(isAlive)), [true, true, true]);
    const started = performance.now();
    abort.abort(new Error("enough"));
    await assert.rejects(run, { message: "enough" });
    assert.deepEqual(await Promise.all(pids.map(isAlive)), [false, false, false]);
    assert.ok(performance.now() - started < 1800, "nobody had to be killed");
  }));

Deno.test("shell: who does not listen to TERM is killed after two seconds", () =>
  withFolder(async (folder) => {
    const abort = new AbortController();
    const script =
      `trap '' TERM; bash -c 'trap "" TERM; echo $$ >>pids; while :; do sleep 0.1; done' & echo $$ >>pids; while :; do sleep 0.1; done`;
    const run = bash(script, { cwd: folder, signal: abort.signal });
    run.catch(() => {});
    const pids = await pidsIn(join(folder, "pids"), 2);
    const started = performance.now();
    abort.abort();
    await assert.rejects(run, { name: "AbortError" });
    const tookMs = performance.now() - started;
    assert.deepEqual(await Promise.all(pids.map(isAlive)), [false, false]);
    assert.ok(tookMs > 1900 && tookMs < 4000, `took ${tookMs} ms`);
  }));

Deno.test("shell: what a command leaves running ends with it", () =>
  withFolder(async (folder) => {
    const started = performance.now();
    const { stdout, exitCode } = await bash("sleep 100 & echo $! >pids; echo done", { cwd: folder });
    assert.equal(stdout, "done\n");
    assert.equal(exitCode, 0);
    assert.ok(performance.now() - started < 1800, "it did not wait for the sleep");
    const [pid = 0] = await pidsIn(join(folder, "pids"), 1);
    assert.equal(await isAlive(pid), false);
  }));

Deno.test("shell: an aborted signal starts nothing", () =>
  withFolder(async (folder) => {
    await assert.rejects(bash("touch made", { cwd: folder, signal: AbortSignal.abort() }), {
      name: "AbortError",
    });
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  }));
