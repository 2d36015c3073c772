// The built-in gadget `RunFile` (calls.md 5): a document that is run by a call, in steps of the run that calls.
import assert from "node:assert/strict";
import {
  ask,
  type Catalog,
  type DocumentWorld,
  fakeModel,
  type Files,
  memoryFiles,
  memoryJournal,
  type Model,
  type ModelPart,
  runCalls,
  type RunEvent,
  type RunJournal,
  type Shell,
} from "../mod.ts";
import { builtInGadgets } from "../gadgets/built_in.ts";
import { builtInEntries, catalogOf } from "../lib/catalog/catalog.ts";
import type { RecordLine } from "../lib/core/journal.ts";
import { boundedWorld } from "../lib/project/bounded_world.ts";
import { homeMeans } from "../lib/project/document/place.ts";
import { openProgramDocument, programDefaults } from "../lib/service/program/document.ts";
import { fileCalls } from "../lib/run/document/file_calls.ts";
import { Replay } from "../lib/run/replay/replay.ts";
import type { RunOptions } from "../lib/run/run.ts";
import { mortalJournal } from "./_mortal_journal.ts";
import { testProject } from "./_project.ts";
import { goneOn, inBothJournals, strictJournal } from "./_strict_steps.ts";
import { pause } from "./_waiting.ts";
import { checkDescription } from "./_world.ts";

type EventOf<Type extends RunEvent["type"]> = RunEvent & { readonly type: Type };

const ofType = <Type extends RunEvent["type"]>(events: readonly RunEvent[], type: Type): EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);

const endOf = (events: readonly RunEvent[]): EventOf<"run-end"> =>
  ofType(events, "run-end")[0] ?? assert.fail("no run-end");

const block = (id: string, file: string, more: Readonly<Record<string, string>> = {}): string => {
  const named = Object.entries(more).map(([name, value]) => `!!!ARG:${name}\n${value}\n`).join("");
  return `!!!GADGET_START:RunFile:${id}\n!!!ARG:file\n${file}\n${named}!!!GADGET_END\n`;
};

const call = (name: string, input: object, id = "1"): ModelPart => ({
  type: "call",
  call: { id, name, arguments: JSON.stringify(input) },
});

interface Given extends RunOptions {
  readonly files: Readonly<Record<string, string>>;
  readonly model?: Model;
  readonly world?: Partial<DocumentWorld>;
}

function worldOf({ files, world }: Given): DocumentWorld {
  return { root: "/project", files: memoryFiles(files), ...world };
}

function optionsOf(given: Given): RunOptions & { readonly catalog: Catalog } {
  const world = worldOf(given);
  const bounded = boundedWorld(world, () => undefined);
  const catalog = catalogOf(
    builtInEntries({ builtIns: builtInGadgets, world: bounded }).map((entry) => ({ entry })),
  );
  const { files: _files, model = fakeModel([]), world: _world, ...options } = given;
  const open = async () => {
    const { home, settings } = await openProgramDocument("x.md", { world, model });
    const defaults = programDefaults(settings);
    return homeMeans(home, {
      wishes: { defaults, showsOperations: false, budget: {}, limits: {} },
      result: () => assert.fail("a result document was written"),
    });
  };
  return { catalog, containers: () => Promise.resolve(fileCalls(open)), ...options };
}

const run = async (text: string, given: Given): Promise<RunEvent[]> =>
  await Array.fromAsync(runCalls([text], optionsOf(given)));

const failureOf = async (text: string, given: Given) =>
  ofType(await run(text, given), "call-error").map(({ code, error, flag }) => [code, error, flag]);

Deno.test("RunFile tells what it takes", async () => {
  const { RunFile } = builtInGadgets;
  assert.ok(RunFile);
  const gadget = (await RunFile())(boundedWorld(worldOf({ files: {} }), () => undefined));
  await checkDescription(gadget, "RunFile");
  assert.throws(() => gadget.run?.({} as never, {} as never), /works as a call of a run only/);
});

