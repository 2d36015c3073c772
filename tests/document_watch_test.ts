// A document that is run again when a file changes (`--watch`): what is done again, what is not, and when it ends.
import assert from "node:assert/strict";
import { join } from "node:path";
import { FileError, type Json, memoryJournal, type StepStart, type StepTurn, systemClock } from "../mod.ts";
import { printOf, WatchedFiles, watchRuns } from "../lib/cli/run/document/watch.ts";
import type { FileWatch } from "../lib/core/file_watch.ts";
import { hostFileWatch } from "../lib/host/files/watch.ts";
import { EarlierSteps } from "../lib/run/replay/earlier_steps.ts";
import { posixTest } from "./_posix_test.ts";
import { readUntil, type TestProject, testProject } from "./_project.ts";

/** A watch whose changes the test makes. */
interface FakeFileWatch extends FileWatch {
  /** What is watched at the moment. */
  readonly watched: readonly string[];
  /** Something has happened at this path. */
  touch(path: string): void;
}

/** A watch for tests: it knows of no files. */
function fakeFileWatch(): FakeFileWatch {
  const watches = new Set<{ readonly paths: readonly string[]; readonly onChange: () => void }>();
  return {
    get watched() {
      return [...watches].flatMap(({ paths }) => paths);
    },
    watch(paths, onChange) {
      const watch = { paths, onChange };
      watches.add(watch);
      return { [Symbol.dispose]: () => void watches.delete(watch) };
    },
    touch(path) {
      for (const { paths, onChange } of watches) if (paths.includes(path)) onChange();
    },
  };
}

// Steps.

interface StepsRun {
  /** Begins a step, ends it when it has to be performed; gives what came of it and whether it was performed. */
  step(key: string, kind: StepStart["kind"], input: Json, outcome?: Json | Error): Json;
  operation(key: string, work: () => void, error?: string): void;
  end(status?: "done" | "failed" | "stopped"): void;
}

function begun(steps: EarlierSteps): StepsRun {
  const run = steps.journal(memoryJournal().create({ kind: "document", input: null }));
  const event = { seq: 1, at: 0, run: run.id };
  return {
    step(key, kind, input, outcome = null) {
      const turn: StepTurn = run.begin({ key, kind, name: "n", input, idempotent: true });
      if (turn.do === "answer") return "ok" in turn.outcome ? turn.outcome.ok : "failed";
      run.finish(key, outcome instanceof Error ? { error: { message: outcome.message } } : { ok: outcome });
      return `performed ${key}`;
    },
    operation(key, work, error) {
      run.tell({ type: "step-start", key, kind: "step", name: key, attempt: 1, ...event });
      work();
      run.tell({ type: "step-end", key, ms: 1, ...(error ? { error: { message: error } } : {}), ...event });
    },
    end: (status = "done") => run.release(status),
  };
}

Deno.test("steps of earlier runs: the same kind, name and input gives the same outcomes, in their order, each once", () => {
  const steps = new EarlierSteps();
  const first = begun(steps);
  assert.equal(first.step("op[1]/shell", "shell", { script: "a" }, 1), "performed op[1]/shell");
  assert.equal(first.step("op[1]#2/shell", "shell", { script: "a" }, 2), "performed op[1]#2/shell");
  first.end();
  const second = begun(steps);
  assert.equal(second.step("op[7]/shell", "shell", { script: "a" }), 1);
  assert.equal(second.step("op[7]#2/shell", "shell", { script: "a" }), 2);
  assert.equal(second.step("op[7]#3/shell", "shell", { script: "a" }, 3), "performed op[7]#3/shell");
  assert.equal(second.step("op[8]/shell", "gadget", { script: "a" }), "performed op[8]/shell");
  assert.equal(second.step("op[9]/shell", "shell", { script: "b" }), "performed op[9]/shell");
  assert(steps.isReused("op[7]") && steps.isReused("op[7]#2"));
  assert(!steps.isReused("op[7]#3") && !steps.isReused("op[9]") && !steps.isReused("op[99]"));
});

