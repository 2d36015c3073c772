import assert from "node:assert/strict";
import { join } from "node:path";
import { gadgetFolder } from "./_gadgets.ts";
import { posixTest } from "./_posix_test.ts";

const ALL = { run: true } as const;
const sh = (script: string, ...args: string[]) => ({ command: "sh", args: ["-c", script, "sh", ...args] });

posixTest("RunCommand: arguments reach the program as they are", async () => {
  await using world = await gadgetFolder({ allow: ALL });
  const args = ["a b", "$HOME", "*", "; echo x", "'\"\\", "", "ä"];
  assert.deepEqual(await world.call("RunCommand", { command: "printf", args: ["[%s]\\n", ...args] }), {
    exitCode: 0,
    stdout: args.map((arg) => `[${arg}]\n`).join(""),
    stderr: "",
    truncated: false,
  });
});

posixTest("RunCommand: folder, standard input, environment", async () => {
  await using world = await gadgetFolder({ allow: ALL, files: { "sub/x.txt": "" } });
  const run = async (input: Record<string, unknown>) => {
    const result = await world.call("RunCommand", input);
    assert.ok(typeof result === "object" && result !== null && "stdout" in result);
    return result.stdout;
  };
  assert.equal(await run({ command: "pwd" }), `${world.root}\n`);
  assert.equal(await run({ command: "pwd", cwd: "sub" }), `${join(world.root, "sub")}\n`);
  assert.equal(await run({ command: "cat", stdin: "one\ntwo" }), "one\ntwo");
  assert.equal(await run({ command: "cat" }), "");
  Deno.env.set("ORRERY_TEST_KEY", "secret");
  try {
    assert.equal(await run({ ...sh("echo $A-$ORRERY_TEST_KEY"), env: { A: "1" } }), "1-\n");
  } finally {
    Deno.env.delete("ORRERY_TEST_KEY");
  }
});

posixTest("RunCommand: an exit code other than 0 is an error unless it is allowed", async () => {
  await using world = await gadgetFolder({ allow: ALL });
  const failing = sh("echo out; echo 'first problem' >&2; echo 'last problem' >&2; exit 3");
  assert.equal(
    await world.error("RunCommand", failing),
    "The command sh -c \"echo out; echo 'first problem' >&2; echo 'last problem' >&2; exit 3\" sh failed with exit code 3. " +
      "The end of its stderr:\nfirst problem\nlast problem",
  );
  assert.deepEqual(await world.call("RunCommand", { ...failing, allowFailure: true }), {
    exitCode: 3,
    stdout: "out\n",
    stderr: "first problem\nlast problem\n",
    truncated: false,
  });
  assert.match(
    await world.error("RunCommand", sh("echo only out; exit 1")),
    /exit code 1\. The end of its stdout:\nonly out$/,
  );
  assert.match(await world.error("RunCommand", sh("exit 7")), /exit code 7\. It printed nothing$/);
  assert.match(await world.error("RunCommand", sh("kill -9 $$")), /exit code 137 \(ended by signal 9\)/);
  const long = await world.error(
    "RunCommand",
    sh('i=0; while [ $i -lt 2000 ]; do echo "problem $i" >&2; i=$((i+1)); done; exit 1'),
  );
  assert.match(long, /stderr:\n…\nproblem \d+\n[^]*problem 1999$/);
  assert.ok(long.length < 5000);
});

posixTest("RunCommand: output is told while it comes, by whole lines", async () => {
  await using world = await gadgetFolder({ allow: ALL });
  const told: string[] = [];
  await world.call(
    "RunCommand",
    sh("printf 'on'; sleep 0.1; printf 'e\\ntwo\\n'; sleep 0.1; printf 'half'; echo wrong >&2"),
    {
      log: (text) => told.push(text),
    },
  );
  assert.deepEqual(told.join("\n").split("\n").toSorted(), ["half", "one", "two", "wrong"]);
});

posixTest("RunCommand: long output is cut, and says so", async () => {
  await using world = await gadgetFolder({ allow: ALL });
  const result = await world.call("RunCommand", sh("head -c 3000000 /dev/zero | tr '\\0' x"));
  assert.ok(typeof result === "object" && result !== null && "stdout" in result && "truncated" in result);
  assert.equal(result.truncated, true);
  assert.ok(typeof result.stdout === "string" && result.stdout.length === 512 * 1024);
});

posixTest("RunCommand: an aborted call ends the program and what it started", async () => {
  await using world = await gadgetFolder({ allow: ALL });
  const abort = new AbortController();
  let sleeper = "";
  const error = world.error("RunCommand", sh("sleep 30 & echo $!; wait"), {
    signal: abort.signal,
    log(text) {
      sleeper = text.trim();
      abort.abort(new Error("stopped by the test"));
    },
  });
  assert.equal(await error, "Aborted: stopped by the test");
  assert.match(sleeper, /^\d+$/);
  const end = performance.now() + 10_000;
  const isThere = async () =>
    (await new Deno.Command("kill", { args: ["-0", sleeper], stderr: "null" }).output()).success;
  while (await isThere()) assert.ok(performance.now() < end, `process ${sleeper} is still there`);
  await new Promise((resolve) => setTimeout(resolve, 300)); // the last look at the group
});

posixTest("RunCommand: says why it cannot", async () => {
  await using world = await gadgetFolder({ allow: { run: ["git", "nosuchprogram", "cat"] } });
  const why = (input: Record<string, unknown>) => world.error("RunCommand", input);
  assert.equal(
    await why({ command: "git log", args: ["-5"] }),
    'Cannot run "git log": no shell takes it apart; put the program alone into "command" and each argument into "args", as in ' +
      '{"command": "git", "args": ["log","-5"]}',
  );
  assert.match(
    await why({ command: "nosuchprogram" }),
    /Cannot run "nosuchprogram": no program of this name/,
  );
  assert.match(await why({ command: "ls" }), /Running "ls" is not allowed: add --allow-run=ls/);
  assert.match(await why({ command: "cat", cwd: "nope" }), /nope/);
  assert.match(await why({ command: "cat", env: { PATH: "/tmp" } }), /"PATH".*is not allowed/);
  assert.match(
    await why({ command: "cat", env: { "A=B": "1" } }),
    /"A=B" in "env" cannot be the name of a variable/,
  );
  assert.match(await why({ command: "cat", args: ["a\0b"] }), /"args\/0" holds a NUL character/);
  assert.match(await why({ command: "cat", args: "x" }), /args/);
});

posixTest("RunCommand: what a model reads is what a terminal shows", async () => {
  await using world = await gadgetFolder({ allow: ALL });
  const shown = (script: string) => world.shown("RunCommand", { ...sh(script), allowFailure: true });
  assert.equal(await shown("echo 'a \"quoted\"'; echo b"), 'a "quoted"\nb');
  assert.equal(await shown("echo a; echo e >&2; exit 2"), "a\n[stderr]\ne\n[exit code 2]");
  assert.equal(await shown("true"), "[no output]");
});