Deno.test("a call runs a document: its steps stand below the key of the call, and the result is what it returns", async () => {
  const files = { "plans/a.md": "@llm\nprompt: Say it.\n\n@return\nblock: llm-response-block\n" };
  const events = await run(block("a", "./plans/a.md"), { files, model: fakeModel(["said"]) });
  assert.equal(endOf(events).value, "# LLM response block\nsaid");
  assert.deepEqual(ofType(events, "step-start").map(({ key }) => key), [
    "call:a/op[1]",
    "call:a/op[1]/turn[1]/model",
    "call:a/op[4]",
  ]);
  assert.deepEqual(ofType(events, "block-merge").map(({ step }) => step), ["call:a/op[1]"]);
});

Deno.test("without @return it is the last answer; without one null", async () => {
  const files = { "a.md": "@llm\nprompt: x\n\n@llm\nprompt: y\n", "b.md": "# B\n" };
  const events = await run(block("a", "a.md") + block("b", "b.md"), {
    files,
    model: fakeModel(["1", "2\n"]),
  });
  assert.deepEqual(endOf(events).value, { a: "2", b: null });
});

Deno.test("prompt and inputs are given to the document", async () => {
  const files = { "a.md": "---\ninputs: [{name: topic}]\n---\n@return\nblock: input-parameters/*\n" };
  const events = await run(block("a", "a.md", { prompt: "Go.", "inputs/topic": "42" }), { files });
  assert.equal(
    endOf(events).value,
    "# Input Parameters {id=input-parameters}\nGo.\n\n## topic {id=topic}\n42",
  );
});

Deno.test("what keeps a document from running is the error of the call", async () => {
  const files = {
    "input.md": "---\ninputs: [{name: topic}]\n---\n# A\n",
    "typo.md": "# A\n\n@llm\npromt: x\n",
    "shell.md": "@shell\nprompt: date\n",
    "fails.md": "@llm\nprompt: x\n",
  };
  const error = async (file: string, more = {}) => (await failureOf(block("a", file, more), { files }))[0];
  assert.deepEqual(await error("none.md"), ["input", 'Cannot read "none.md": no such file', undefined]);
  assert.deepEqual(await error("a.calls"), [
    "input",
    'RunFile runs documents, whose names end with .md; found "a.calls"',
    undefined,
  ]);
  assert.deepEqual(await error("a.ctx"), [
    "input",
    '"a.ctx" is the result of a document: run the document itself, "a.md"',
    undefined,
  ]);
  assert.deepEqual(await error("input.md"), ["input", 'input "topic" needs a value', undefined]);
  assert.deepEqual(await error("input.md", { "inputs/x": "1" }), [
    "input",
    'input.md has no input "x"',
    undefined,
  ]);
  assert.deepEqual(await error("typo.md"), [
    "input",
    'typo.md:4:1: error: @llm has no parameter "promt" (did you mean "prompt"?)',
    undefined,
  ]);
  assert.deepEqual(await error("shell.md"), [
    "permission",
    "shell.md:1:1: error: @shell needs run permission (--allow-run)",
    "--allow-run",
  ]);
  const [code, text] = await error("../out.md") ?? [];
  assert.equal(code, "permission");
  assert.match(String(text), /out\.md" needs read permission/);
  const [failed, why] = await error("fails.md") ?? [];
  assert.equal(failed, "failed");
  assert.match(String(why), /^fails\.md failed: fails\.md:1:1: error: @llm: model call failed: /);
});

Deno.test("documents that run themselves come to an end, and are named", async () => {
  const files = { "a.md": "@llm\nprompt: x\ntools: RunFile\n", "b.md": "@llm\nprompt: x\ntools: RunFile\n" };
  const asked = (file: string) => [call("RunFile", { file: file === "a" ? "b.md" : "a.md" })];
  let n = 0;
  const model = fakeModel(({ messages }) =>
    messages.at(-1)?.role === "tool" ? String(messages.at(-1)?.content) : asked(++n % 2 === 1 ? "a" : "b")
  );
  const events = await run(block("a", "a.md"), { files, model });
  assert.equal(n, 16);
  assert.match(
    String(endOf(events).value),
    /nested 16 deep \(a\.md -> b\.md -> a\.md -> \.\.\.\): a document that runs itself never ends/,
  );
});

Deno.test("in a document: the path is that of the project, no file is written, a failure is told to the model", async () => {
  const files = {
    "deep/a.md": "@llm\nprompt: x\ntools: [RunFile]\n",
    "b.md": "@llm\nprompt: inner\n",
  };
  const model = fakeModel([
    [call("RunFile", { file: "b.md" })],
    "from b",
    [call("RunFile", { file: "none.md" })],
    "done",
  ]);
  const events = await run(block("a", "deep/a.md"), { files, model });
  assert.equal(endOf(events).value, "done");
  const told = model.requests.at(-1)?.messages.filter(({ role }) => role === "tool").map(({ content }) =>
    content
  );
  assert.deepEqual(told, ["from b", '{\n  "error": "file not found: \\"none.md\\""\n}']);
  const keys = ofType(events, "step-start").map(({ key }) => key).filter((key) => key.includes("call:1/op"));
  assert.deepEqual(keys, [
    "call:a/op[1]/turn[1]/call:1/op[1]",
    "call:a/op[1]/turn[1]/call:1/op[1]/turn[1]/model",
  ]);
});

Deno.test("it may do what the caller may, narrowed by its own front matter; calls beside it are not", async () => {
  const files = {
    "a.md": "---\npermissions: {read: [docs]}\n---\n@llm\nprompt: x\ntools: [ReadFile]\n",
    "b.md": "@llm\nprompt: y\ntools: [ReadFile]\n",
    "key.txt": "K",
  };
  const model = fakeModel(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === "tool" ? String(last.content) : [call("ReadFile", { path: "key.txt" })];
  });
  const events = await run(block("a", "a.md") + block("b", "b.md"), { files, model });
  const value = endOf(events).value as { readonly a: string; readonly b: string };
  assert.match(value.a, /which the front matter of a\.md does not allow \(permissions\.read\)/);
  assert.match(value.b, /K/);
});