Deno.test("steps of earlier runs: reads and writes are done anew, failures are tried again", () => {
  const steps = new EarlierSteps();
  for (let run = 0; run < 2; run++) {
    const { step, operation, end } = begun(steps);
    assert.equal(step("op[1]/read", "read", null, "text"), "performed op[1]/read");
    assert.equal(step("op[2]/save", "write", { text: "x" }), "performed op[2]/save");
    assert.equal(step("op[3]/shell", "shell", 1, new Error("no")), "performed op[3]/shell");
    operation(
      "op[4]",
      () => assert.equal(step("op[4]/shell", "shell", 2, 3), "performed op[4]/shell"),
      "it failed",
    );
    end();
  }
});

Deno.test("steps of earlier runs: of an operation that failed only what it did itself is done again", () => {
  const steps = new EarlierSteps();
  const run = (): readonly Json[] => {
    const { step, operation, end } = begun(steps);
    const seen: Json[] = [];
    operation("op[1]", () => {
      operation("op[1]/op[2]", () => seen.push(step("op[1]/op[2]/shell", "shell", 1, "kept")));
      operation("op[1]/op[3]", () => seen.push(step("op[1]/op[3]/shell", "shell", 2, "x")), "no");
    }, "no");
    end("failed");
    return seen;
  };
  run();
  assert.deepEqual(run(), ["kept", "performed op[1]/op[3]/shell"]);
});

Deno.test("steps of earlier runs: what a run that broke off did not come to stays; of one that was done it goes", () => {
  const steps = new EarlierSteps();
  const first = begun(steps);
  first.step("op[1]/shell", "shell", 1, "one");
  first.step("op[2]/shell", "shell", 2, "two");
  first.end();
  const broken = begun(steps);
  assert.equal(broken.step("op[1]/shell", "shell", 1), "one");
  broken.end("failed");
  const third = begun(steps);
  assert.equal(third.step("op[2]/shell", "shell", 2), "two");
  third.end();
  const fourth = begun(steps);
  assert.equal(fourth.step("op[1]/shell", "shell", 1), "performed op[1]/shell");
  assert.equal(fourth.step("op[2]/shell", "shell", 2), "two");
});

Deno.test("steps of earlier runs: a question is the whole talk, not what is new in it", () => {
  const steps = new EarlierSteps();
  const ask = (first: string, answer = "answer"): readonly Json[] => {
    const { step, end } = begun(steps);
    const about = { tools: ["T"] };
    const seen = [
      step("op[1]/turn[1]/model", "model", { messages: [first], about }, answer),
      step("op[1]/turn[2]/model", "model", { messages: ["result"], about }, "final"),
    ];
    end();
    return seen;
  };
  ask("a");
  assert.deepEqual(ask("a"), ["answer", "final"]);
  assert.deepEqual(ask("b"), ["performed op[1]/turn[1]/model", "performed op[1]/turn[2]/model"]);
  assert.deepEqual(ask("b"), ["answer", "final"]);
});

Deno.test("steps of earlier runs: an answer that came at the second attempt is that of the question", () => {
  const steps = new EarlierSteps();
  const first = begun(steps);
  first.step("op[1]/turn[1]/model", "model", { messages: ["a"], about: 1 }, new Error("busy"));
  first.step("op[1]/turn[2]/model", "model", { messages: [], about: 1 }, "answer");
  first.end();
  const second = begun(steps);
  assert.equal(second.step("op[1]/turn[1]/model", "model", { messages: ["a"], about: 1 }), "answer");
});

Deno.test("steps of earlier runs: each run's own journal has them all", () => {
  const steps = new EarlierSteps();
  const journal = memoryJournal();
  const input = { script: "a" };
  for (let n = 0; n < 2; n++) {
    const run = steps.journal(journal.create({ kind: "document", input: null, id: `run${n}` }));
    const turn = run.begin({ key: "op[1]/shell", kind: "shell", name: "sh", input, idempotent: false });
    assert.equal(turn.do, n === 0 ? "perform" : "answer");
    if (n === 0) run.finish("op[1]/shell", { ok: "x" });
    run.release("done");
    const [step] = journal.read(`run${n}`).steps;
    assert.deepEqual(step?.outcome, { ok: "x" });
    assert.equal(step?.status, "finished");
  }
});

// Files.

const WATCHES: readonly (readonly [
  string,
  (folder: string) => { watch: FileWatch; change(path: string): Promise<void> },
])[] = [
  [
    "of this machine",
    () => ({ watch: hostFileWatch(), change: (path) => Deno.writeTextFile(path, `${Math.random()}`) }),
  ],
  ["fake", () => {
    const watch = fakeFileWatch();
    return { watch, change: (path) => Promise.resolve(watch.touch(path)) };
  }],
];

