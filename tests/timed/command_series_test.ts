// Commands that run one after another: the next one is loaded when one has ended, and nobody can tell.

import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { CommandSeries } from "../../lib/core/command_series.ts";
import type { Shell, ShellResult } from "../../lib/core/world.ts";
import { hostShell } from "../../lib/host/shell.ts";
import { readUntil, testProject } from "../_project.ts";
import { testWorld } from "../_world.ts";

const isLinux = Deno.build.os === "linux";
const NOT_HERE = "not run here: commands are loaded ahead on Linux only, and /proc is there";

type Options = Parameters<Shell["run"]>[1];

/** Runs a script of a series. */
function command(
  series: CommandSeries,
  script: string,
  { next, ...options }: Omit<Options, "next" | "args" | "series"> & { readonly next?: string } = {},
): Promise<ShellResult> {
  return hostShell().run("bash", {
    cwd: "/",
    isMerged: true,
    onReady: () => {},
    series,
    args: ["-c", script],
    ...(next !== undefined && { next: ["-c", next] }),
    ...options,
  });
}

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-series-" }));
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const marker = (): string => `orrery-series-${crypto.randomUUID()}`;

/** The processes that are alive and have the text on their command line, our own tests left out. */
function processesWith(text: string): readonly number[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === Deno.pid) return [];
    try {
      const isThere = Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(text); // empty for a zombie
      return isThere ? [pid] : [];
    } catch {
      return []; // it has just ended
    }
  });
}

async function eventually(holds: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 500 && !holds(); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return holds();
}

Deno.test("series: the next command is the one that was loaded, and does nothing before its turn", () =>
  withFolder(async (folder) => {
    if (!isLinux) return console.log(NOT_HERE);
    await using series = new CommandSeries();
    const mark = marker();
    const next = `echo ${mark} >made; echo $$ $PPID`;
    await command(series, "true", { cwd: folder, next });
    assert.ok(await eventually(() => processesWith(mark).length === 1)); // while a program is exchanged for another it has no name
    const [pid] = processesWith(mark);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual([...Deno.readDirSync(folder)], []);
    let readyAt = 0;
    const { stdout } = await command(series, next, {
      cwd: folder,
      onReady: () => readyAt = [...Deno.readDirSync(folder)].length + 1,
    });
    assert.equal(stdout, `${pid} ${Deno.pid}\n`);
    assert.equal(readyAt, 1);
    assert.equal(Deno.readTextFileSync(join(folder, "made")), `${mark}\n`);
    assert.deepEqual(processesWith(mark), []);
  }));

Deno.test("series: nobody of the command before sees the next one, or can end it", () =>
  withFolder(async (folder) => {
    if (!isLinux) return console.log(NOT_HERE);
    await using series = new CommandSeries();
    const mark = marker();
    const [first, last] = [mark.slice(0, -1), mark.slice(-1)];
    // The brackets keep it from finding itself. What it leaves behind goes on looking until it is ended.
    const look = `grep -l '${first}[${last}]' /proc/[0-9]*/cmdline 2>/dev/null`;
    const kill =
      `(trap '' TERM HUP; while :; do kill -9 $(pgrep -f '${first}[${last}]'); done) >/dev/null 2>&1 &`;
    const next = `echo ${mark}`;
    const { stdout } = await command(series, `${kill} ${look}; sleep 0.1; ${look}; true`, {
      cwd: folder,
      next,
    });
    assert.equal(stdout, "");
    assert.equal((await command(series, next, { cwd: folder })).stdout, `${mark}\n`);
  }));

Deno.test("series: what was loaded and is not used is ended", async (t) => {
  if (!isLinux) return console.log(NOT_HERE);
  const mark = marker();
  const loaded = async (series: CommandSeries): Promise<void> => {
    await command(series, "true", { next: `echo ${mark}` });
    assert.ok(await eventually(() => processesWith(mark).length === 1));
  };
  const cases: Readonly<Record<string, (series: CommandSeries) => Promise<unknown>>> = {
    "by another script": (series) => command(series, "true"),
    "by another environment": (series) => command(series, `echo ${mark}`, { env: { A: "1" } }),
    "by another folder": (series) => command(series, `echo ${mark}`, { cwd: "/tmp" }),
    "by a command that cannot be started": (series) =>
      assert.rejects(hostShell().run("orrery-no-such", { series }), /no program of this name/),
    "by what may not begin": (series) =>
      assert.rejects(
        command(series, `echo ${mark}`, {
          onReady() {
            throw new Error("not kept");
          },
        }),
        { message: "not kept" },
      ),
    "when nothing of the kind follows": (series) => series.clear(),
    "at the end": (series) => series[Symbol.asyncDispose](),
  };
  for (const [how, end] of Object.entries(cases)) {
    await t.step(how, async () => {
      await using series = new CommandSeries();
      await loaded(series);
      await end(series);
      assert.ok(await eventually(() => processesWith(mark).length === 0));
    });
  }
});