Deno.test("a prompt is no way around what front matter narrows", async () => {
  const files = { "a.md": "---\npermissions: {run: false}\n---\n@llm\nprompt: x\ntools: [RunPrompt]\n" };
  const model = fakeModel([[call("RunPrompt", { path: "p" })], "done"]);
  const options = optionsOf({ files, model });
  const containers = async () => ({
    ...await options.containers?.(),
    prompt: () => assert.fail("the prompt was asked"),
  });
  const events = await Array.fromAsync(runCalls([block("a", "a.md")], { ...options, containers }));
  assert.equal(endOf(events).value, "done");
  assert.match(
    String(model.requests[1]?.messages.at(-1)?.content),
    /RunPrompt cannot run here: the front matter narrows what this document may do/,
  );
});

Deno.test("a model calls it natively and in blocks", async () => {
  const files = { "a.md": "# A\n\n@return\nblock: a\n" };
  const native = [[call("RunFile", { file: "a.md" })], "done"];
  const blocks = [block("x", "a.md"), "done"];
  for (const [toolsMode, replies] of [["native", native], ["blocks", blocks]] as const) {
    const model = fakeModel(replies);
    const options = optionsOf({ files, model: fakeModel([]) });
    const events = await Array.fromAsync(
      ask("Go", { ...options, model, tools: ["RunFile"], policy: { toolsMode } }),
    );
    assert.equal(endOf(events).status, "done", endOf(events).error);
    assert.deepEqual(ofType(events, "call-result").map(({ result }) => result), ["# A"], toolsMode);
  }
});

inBothJournals(
  "killed at every point and resumed, it ends as if it had not been; no model is asked twice",
  async ({ isStrict }) => {
    const files = {
      "a.md":
        "@llm\nprompt: one\n\n@import\nfile: part.md\n\n@llm\nprompt: two\n\n@return\nblock: llm-response-block-2\n",
      "part.md": "# Part\nx\n",
    };
    const text = block("a", "a.md");
    let kills = 0;
    for (let n = 1; n < 40; n++) {
      for (const isDone of [false, true]) {
        const journal = memoryJournal({ isAlive: () => false });
        const first = journal.create({ kind: "calls", input: null });
        const mortal = mortalJournal(first, { n, isDone });
        const answers: string[] = [];
        const model = fakeModel(({ messages }) => {
          const answer = String(messages.at(-1)?.content);
          answers.push(answer);
          return answer;
        });
        await run(text, { files, model, journal: mortal });
        if (!mortal.died()) continue;
        const { status } = journal.read(first.id).summary;
        if (status !== "running" && status !== "stopped") continue;
        kills++;
        const strict = isStrict ? strictJournal(journal) : undefined;
        const events = await goneOn(strict ?? journal, first.id, {
          start: (again) => run(text, { files, model, journal: again }),
        });
        assert.equal(endOf(events).value, "# LLM response block\ntwo", `killed at ${n}`);
        const seqs = events.map(({ seq }) => seq);
        assert.deepEqual(seqs, [...seqs].sort((a, b) => a - b));
        assert.ok(answers.length <= 3 + (strict?.losses.size ?? 0), `asked ${answers} when killed at ${n}`);
      }
    }
    assert.ok(kills > 10, String(kills));
  },
);

