import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { type Clock, type Shell, type ShellResult, systemClock } from "../../mod.ts";
import { defaultShell } from "../../lib/host/commands/child.ts";
import { hostShell } from "../../lib/host/commands/shell.ts";
import { closingLine } from "../../lib/parse/document/markdown_blocks.ts";
import { type DocumentCommand, runDocumentCommand, shellText } from "../../lib/run/document/shell.ts";
import { testWorld } from "../_world.ts";
import { posixTest } from "../_posix_test.ts";

const run = (script: string, options: Partial<DocumentCommand> = {}, shell: Shell = hostShell()) =>
  runDocumentCommand(shell, {
    shell: defaultShell(),
    script,
    cwd: Deno.cwd(),
    timeoutMs: 60_000,
    clock: systemClock,
    ...options,
  });

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-document-shell-" }));
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function isAlive(pid: number): Promise<boolean> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "stat=", "-p", String(pid)] }).output();
  return /^[^Z\s]/.test(new TextDecoder().decode(stdout)); // a zombie is dead
}

function withVariables<Result>(
  variables: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = Object.keys(variables).map((name) => [name, Deno.env.get(name)] as const);
  for (const [name, value] of Object.entries(variables)) Deno.env.set(name, value);
  return work().finally(() => {
    for (const [name, value] of before) {
      value === undefined ? Deno.env.delete(name) : Deno.env.set(name, value);
    }
  });
}

posixTest("closing line: what a text ends in", () => {
  const cases: readonly [string, string][] = [
    ["", ""],
    ["text", ""],
    ["```\ncode\n", "```"],
    ["```\ncode\n```\n", ""],
    ["```js\ncode\n```", ""],
    ["```js\ncode\n``` js\n", "```"],
    ["````\n```\n", "````"],
    ["````\n```\n`````  \t\n", ""],
    ["~~~\n```\n", "~~~"],
    ["~~~ ` `\n", "~~~"],
    ["``` `x`\nno fence", ""],
    ["``\nno fence", ""],
    ["   ```\nx", "   ```"],
    ["    ```\nindented code", ""],
    ["\t```\nindented code", ""],
    ["```\nx\n    ```\n", "```"],
    ["a ```\n", ""],
    ["```\r\ncode\r\n```\r\n", ""],
    ["```\r\ncode\r\n", "```"],
    ["```\rx\n```\n", ""],
    ["<!--\n```\n-->\n", ""],
    ["<!--\n```\n", "-->"],
    ["<!-- x -->\n```\n", "```"],
    ["```\n<!--\n```\n", ""],
    ["```\n<!--\n", "```"],
    ["# A\n\n```", "```"],
    ["```\na\n```\n```\nb\n", "```"],
  ];
  for (const [text, expected] of cases) assert.equal(closingLine(text), expected, JSON.stringify(text));
});

posixTest("closing line: what it closes is closed", () => {
  const piece = fc.constantFrom(
    "```",
    "````",
    "~~~",
    "~~~~",
    "`",
    "~",
    " ",
    "    ",
    "\n",
    "\r\n",
    "x",
    "<!--",
    "-->",
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
    const text = pieces.join("");
    const fence = closingLine(text);
    if (fence !== "") assert.equal(closingLine(`${text}\n${fence}\n`), "", JSON.stringify(text));
  }));
});

posixTest("closing line: linear", () => {
  const text = "```\n```\n`````` `\n<!-- -->\n".repeat(40_000) + "~~~\n" + "```\n".repeat(40_000);
  const started = performance.now();
  assert.equal(closingLine(text), "~~~");
  assert.ok(performance.now() - started < 1000);
});