for (const [name, make] of WATCHES) {
  Deno.test(`watch, ${name}: tells of changes at its paths, also of what was not there, until it is disposed of`, async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    const [there, later] = [join(folder, "there.md"), join(folder, "later.md")];
    await Deno.writeTextFile(there, "a");
    const { watch, change } = make(folder);
    let calls = 0;
    let woken = Promise.withResolvers<void>();
    const watching = watch.watch([there, later], () => {
      calls++;
      woken.resolve();
    });
    for (const path of [there, later]) {
      woken = Promise.withResolvers();
      await change(path);
      await woken.promise;
      await systemClock.sleep(60); // one change may be told in several parts
    }
    const before = calls;
    await change(join(folder, "other.md"));
    await systemClock.sleep(60);
    assert.equal(calls, before, "another file");
    watching[Symbol.dispose]();
    await change(there);
    await systemClock.sleep(60);
    assert.equal(calls, before, "it is over");
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("watch, of this machine: a file that takes another's place, and a folder that is made on the way", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const path = join(folder, "a.md");
  const deep = join(folder, "new", "deep.md");
  await Deno.writeTextFile(path, "a");
  for (
    const change of [async () => {
      await Deno.writeTextFile(join(folder, "a.tmp"), "b");
      await Deno.rename(join(folder, "a.tmp"), path);
    }, () => Deno.mkdir(join(folder, "new"))]
  ) {
    const woken = Promise.withResolvers<void>();
    using _watching = hostFileWatch().watch([path, deep], woken.resolve);
    await change();
    await woken.promise;
  }
  await Deno.remove(folder, { recursive: true });
});

// The loop.

function loop(
  texts: Map<string, string>,
  runOnce: (files: WatchedFiles, n: number) => Promise<number> | number,
) {
  const watch = fakeFileWatch();
  const stop = new AbortController();
  const bytes = (path: string): Uint8Array<ArrayBuffer> => {
    const text = texts.get(path);
    if (text === undefined) throw new FileError("not there", { path, code: "not-found" });
    return new TextEncoder().encode(text);
  };
  const files = new WatchedFiles({ real: (path) => path, readBytes: (path) => Promise.resolve(bytes(path)) });
  const changes: (readonly string[])[] = [];
  let runs = 0;
  let waiting = Promise.withResolvers<void>();
  const exit = watchRuns({
    entry: "/plan.md",
    files,
    watch,
    clock: systemClock,
    signal: stop.signal,
    async runOnce() {
      for (const path of texts.keys()) files.onRead(path, await printOf(bytes(path)));
      return await runOnce(files, ++runs);
    },
    onWait: () => Promise.resolve(waiting.resolve()),
    onChange: (paths) => Promise.resolve(void changes.push(paths)),
  });
  return {
    changes,
    exit,
    runs: () => runs,
    stop: () => stop.abort(),
    async wait() {
      await waiting.promise;
      waiting = Promise.withResolvers();
      await systemClock.sleep(5);
    },
    change(path: string, text: string) {
      texts.set(path, text);
      watch.touch(path);
    },
    touch: (path: string) => watch.touch(path),
  };
}

Deno.test("watch loop: runs again for a change, not for a touch; saves close together are one; ends with 0 while it waits", async () => {
  const one = loop(new Map([["/plan.md", "a"], ["/part.md", "a"]]), () => 1);
  await one.wait();
  one.touch("/plan.md");
  await systemClock.sleep(150);
  assert.equal(one.runs(), 1);
  one.change("/part.md", "b");
  await systemClock.sleep(30);
  one.change("/plan.md", "b");
  await one.wait();
  assert.equal(one.runs(), 2);
  assert.deepEqual(one.changes, [["/plan.md", "/part.md"]]);
  one.stop();
  assert.equal(await one.exit, 0);
});

Deno.test("watch loop: an interrupt while it runs gives the code of the run", async () => {
  const one = loop(new Map([["/plan.md", "a"]]), () => {
    one.stop();
    return 130;
  });
  assert.equal(await one.exit, 130);
});

Deno.test("watch loop: a change while it runs is not lost; what runs change themselves does not go on for ever", async () => {
  const texts = new Map([["/plan.md", "a"], ["/part.md", "a"]]);
  const one = loop(texts, (_files, n) => {
    if (n === 1) texts.set("/plan.md", "edited meanwhile");
    texts.set("/part.md", `by run ${n}`);
    return 0;
  });
  await one.wait();
  assert.equal(one.runs(), 2);
  assert.deepEqual(one.changes, [["/plan.md", "/part.md"]]);
  one.stop();
  await one.exit;
});

Deno.test("watch loop: what the run writes by itself is no change", async () => {
  const texts = new Map([["/plan.md", "a"], ["/saved.md", "a"]]);
  const one = loop(texts, async (files, n) => {
    texts.set("/saved.md", `by run ${n}`);
    await files.onWrite("/saved.md");
    return 0;
  });
  await one.wait();
  assert.equal(one.runs(), 1);
  one.stop();
  await one.exit;
});

// The command.

const DOCUMENT = `# Goal

Be brief.

@shell
prompt: echo x >> commands; echo output

@llm
prompt: What is it?

@import
file: part.md

@run
file: sub.md
`;

const FILES = {
  "orrery.yaml": "models: { default: script/a.yaml }\n",
  "a.yaml":
    "- { text: First., when: What is it }\n- { text: Of sub., when: In sub }\n- { text: Again., repeat: true }\n",
  "plan.md": DOCUMENT,
  "part.md": "# Part\n\ntext\n",
  "sub.md": "@llm\nprompt: In sub\n\n@return\nblock: llm-response-block\n",
};

interface Watching {
  /** What is told up to the next wait. */
  next(): Promise<string>;
  /** Ctrl-C; the exit code. */
  stop(): Promise<number>;
}

function watching(project: TestProject, ...args: readonly string[]): Watching {
  const child = project.start(["run", "plan.md", "--watch", "--allow-run", ...args]);
  const reader = child.stderr.getReader();
  child.stdin.close().catch(() => undefined);
  const rest = child.stdout.cancel();
  return {
    next: () => readUntil(reader, "Ctrl-C ends\n"),
    async stop() {
      child.kill("SIGINT");
      const { code } = await child.status;
      await reader.cancel();
      await rest;
      return code;
    },
  };
}

/** Without the times. */
const told = (text: string): string =>
  text.replace(/ {2}[\d.]+ m?s$/gm, "").replace(/^\d answers?.*\n/gm, "");
const lines = async (project: TestProject, path: string): Promise<number> =>
  (await project.read(path).catch(() => "")).split("\n").length - 1;

posixTest(
  "--watch: an unrelated paragraph below runs nothing again; a question above does; exit 0 while it waits",
  async () => {
    await using project = await testProject(FILES);
    const watch = watching(project);
    assert.equal(
      told(await watch.next()),
      `  ok    @shell plan.md:5
  ok    @llm plan.md:8
  ok    @import plan.md:11
  ok    @llm sub.md:1
  ok    @return sub.md:4
  ok    @run plan.md:14
waiting for a change of plan.md and 2 more files; Ctrl-C ends
`,
    );
    await project.write("plan.md", `${DOCUMENT}\n# Below\n\nNothing to do with it.\n`);
    const reused = `  reused @shell plan.md:5
  reused @llm plan.md:8
  ok    @import plan.md:11
  reused @llm sub.md:1
  ok    @return sub.md:4
  reused @run plan.md:14
waiting for a change of plan.md and 2 more files; Ctrl-C ends
`;
    assert.equal(told(await watch.next()), `plan.md changed\n${reused}`);
    assert.match(
      await project.read("plan.ctx"),
      /output\n[^]*First\.[^]*Of sub\.[^]*Nothing to do with it\.\n$/,
    );
    await project.write("part.md", "# Part\n\nnew text\n");
    assert.equal(told(await watch.next()), `part.md changed\n${reused}`);
    assert.match(await project.read("plan.ctx"), /new text/);
    assert.equal(await lines(project, "commands"), 1);
    await project.write("plan.md", DOCUMENT.replace("Be brief.", "Be long."));
    const again = told(await watch.next());
    assert.match(again, /^ {2}reused @shell plan\.md:5\n {2}ok {4}@llm plan\.md:8$/m);
    assert.match(again, /^ {2}reused @llm sub\.md:1$/m);
    assert.equal(await lines(project, "commands"), 1);
    assert.equal(await watch.stop(), 0);
    const { stdout } = await project.run(["runs", "--json"]);
    assert.equal(JSON.parse(stdout).length, 4, "each is a run of its own");
  },
);

posixTest("--watch --ephemeral: the same, and a broken file tells its errors and is waited on", async () => {
  await using project = await testProject(FILES);
  const watch = watching(project, "--ephemeral");
  await watch.next();
  await project.write("plan.md", DOCUMENT.replace("prompt: What", "promt: What"));
  assert.equal(
    told(await watch.next()).split("\n")[1],
    'plan.md:9:1: error: @llm has no parameter "promt" (did you mean "prompt"?)',
  );
  await project.write("plan.md", DOCUMENT);
  assert.match(told(await watch.next()), /reused @shell plan\.md:5\n {2}reused @llm plan\.md:8\n/);
  await Deno.remove(join(project.folder, "part.md"));
  assert.match(await watch.next(), /part\.md changed\n[^]*file not found: "part\.md"/);
  await project.write("part.md", "# Part\n");
  assert.match(await watch.next(), /part\.md changed\n {2}reused @shell/);
  assert.equal(await lines(project, "commands"), 1);
  assert.equal(await watch.stop(), 0);
});

posixTest(
  "--watch: a command runs again when its variables change, a question when its schema or its media do",
  async () => {
    const plan = `# Value

one

@shell
prompt: echo "$V" >> commands
env: {V: {block: value}}

@llm
prompt: Ask
schema: schema.json
media: [dot.png]
`;
    await using project = await testProject({
      "orrery.yaml": "models: { default: script/a.yaml }\n",
      "a.yaml": "- { text: '{\"n\": 1}', repeat: true }\n",
      "schema.json": '{"type": "object"}',
      "dot.png": "png",
      "plan.md": plan,
    });
    const watch = watching(project);
    await watch.next();
    await project.write("plan.md", plan.replace("one", "two"));
    assert.match(told(await watch.next()), /ok {4}@shell plan\.md:5\n {2}ok {4}@llm plan\.md:9\n/);
    assert.equal(await project.read("commands"), "one\ntwo\n");
    await project.write("schema.json", '{"type": "object", "required": ["n"]}');
    assert.match(
      told(await watch.next()),
      /^schema\.json changed\n {2}reused @shell plan\.md:5\n {2}ok {4}@llm plan\.md:9\n/,
    );
    await project.write("dot.png", "another");
    assert.match(told(await watch.next()), /^dot\.png changed\n {2}reused @shell plan\.md:5\n {2}ok {4}@llm/);
    assert.equal(await watch.stop(), 0);
  },
);

posixTest("--watch: a command that failed the run is tried again; Ctrl-C while it runs is 130", async () => {
  const plan = "@shell\nprompt: echo x >> commands; test -e ready\non-error: stop\n";
  await using project = await testProject({ "plan.md": plan });
  const watch = watching(project);
  assert.match(await watch.next(), /plan\.md:1:1: error: @shell: command exited with code 1\n/);
  await project.write("ready", "");
  await project.write("plan.md", `${plan}\n# Below\n`);
  assert.match(told(await watch.next()), /^ {2}ok {4}@shell plan\.md:1$/m);
  assert.equal(await lines(project, "commands"), 2);
  await project.write("plan.md", `${plan}\n@shell\nprompt: touch begun; sleep 20\n`);
  while (await project.read("begun").catch(() => undefined) === undefined) await systemClock.sleep(20);
  assert.equal(await watch.stop(), 130);
});

Deno.test("--watch goes with documents, and with runs that are not recorded", async () => {
  await using project = await testProject({ ...FILES, "a.calls": "" });
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr } = await project.run(["run", ...args, "--watch"]);
    assert.equal(code, 2, stderr);
    return stderr.split("\n")[0] ?? "";
  };
  assert.equal(await refused("a.calls"), "error: --watch is for documents; a call file takes none");
  assert.equal(
    await refused("plan.md", "--record", "r.jsonl"),
    "error: --watch runs the document again and again; --record is for one run",
  );
  assert.equal(
    await refused("plan.md", "--replay", "r.jsonl"),
    "error: --watch runs the document again and again; --replay is for one run",
  );
});