Deno.test("series: nothing is loaded behind what was stopped or aborted, or when all is over", async () => {
  if (!isLinux) return console.log(NOT_HERE);
  const mark = marker();
  const next = `echo ${mark}`;
  await using series = new CommandSeries();
  const [stop, abort] = [new AbortController(), new AbortController()];
  const stopped = command(series, "sleep 100", { next, stop: stop.signal });
  stop.abort();
  assert.equal((await stopped).stopped, true);
  const aborted = command(series, "sleep 100", { next, signal: abort.signal });
  abort.abort(new Error("enough"));
  await assert.rejects(aborted, { message: "enough" });
  const late = command(series, "sleep 0.1", { next });
  await series[Symbol.asyncDispose]();
  await late;
  assert.equal(series.take(), undefined);
  assert.deepEqual(processesWith(mark), []);
});

Deno.test("series: one that died while it waited is started anew", async () => {
  if (!isLinux) return console.log(NOT_HERE);
  await using series = new CommandSeries();
  const mark = marker();
  const next = `echo ${mark}`;
  await command(series, "true", { next });
  assert.ok(await eventually(() => processesWith(mark).length === 1));
  for (const pid of processesWith(mark)) Deno.kill(pid, "SIGKILL");
  assert.ok(await eventually(() => processesWith(mark).length === 0));
  await new Promise((resolve) => setTimeout(resolve, 50)); // we hear of it a little later
  assert.equal((await command(series, next)).stdout, `${mark}\n`);
  await command(series, "true", { next: "echo (" });
  await new Promise((resolve) => setTimeout(resolve, 50)); // its parser has ended it
  const broken = await command(series, "echo (");
  await using alone = new CommandSeries();
  assert.deepEqual(broken, await command(alone, "echo ("));
  assert.match(broken.stdout, /syntax error/);
});

Deno.test("series: a folder or a variable that changed meanwhile is seen", () =>
  withFolder(async (folder) => {
    await using series = new CommandSeries();
    const own = join(folder, "own");
    const next = `pwd; cat file; echo $TMPDIR`;
    const inherit = ["PATH", "TMPDIR"];
    Deno.mkdirSync(own);
    const change = `cd ..; mv own old; mkdir own; echo new >own/file`;
    await command(series, change, { cwd: own, next, inherit });
    const before = Deno.env.get("TMPDIR");
    Deno.env.set("TMPDIR", "/elsewhere");
    try {
      const { stdout } = await command(series, next, { cwd: own, inherit });
      assert.equal(stdout, `${own}\nnew\n/elsewhere\n`);
    } finally {
      if (before === undefined) Deno.env.delete("TMPDIR");
      else Deno.env.set("TMPDIR", before);
    }
    await command(series, "cd ..; rm -r own", { cwd: own, next, inherit });
    await assert.rejects(command(series, next, { cwd: own, inherit }), /there is no folder/);
  }));

Deno.test("series: the policy is asked in its turn, as for every command", async () => {
  await using closed = await testWorld({ flags: [] });
  await using series = new CommandSeries();
  const options = { cwd: closed.root, isMerged: true, series, args: ["-c", "true"], next: ["-c", "true"] };
  await assert.rejects(closed.shell.run("bash", options), { name: "PermissionRefused" });
  assert.equal(series.take(), undefined);
});

/** What one command may do, for itself and to those behind it. */
const SCRIPTS: readonly string[] = [
  "true",
  "exit 3",
  "kill -TERM $$",
  "echo a >>file",
  "cat file",
  "rm -f file",
  "cd ..; rm -r own; mkdir own",
  "cd ..; mv own moved && mkdir own && mv moved own/moved",
  "echo out; echo err >&2; echo out",
  "echo $SHLVL $LINENO $((SECONDS < 60)) $- $0 $# $_; pwd; env | sort; ls | sort", // two shells may see another second begin
  "echo 'one\ntwo'\nno-such-program\necho $LINENO",
  "echo (",
  "if true; then\necho (\nfi",
  "cat; read x; echo $?",
  "sleep 0.05 & echo left",
  "set -e; false; echo never",
  "exec cat file",
  "trap 'echo bye' EXIT; echo on",
];

Deno.test("series: random commands give the same as each one alone", async () => {
  const outcomes = (scripts: readonly string[], isSeries: boolean): Promise<readonly unknown[]> => {
    const found: unknown[] = [];
    return withFolder(async (folder) => {
      const own = join(folder, "own");
      Deno.mkdirSync(own);
      await using series = new CommandSeries();
      for (const [at, script] of scripts.entries()) {
        const next = scripts[at + 1];
        const pieces: string[] = [];
        const options = { cwd: own, onOutput: (text: string) => pieces.push(text) };
        const result = isSeries
          ? await command(series, script, { ...options, ...(next !== undefined && { next }) })
          : await hostShell().run("bash", {
            ...options,
            isMerged: true,
            onReady: () => {},
            args: ["-c", script],
          });
        const { stdout, ...end } = result;
        assert.equal(pieces.join(""), stdout);
        found.push({ ...end, stdout: stdout.replaceAll(folder, "FOLDER") });
      }
    }).then(() => found);
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...SCRIPTS), { minLength: 2, maxLength: 8 }),
      async (scripts) => {
        assert.deepEqual(await outcomes(scripts, true), await outcomes(scripts, false));
      },
    ),
    { numRuns: 25, endOnFailure: true },
  );
});