posixTest("shell text: what is told of the end, in its order", () => {
  const end = { output: "", exitCode: 0, dropped: 0 };
  const cases: readonly [Parameters<typeof shellText>[0], string][] = [
    [end, ""],
    [{ ...end, output: "out\n\n" }, "out\n\n"],
    [{ ...end, exitCode: 7 }, "Command exited with non-zero code: 7"],
    [{ ...end, output: "out\n", exitCode: 3 }, "out\nCommand exited with non-zero code: 3"],
    [{ ...end, output: "out", exitCode: 137 }, "out\nCommand exited with non-zero code: 137"],
    [
      { ...end, output: "out", timedOutS: 0.5, exitCode: 143 },
      "out\nCommand timed out after 0.5 s and was stopped",
    ],
    [{ ...end, output: "out", dropped: 9 }, "out\n[output cut: 9 more bytes]"],
    [
      { output: "```\nx", dropped: 9, exitCode: 1 },
      "```\nx\n```\n[output cut: 9 more bytes]\nCommand exited with non-zero code: 1",
    ],
    [
      { output: "~~~~\nx\n", dropped: 9, exitCode: 143, timedOutS: 120 },
      "~~~~\nx\n~~~~\n[output cut: 9 more bytes]\nCommand timed out after 120 s and was stopped",
    ],
    [{ ...end, output: "```\nx\n" }, "```\nx\n"],
  ];
  for (const [outcome, text] of cases) assert.equal(shellText(outcome), text);
});

posixTest("document command: output of both streams, and the exit code", async () => {
  const pieces: string[] = [];
  const result = await run("echo out; sleep 0.1; echo err >&2; exit 3", {
    onOutput: (text) => pieces.push(text),
  });
  assert.deepEqual(result, {
    text: "out\nerr\nCommand exited with non-zero code: 3",
    exitCode: 3,
    isTimedOut: false,
  });
  assert.deepEqual(pieces, ["out\n", "err\n"]);
  assert.deepEqual(await run("printf '```\\ncode\\n'; kill -TERM $$"), {
    text: "```\ncode\n```\nCommand exited with non-zero code: 143",
    exitCode: 143,
    isTimedOut: false,
  });
  assert.equal((await run("cat; printf '\\xff\\n'")).text, "\ufffd\n");
});

posixTest("document command: bash where PATH has it, else sh", () =>
  withFolder(async (folder) => {
    assert.equal(defaultShell().command, "bash");
    assert.equal((await run("set -o pipefail; false | true")).exitCode, 1);
    await withVariables({ PATH: `relative:${folder}` }, async () => {
      assert.equal(defaultShell().command, "/bin/sh");
      assert.equal((await run("echo $#")).text, "0\n");
      Deno.writeTextFileSync(join(folder, "bash"), "no program", { mode: 0o644 });
      assert.equal(defaultShell().command, "/bin/sh");
      Deno.writeTextFileSync(join(folder, "bash"), `#!/bin/sh\necho "own $1"\n`, { mode: 0o755 });
      assert.equal(defaultShell().command, "bash");
      assert.equal((await run("x")).text, "own -c\n");
      Deno.removeSync(join(folder, "bash"));
      assert.equal(defaultShell().command, "/bin/sh");
    });
  }));

posixTest(
  "document command: its folder and its environment, in which there is no key",
  () =>
    withFolder(async (folder) => {
      const ours = {
        OPENAI_API_KEY: "sk-1",
        TERM: "xterm",
        LC_ALL: "C",
        TZ: "UTC",
        USER: "me",
        TMPDIR: "/tmp",
        SHELL: "/bin/x",
      };
      await withVariables(ours, async () => {
        const { text } = await run("pwd; env | cut -d= -f1 | sort", { cwd: folder, env: { MINE: "1" } });
        const [where, ...names] = text.trimEnd().split("\n");
        assert.equal(where, folder);
        const own = new Set(["PWD", "OLDPWD", "SHLVL", "_"]); // what bash itself sets
        const allowed = ["HOME", "LANG", "LC_ALL", "MINE", "PATH", "SHELL", "TMPDIR", "TZ", "USER"];
        const found = names.filter((name) =>
          !own.has(name) && (name === "LC_ALL" || !name.startsWith("LC_"))
        );
        assert.deepEqual(found.filter((name) => !allowed.includes(name)), []);
        assert.deepEqual(
          ["LC_ALL", "MINE", "PATH", "TZ", "USER"].filter((name) => !found.includes(name)),
          [],
        );
      });
    }),
);