/** A document with every kind of operation: commands, an answer with a tool, a file that is written, one that is run, a jump back. */
const WHOLE = {
  "a.md": `# Plan

Do it all.

@import
file: part.md

@llm
prompt: Work
tools: [Calculate]
use-header: "# Report"
save-to-file: out/report.md

@run
file: callee.md
block: plan

# Round

round1

@shell
prompt: next
env: { NAME: { block: round } }
use-header: "# Round"
mode: replace
to: round

@goto
block: round
if: { block: round, not-equals: over }

@return
block: [report, callee-output, round, part-output]
`,
  "part.md": "# Part\n\n@shell\nprompt: part\nuse-header: '# Part output'\n",
  "callee.md": "@shell\nprompt: callee\nuse-header: '# Callee output'\n\n@return\nblock: callee-output\n",
};

/** What a script says: the round that follows, or its own name. */
const NEXT: Readonly<Record<string, string>> = { round1: "round2", round2: "round3", round3: "over" };

inBothJournals(
  "a document with every kind of operation that dies anywhere ends the same, and no command is run twice",
  async ({ isStrict }) => {
    const text = block("a", "a.md");
    const live = async (options: Pick<RunOptions, "journal">, done: string[], files: Files) => {
      const shell: Shell = {
        async run(_command, { args = [], env = {} }) {
          const script = args.at(-1) ?? "";
          const name = script === "next" ? /round\d/.exec(env.NAME ?? "")?.[0] ?? "" : script;
          await pause(0);
          done.push(name);
          const stdout = NEXT[name] ?? name;
          return { exitCode: 0, stdout, stderr: "", truncated: false, dropped: 0, stopped: false };
        },
      };
      const model = fakeModel(({ messages }) =>
        messages.at(-1)?.role === "tool" ? "it is 42" : [call("Calculate", { expression: "6*7" })]
      );
      const world = { policy: { permit: () => undefined }, shell, files };
      return await run(text, { files: {}, world, model, ...options });
    };
    const [plain, files]: [string[], Files] = [[], memoryFiles(WHOLE)];
    const want = endOf(await live({}, plain, files));
    assert.deepEqual(
      [want.status, plain],
      ["done", ["part", "callee", "round1", "round2", "round3"]],
      want.error,
    );
    let deaths = 0;
    for (let n = 1;; n += isStrict ? 7 : 3) {
      for (const isDone of [false, true]) {
        const journal = memoryJournal({ isAlive: () => false });
        const first = mortalJournal(journal.create({ kind: "calls", input: null }), { n, isDone });
        const [done, files]: [string[], Files] = [[], memoryFiles(WHOLE)];
        await live({ journal: first }, done, files);
        await pause(2); // what still ran has ended by now
        if (!first.died()) {
          assert.ok(deaths >= (isStrict ? 8 : 20), String(deaths));
          return;
        }
        deaths++;
        if (!["running", "stopped"].includes(journal.read(first.id).summary.status)) continue;
        const settle = (again: RunJournal): void => {
          for (const { key, status, idempotent, input } of journal.read(first.id).steps) {
            if (status === "finished" || idempotent) continue;
            const { script, env } = Object(input);
            const name = script === "next" ? /round\d/.exec(env.NAME)?.[0] ?? "" : script;
            const outcome = { ok: { text: NEXT[name] ?? name, exitCode: 0, isTimedOut: false } };
            again.settle(key, done.includes(name) ? { outcome } : "rerun");
          }
        };
        const events = await goneOn(isStrict ? strictJournal(journal) : journal, first.id, {
          settle,
          start: (again) => live({ journal: again }, done, files),
        });
        const where = `killed at operation ${n}, ${isDone ? "after" : "before"} it`;
        const { status, value, error } = endOf(events);
        assert.deepEqual([status, value], [want.status, want.value], `${where}: ${error}`);
        assert.deepEqual(done, plain, where);
        assert.equal(await files.readText("out/report.md"), "it is 42", where);
        const seqs = events.map(({ seq }) => seq);
        assert.deepEqual(seqs, [...new Set(seqs)].sort((a, b) => a - b), where);
      }
    }
  },
);