/** A process that has loaded a command and does no more; it says `loaded`, and goes on for `waitMs`. */
function loadingProcess(mark: string, waitMs: number): Deno.ChildProcess {
  const room = (path: string): string => JSON.stringify(import.meta.resolve(`../../lib/${path}`));
  const code = `
import { hostShell } from ${room("host/shell.ts")};
import { CommandSeries } from ${room("core/command_series.ts")};
const common = { cwd: "/", isMerged: true, onReady: () => {}, series: new CommandSeries() };
await hostShell().run("bash", { ...common, args: ["-c", "true"], next: ["-c", "echo " + Deno.env.get("MARK")] });
console.log("loaded");
if (${waitMs} > 0) await new Promise((resolve) => setTimeout(resolve, ${waitMs}));`;
  return new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-lock", "--quiet", code],
    env: { MARK: mark },
    stdout: "piped",
  }).spawn();
}

Deno.test("series: a process that is killed, or ends, leaves nothing that it has loaded", async () => {
  if (!isLinux) return console.log(NOT_HERE);
  const mark = marker();
  const killed = loadingProcess(mark, 60_000);
  const reader = killed.stdout.getReader();
  await readUntil(reader, "loaded");
  assert.ok(await eventually(() => processesWith(mark).length === 1));
  killed.kill("SIGKILL");
  await killed.status;
  await reader.cancel();
  assert.ok(await eventually(() => processesWith(mark).length === 0));
  const ended = loadingProcess(mark, 0);
  await ended.stdout.cancel();
  assert.equal((await ended.status).code, 0); // it does not wait for what it has loaded
  assert.ok(await eventually(() => processesWith(mark).length === 0));
});

Deno.test("series: a document's commands, and what comes between them", async (t) => {
  const mark = marker();
  const shell = (script: string, more = ""): string =>
    `@shell\nprompt: ${JSON.stringify(`${script} # ${mark}`)}\nuse-header: none\n${more}\n`;
  const cases: Readonly<Record<string, { text: string; made: string; code: number }>> = {
    "in a row": {
      text: shell("echo 1 >>made") + shell("echo 2 >>made") + shell("echo 3 >>made"),
      made: "1\n2\n3\n",
      code: 0,
    },
    "a failure": {
      text: shell("echo 1 >>made; exit 3", "on-error: stop\n") + shell("echo 2 >>made"),
      made: "1\n",
      code: 1,
    },
    "a timeout": {
      text: shell("echo 1 >>made; sleep 9", "timeout: 0.2\n") + shell("echo 2 >>made"),
      made: "1\n",
      code: 1,
    },
    "an operation that is generated": {
      text: shell(`printf '\\n@shell\\nprompt: echo 2 >>made\\n'`, "run-generated: true\n") +
        shell("echo 3 >>made"),
      made: "2\n3\n",
      code: 0,
    },
    "one that is replaced by a result": {
      text: shell("echo 1 >>made; echo gone", "to: below/*\nmode: replace\n") + "# Below\n\n" +
        shell("echo 2 >>made"),
      made: "1\n",
      code: 0,
    },
    "jumps": {
      text: "# Again\n\n" + shell("echo 1 >>made") + shell("echo 2 >>made") +
        "@goto\nblock: again\nrun-once: true\n\n" + shell("echo 3 >>made"),
      made: "1\n2\n1\n2\n3\n",
      code: 0,
    },
    "conditions": {
      text: "# Switch\n\noff\n\n" + shell("echo 1 >>made") +
        shell("echo 2 >>made", "if: { block: switch, contains: on }\n") + shell("echo 3 >>made"),
      made: "1\n3\n",
      code: 0,
    },
    "the end": {
      text: shell("echo 1 >>made") + "@return\nprompt: over\n\n" + shell("echo 2 >>made"),
      made: "1\n",
      code: 0,
    },
  };
  for (const [what, { text, made, code }] of Object.entries(cases)) {
    await t.step(what, async () => {
      await using project = await testProject({ "main.md": `# Main\n\n${text}` });
      const run = await project.run(["run", "main.md", "--allow-run"]);
      assert.equal(run.code, code, run.stderr);
      assert.equal(await project.read("made"), made);
      if (isLinux) assert.deepEqual(processesWith(mark), []);
    });
  }
});