posixTest(
  "document command: after its time it and its children are gone, and what came is kept",
  () =>
    withFolder(async (folder) => {
      const script =
        "printf '```\\npart\\n'; sleep 100 & echo $! >>pids; (trap '' HUP; sleep 100) & echo $! >>pids; sleep 100";
      const result = await run(script, { cwd: folder, timeoutMs: 400 });
      assert.equal(result.text, "```\npart\n```\nCommand timed out after 0.4 s and was stopped");
      assert.equal(result.isTimedOut, true);
      assert.ok(result.exitCode > 128);
      const pids = Deno.readTextFileSync(join(folder, "pids")).trim().split("\n").map(Number);
      assert.equal(pids.length, 2);
      assert.deepEqual(await Promise.all(pids.map(isAlive)), [false, false]);
    }),
);

posixTest("document command: a runaway command is cut and stopped", async () => {
  const { text, isTimedOut } = await run("yes", { timeoutMs: 300 });
  assert.equal(isTimedOut, true);
  assert.match(
    text.slice(1_048_576 - 4),
    /^y\ny\n\[output cut: \d+ more bytes\]\nCommand timed out after 0\.3 s and was stopped$/,
  );
});

posixTest("document command: the time is that of the given clock", async () => {
  const over = Promise.withResolvers<void>();
  const asked: number[] = [];
  const clock: Clock = { now: () => 0, sleep: (ms) => over.promise.finally(() => asked.push(ms)) };
  const running = run("echo a; sleep 100", { timeoutMs: 5000, clock, onOutput: () => over.resolve() });
  assert.equal((await running).text, "a\nCommand timed out after 5 s and was stopped");
  assert.deepEqual(asked, [5000]);
});

posixTest("document command: output is cut after 1 MiB, to the byte", async () => {
  const text = async (bytes: number, more = "") =>
    (await run(`head -c ${bytes} /dev/zero | tr '\\0' x${more}`)).text;
  assert.equal(await text(1_048_576), "x".repeat(1_048_576));
  assert.equal(await text(1_048_577), "x".repeat(1_048_576) + "\n[output cut: 1 more bytes]");
  const long = await text(3_000_000, "; echo err >&2; exit 2");
  const end = `\n[output cut: ${3_000_004 - 1_048_576} more bytes]\nCommand exited with non-zero code: 2`;
  assert.equal(long.slice(1_048_576), end);
});

posixTest("document command: an abort is thrown, and ends everything", () =>
  withFolder(async (folder) => {
    const abort = new AbortController();
    const running = run("sleep 100 & echo $! >pid; echo on; wait", {
      cwd: folder,
      signal: abort.signal,
      onOutput: () => abort.abort(new Error("enough")),
    });
    await assert.rejects(running, { message: "enough" });
    assert.equal(await isAlive(Number(Deno.readTextFileSync(join(folder, "pid")))), false);
  }));

posixTest("document command: needs the permission to run, as every command", async () => {
  await using closed = await testWorld({ flags: [] });
  await assert.rejects(run("true", { cwd: closed.root }, closed.shell), {
    name: "PermissionRefused",
    message: `Running "bash" is not allowed: add --allow-run=bash`,
  });
  await using open = await testWorld({ flags: ["allow-run=bash"] });
  assert.equal((await run("echo fine", { cwd: open.root }, open.shell)).text, "fine\n");
  await assert.rejects(
    run("true", { cwd: open.root, env: { LD_PRELOAD: "x" } }, open.shell),
    /Setting the variable "LD_PRELOAD" for a command is not allowed/,
  );
});

posixTest("document command: what the shell is asked", async () => {
  const asked: unknown[] = [];
  const done: ShellResult = {
    exitCode: 0,
    stdout: "x",
    stderr: "",
    truncated: false,
    dropped: 0,
    stopped: false,
  };
  const shell: Shell = {
    run(command, { stop, ...options }) {
      asked.push({ command, ...options, isStopped: stop?.aborted });
      return Promise.resolve(done);
    },
  };
  const own = { command: "fish", args: (script: string) => ["-c", script], inherit: ["PATH"] };
  await run("true", { shell: own, cwd: "/here", env: { A: "1" } }, shell);
  assert.deepEqual(asked, [{
    command: "fish",
    args: ["-c", "true"],
    cwd: "/here",
    env: { A: "1" },
    inherit: ["PATH"],
    isMerged: true,
    maxBytes: 1_048_576,
    isStopped: false,
  }]);
});