Deno.test("a record answers it without any file and any model", async () => {
  const files = { "a.md": "@llm\nprompt: x\ntools: [Calculate]\n\n@return\nblock: llm-response-block\n" };
  const model = fakeModel([[call("Calculate", { expression: "6*7" })], "it is 42"]);
  const lines: RecordLine[] = [];
  const recorder = { write: (line: RecordLine) => void lines.push(line) };
  const text = block("a", "a.md");
  const events = await run(text, { files, model, recorder: recorder as never });
  assert.equal(endOf(events).status, "done");
  const replay = new Replay({ id: endOf(events).run, kind: "calls" } as never, lines);
  const replayed = await Array.fromAsync(
    runCalls([], { ...optionsOf({ files: {} }), catalog: catalogOf([]), replay }),
  );
  assert.deepEqual(replayed, events);
});

const A_MD = "---\nmodel: script/a.yml\n---\n@llm\nprompt: x\n\n@return\nblock: llm-response-block\n";

Deno.test("command line: calls, ask, prompts; --record and --replay; nothing is written", async () => {
  await using project = await testProject({
    "main.calls": block("a", "a.md"),
    "a.md": A_MD,
    "a.yml": "- {text: hello, repeat: true}\n",
    "ask.yml": "- calls: [{name: RunFile, input: {file: a.md}}]\n- text: asked\n",
    "prompts/outer.prompt.md": "---\ntools: [RunFile]\n---\nGo\n",
  });
  const first = await project.run(["run", "main.calls", "--record", "r.jsonl"]);
  assert.deepEqual([first.code, first.stdout], [0, "# LLM response block\nhello"], first.stderr);
  await Deno.remove(`${project.folder}/a.yml`);
  const again = await project.run(["run", "main.calls", "--replay", "r.jsonl"]);
  assert.deepEqual([again.code, again.stdout], [0, first.stdout], again.stderr);
  await project.write("a.yml", "- {text: hello, repeat: true}\n");
  const asked = await project.run([
    "ask",
    "Go",
    "-m",
    "script/ask.yml",
    "--tools",
    "RunFile",
    "--tools-mode",
    "native",
    "--json",
  ]);
  const report = JSON.parse(asked.stdout);
  assert.deepEqual(
    [report.value, report.calls[0]?.result],
    ["asked", "# LLM response block\nhello"],
    asked.stderr,
  );
  const prompted = await project.run(["run", "outer", "-m", "script/ask.yml", "--json"]);
  assert.deepEqual(
    [JSON.parse(prompted.stdout).value, JSON.parse(prompted.stdout).calls[0]?.result],
    ["asked", "# LLM response block\nhello"],
    prompted.stderr,
  );
  await assert.rejects(project.read("a.ctx"));
});

Deno.test("command line: a permission that is missing is exit code 5, and with the flag it runs", async () => {
  await using project = await testProject({
    "main.calls": block("a", "a.md"),
    "a.md": "@shell\nprompt: echo hi\n\n@return\nblock: os-shell-tool-response-block\n",
  });
  const refused = await project.run(["run", "main.calls"]);
  assert.equal(refused.code, 5, refused.stderr);
  assert.match(refused.stderr, /@shell needs run permission \(--allow-run\)/);
  assert.match(refused.stderr, /refused; to allow it, .*--allow-run/);
  const allowed = await project.run(["run", "main.calls", "--allow-run"]);
  assert.deepEqual([allowed.code, allowed.stdout], [0, "# OS Shell Tool response block\nhi"], allowed.stderr);
});
