import assert from "node:assert/strict";
import { join } from "node:path";
import { hostShell } from "../../lib/host/commands/shell.ts";
import { posixTest } from "../_posix_test.ts";

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

async function hasProgram(name: string): Promise<boolean> {
  return await new Deno.Command(name, { args: ["--version"] }).output().then(
    ({ success }) => success,
    () => false,
  );
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

posixTest("shell: output, exit code and input", async () => {
  const result = await bash("cat; echo err >&2; exit 3", { stdin: "grüße\n" });
  assert.deepEqual(result, {
    exitCode: 3,
    stdout: "grüße\n",
    stderr: "err\n",
    truncated: false,
    dropped: 0,
    stopped: false,
  });
});

posixTest("shell: no shell is in between", async () => {
  const { stdout } = await shell.run("printf", { args: ["%s|", "$(id)", "a b", "*", "; rm -rf /"] });
  assert.equal(stdout, "$(id)|a b|*|; rm -rf /|");
});

posixTest("shell: without input the command reads nothing", async () => {
  assert.equal((await shell.run("cat", {})).stdout, "");
});

posixTest("shell: a command need not read its input", async () => {
  const { exitCode } = await shell.run("true", { stdin: "x".repeat(1_000_000) });
  assert.equal(exitCode, 0);
});

posixTest("shell: the environment is ours by list, and what was given", async () => {
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

posixTest("shell: the folder it runs in", () =>
  withFolder(async (folder) => {
    assert.equal((await shell.run("pwd", { cwd: folder })).stdout, folder + "\n");
    await assert.rejects(shell.run("pwd", { cwd: join(folder, "no") }), {
      message: `Cannot run "pwd": there is no folder ${JSON.stringify(join(folder, "no"))} to run it in`,
    });
  }));

posixTest("shell: a program that cannot be run is named", () =>
  withFolder(async (folder) => {
    const rejects = (command: string, reason: string) =>
      assert.rejects(shell.run(command, {}), { message: `Cannot run ${JSON.stringify(command)}: ${reason}` });
    await rejects("orrery-no-such-program", "no program of this name is in the folders of PATH");
    await rejects(join(folder, "no"), "no such file");
    Deno.writeTextFileSync(join(folder, "plain"), "text", { mode: 0o644 });
    await rejects(join(folder, "plain"), "it is not an executable file");
    await assert.rejects(shell.run("", {}), { message: "Cannot run a command: its name is empty" });
  }));

posixTest("shell: output over the cap is dropped, and the command still ends", async () => {
  const seen: string[] = [];
  const result = await bash("yes ä | head -c 3000000; echo short >&2", {
    maxBytes: 1000,
    onOutput: (text, stream) => seen.push(`${stream} ${text.length}`),
  });
  assert.equal(result.truncated, true);
  assert.equal(new TextEncoder().encode(result.stdout).length, 999); // 333 lines of 3 bytes, and half a letter that is left out
  assert.equal(result.dropped, 3_000_000 - 999);
  assert.equal(result.stderr, "short\n");
  assert.ok(seen.includes("stderr 6"));
});

posixTest("shell: a letter that comes in two parts is one letter", async () => {
  const texts: string[] = [];
  const script = `printf 'a\\xc3'; sleep 0.1; printf '\\xa4b'`;
  const { stdout } = await bash(script, { onOutput: (text) => texts.push(text) });
  assert.equal(stdout, "aäb");
  assert.deepEqual(texts, ["a", "äb"]);
});

posixTest("shell: what the listener throws ends the run", async () => {
  const boom = new Error("boom");
  const run = bash("echo x; sleep 0.1; echo y", {
    onOutput() {
      throw boom;
    },
  });
  await assert.rejects(run, boom);
});

posixTest("shell: an end by a signal is 128 + its number", async () => {
  assert.equal((await bash("kill -KILL $$")).exitCode, 137);
});

posixTest("shell: after an abort the children of children are gone", () =>
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

posixTest(
  "shell: who does not listen to TERM is killed after two seconds",
  () =>
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
    }),
);

posixTest("shell: what a command leaves running ends with it", () =>
  withFolder(async (folder) => {
    const started = performance.now();
    const { stdout, exitCode } = await bash("sleep 100 & echo $! >pids; echo done", { cwd: folder });
    assert.equal(stdout, "done\n");
    assert.equal(exitCode, 0);
    assert.ok(performance.now() - started < 1800, "it did not wait for the sleep");
    const [pid = 0] = await pidsIn(join(folder, "pids"), 1);
    assert.equal(await isAlive(pid), false);
  }));

posixTest("shell: an aborted signal starts nothing", () =>
  withFolder(async (folder) => {
    await assert.rejects(bash("touch made", { cwd: folder, signal: AbortSignal.abort() }), {
      name: "AbortError",
    });
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  }));

posixTest("shell: merged output is in the order it was written, with one exit code", async () => {
  const script = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done; exit 3";
  const expected = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => `out ${i}\nerr ${i}\n`).join("");
  const program = `import sys
for i in range(1, 10):
    print("out", i, flush=True)
    print("err", i, file=sys.stderr, flush=True)
sys.exit(3)`;
  const streams = new Set<string>();
  const run = (command: string, args: readonly string[]) =>
    shell.run(command, { args, isMerged: true, onOutput: (_text, stream) => streams.add(stream) });
  const whole = { exitCode: 3, stdout: expected, stderr: "", truncated: false, dropped: 0, stopped: false };
  assert.deepEqual(await run("bash", ["-c", script]), whole); // the shell merges
  assert.deepEqual(await run("/bin/sh", ["-c", script]), whole);
  assert.deepEqual(await run("bash", ["-c", script, "zero", "one"]), whole); // another one does it first
  if (await hasProgram("python3")) assert.deepEqual(await run("python3", ["-c", program]), whole);
  else console.log("not run here: there is no python3");
  assert.deepEqual([...streams], ["stdout"]);
});

posixTest(
  "shell: a merged command gets its arguments, input and folder as they are",
  () =>
    withFolder(async (folder) => {
      const args = ["%s|", "$(id)", "a b", "*", "'; exit 9", ""];
      assert.equal((await shell.run("printf", { args, isMerged: true })).stdout, "$(id)|a b|*|'; exit 9||");
      const cat = await bash("cat >&2; pwd", { stdin: "in\n", cwd: folder, isMerged: true });
      assert.equal(cat.stdout, `in\n${folder}\n`);
      Deno.writeTextFileSync(join(folder, "own"), "#!/bin/sh\necho own >&2\n", { mode: 0o755 });
      assert.equal((await shell.run("./own", { cwd: folder, isMerged: true })).stdout, "own\n");
    }),
);

posixTest("shell: a merged script is quoted by its parser as it was written", async () => {
  const lines = async (script: string) => (await bash(script, { isMerged: true })).stdout.split("\n");
  assert.match((await lines("echo ("))[1] ?? "", /bash: -c: line 1: `echo \('$/);
  assert.match((await lines("nosuch-command"))[0] ?? "", /bash: line 1: nosuch-command: command not found$/);
  assert.match((await lines("echo a\nnosuch-command"))[1] ?? "", /bash: line 2: nosuch-command: /);
  const late = await lines("echo a\necho (");
  assert.equal(late[0], "a");
  assert.match(late[2] ?? "", /line 2: `echo \('$/);
  assert.deepEqual(await lines("# a comment\necho $#"), ["0", ""]);
});

posixTest("shell: a script is read, quoted and numbered as it was written", async () => {
  const lines = async (script: string) => (await bash(script, { isMerged: true })).stdout.split("\n");
  assert.match((await lines("echo ("))[1] ?? "", /bash: -c: line 1: `echo \('$/);
  assert.match((await lines("echo a\nnosuch-command"))[1] ?? "", /bash: line 2: nosuch-command: /);
  assert.deepEqual(await lines("echo $LINENO $# $-\ncat; echo $?"), [`1 0 hBc`, "0", ""]);
});

posixTest(
  "shell: a merged script has the locale that was asked for, and no variable that was not",
  async () => {
    const count = 'x=äöü; echo ${#x} "$LANG" "${LC_ALL-unset}" "${LC_CTYPE-unset}"; env | grep -c ^LC_ALL';
    const inherit = ["PATH"];
    const run = async (env: Readonly<Record<string, string>>, script = count) =>
      (await bash(script, { env, inherit, isMerged: true })).stdout;
    assert.equal(await run({ LANG: "C.UTF-8" }), "3 C.UTF-8 unset unset\n0\n");
    assert.equal(await run({ LC_CTYPE: "C.UTF-8" }), "3  unset C.UTF-8\n0\n");
    assert.equal(await run({ LANG: "C" }), "6 C unset unset\n0\n");
    assert.equal(await run({ LANG: "C", LC_ALL: "C.UTF-8" }), "3 C C.UTF-8 unset\n1\n");
    assert.equal(await run({}), "6  unset unset\n0\n");
    assert.equal(await run({ LANG: "ja_JP.SJIS" }, 'echo "$LANG" ${LC_ALL-unset}'), "ja_JP.SJIS unset\n");
  },
);

posixTest("shell: a merged program that cannot be run is named", () =>
  withFolder(async (folder) => {
    const rejects = (command: string, reason: string) =>
      assert.rejects(shell.run(command, { isMerged: true, args: ["-c", "true"] }), {
        message: `Cannot run ${JSON.stringify(command)}: ${reason}`,
      });
    await rejects("orrery-no-such-program", "no program of this name is in the folders of PATH");
    await rejects(join(folder, "bash"), "no such file");
    Deno.writeTextFileSync(join(folder, "sh"), "text", { mode: 0o644 });
    await rejects(join(folder, "sh"), "it is not an executable file");
    await assert.rejects(shell.run("pwd", { cwd: join(folder, "no"), isMerged: true }), {
      message: `Cannot run "pwd": there is no folder ${JSON.stringify(join(folder, "no"))} to run it in`,
    });
    await assert.rejects(shell.run("", { isMerged: true }), {
      message: "Cannot run a command: its name is empty",
    });
  }));

posixTest("shell: the end of a merged command by a signal, and the group it leads", async () => {
  assert.equal((await bash("kill -KILL $$", { isMerged: true })).exitCode, 137);
  const { stdout } = await bash("ps -o pid=,pgid= -p $$", { isMerged: true });
  const [pid, ...group] = stdout.trim().split(/\s+/);
  assert.deepEqual(group, [pid]);
});

posixTest(
  "shell: a merged command ends with all it started, at its end and at an abort in any moment",
  () =>
    withFolder(async (folder) => {
      await bash("(trap '' HUP; sleep 100) & echo $! >pids", { cwd: folder, isMerged: true });
      const [left = 0] = await pidsIn(join(folder, "pids"), 1);
      assert.equal(await isAlive(left), false);
      for (const delayMs of [0, 0, 1, 2, 3, 5, 8]) {
        const signal = AbortSignal.timeout(delayMs);
        const mark = `${folder}/mark-${crypto.randomUUID()}`;
        await assert.rejects(bash(`sleep 99 & exec -a ${mark} sleep 99`, { isMerged: true, signal }));
        const { stdout } = await new Deno.Command("ps", { args: ["-eo", "args="] }).output();
        assert.ok(!new TextDecoder().decode(stdout).includes(mark), `after ${delayMs} ms`);
      }
    }),
);

posixTest("shell: a stopped command has a result", () =>
  withFolder(async (folder) => {
    const stop = new AbortController();
    const script = "echo one; echo two >&2; sleep 100 & echo $! >>pids; echo $$ >>pids; wait";
    const run = bash(script, { cwd: folder, stop: stop.signal, isMerged: true });
    const pids = await pidsIn(join(folder, "pids"), 2);
    stop.abort();
    const { stdout, stopped, exitCode } = await run;
    assert.deepEqual({ stdout, stopped, exitCode }, { stdout: "one\ntwo\n", stopped: true, exitCode: 143 });
    assert.deepEqual(await Promise.all(pids.map(isAlive)), [false, false]);
  }));

posixTest("shell: a stop after the end changes nothing", async () => {
  const stop = new AbortController();
  const { stopped } = await bash("true", { stop: stop.signal });
  stop.abort();
  assert.equal(stopped, false);
});

posixTest("shell: an abort counts more than a stop", async () => {
  const [stop, abort] = [new AbortController(), new AbortController()];
  const run = bash("sleep 100", { stop: stop.signal, signal: abort.signal });
  stop.abort();
  abort.abort(new Error("enough"));
  await assert.rejects(run, { message: "enough" });
});

posixTest("shell: the cap is of bytes, in merged output of both streams", async () => {
  const script = "head -c 700 /dev/zero; head -c 700 /dev/zero >&2";
  const merged = await bash(script, { maxBytes: 1000, isMerged: true });
  assert.deepEqual([merged.stdout.length, merged.truncated, merged.dropped], [1000, true, 400]);
  const apart = await bash(script, { maxBytes: 500 });
  assert.deepEqual([apart.stdout.length, apart.stderr.length, apart.dropped], [500, 500, 400]);
  const exact = await bash(script, { maxBytes: 1400, isMerged: true });
  assert.deepEqual([exact.stdout.length, exact.truncated, exact.dropped], [1400, false, 0]);
});

posixTest(
  "shell: bytes that are no UTF-8 become U+FFFD, and a character that the cut divides is dropped",
  async () => {
    const stdout = async (bytes: string, maxBytes = 1000) => {
      const { stdout, dropped } = await bash(`printf '${bytes}'`, { isMerged: true, maxBytes });
      return [stdout, dropped];
    };
    assert.deepEqual(await stdout("a\\xffb\\xc3(\\xf0\\x9f\\x98"), ["a\ufffdb\ufffd(\ufffd", 0]);
    const emoji = "a\\xf0\\x9f\\x98\\x80z";
    assert.deepEqual(await stdout(emoji, 6), ["a\u{1f600}z", 0]);
    assert.deepEqual(await stdout(emoji, 5), ["a\u{1f600}", 1]);
    for (const maxBytes of [4, 3, 2, 1]) assert.deepEqual(await stdout(emoji, maxBytes), ["a", 5]);
    assert.deepEqual(await stdout("a\\xe0\\x80z", 3), ["a\ufffd\ufffd", 1]);
    assert.deepEqual(await stdout("\\xc3\\xa4\\xef\\xbb\\xbfz", 5), ["\u00e4\ufeff", 1]);
    assert.deepEqual(await stdout("ab", 0), ["", 2]);
  },
);

posixTest("shell: which of our variables a command gets", async () => {
  const own = { ORRERY_TEST_KEY: "secret", ORRERY_TEST_ONE: "1", ORRERY_TEST_TWO: "2", LC_ORRERY: "3" };
  for (const [name, value] of Object.entries(own)) Deno.env.set(name, value);
  try {
    const names = async (inherit: readonly string[], env = {}) => {
      const { stdout } = await shell.run("env", { inherit, env });
      return stdout.trim().split("\n").map((line) => line.split("=")[0] ?? "").filter((name) =>
        !/^LC_(?!ORR)/.test(name)
      )
        .sort();
    };
    assert.deepEqual(await names(["PATH", "LC_*", "ORRERY_TEST_ONE", "ORRERY_TEST_NONE"]), [
      "LC_ORRERY",
      "ORRERY_TEST_ONE",
      "PATH",
    ]);
    assert.deepEqual(await names(["PATH", "*"]), ["PATH"]);
    assert.deepEqual(await names(["PATH", "ORRERY_TEST_*"], { ORRERY_TEST_KEY: "own" }), [
      "ORRERY_TEST_KEY",
      "ORRERY_TEST_ONE",
      "ORRERY_TEST_TWO",
      "PATH",
    ]);
  } finally {
    for (const name of Object.keys(own)) Deno.env.delete(name);
  }
});

posixTest("shell: output is merged too where Deno may not look for programs", async () => {
  const code = `
import { hostShell } from ${JSON.stringify(import.meta.resolve("../../lib/host/commands/shell.ts"))};
const script = "echo out; echo err >&2; echo out";
const run = (command, args) => hostShell().run(command, { args, isMerged: true }).then(({ stdout }) => stdout, String);
console.log(JSON.stringify([
  await run("bash", ["-c", script]),
  await run("env", ["sh", "-c", script]),
  await run("orrery-no-such/bash", ["-c", script]),
]));`;
  const said = async (flags: readonly string[]) => {
    const args = ["eval", "--no-lock", "--quiet", code];
    const child = new Deno.Command(Deno.execPath(), {
      args: flags.length === 0
        ? args
        : ["run", "--no-lock", "--quiet", ...flags, `data:text/javascript,${encodeURIComponent(code)}`],
    });
    const { stdout, stderr } = await child.output();
    assert.equal(new TextDecoder().decode(stderr), "");
    return JSON.parse(new TextDecoder().decode(stdout));
  };
  const merged = "out\nerr\nout\n";
  const missing = `Error: Cannot run "orrery-no-such/bash": no such file`;
  assert.deepEqual(await said(["--allow-run", "--allow-env"]), [merged, merged, missing]);
  assert.deepEqual(await said([]), [merged, merged, missing]);
});
