// However Orrery ends, and whatever its gadgets are at: no process and no folder is left.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { leftProcesses, markedProcesses, seesProcesses } from "../_marked_processes.ts";
import { readUntil, type TestProject, testProject } from "../_project.ts";
import { compiledBinary, denoCommand, runProgram } from "../_run.ts";
import { isThorough } from "../_thorough.ts";

const gadget = (name: string, run: string, top = ""): string =>
  `${top}
export default {
  name: "${name}",
  description: "A test.",
  timeoutMs: 120_000,
  ${name === "Blocks" ? 'permissions: { run: ["sleep"] },' : ""}
  async run(_: unknown, { log }: { log(text: string): void }) {
    log("reached");
    await new Promise((resolve) => setTimeout(resolve, 20));
    ${run}
    return "${name}";
  },
};
`;

const FILES = {
  "gadgets/good.ts": gadget("Good", ""),
  "gadgets/waits.ts": gadget("Waits", "await new Promise((resolve) => setTimeout(resolve, 90_000));"),
  "gadgets/loops.ts": gadget("Loops", "while (true);"),
  "gadgets/blocks.ts": gadget("Blocks", `new Deno.Command("sleep", { args: ["90"] }).outputSync();`),
  "gadgets/later.ts": gadget("Later", `return (await import("./_part.ts")).part;`),
  "gadgets/_part.ts": `export const part = "a part";\n`,
};

const call = (name: string, id = name.toLowerCase(), args = ""): string =>
  `!!!GADGET_START:${name}:${id}\n${args}!!!GADGET_END\n`;

interface State {
  readonly what: string;
  readonly calls: string;
  /** Besides those of the project. */
  readonly files?: Readonly<Record<string, string>>;
  /** What it says when it is so far; else so many milliseconds after its start. */
  readonly until: string | number;
}

const STATES: readonly State[] = [
  { what: "starting", calls: call("Waits"), until: 120 },
  {
    what: "describing",
    calls: call("Good"),
    files: { "gadgets/never.ts": gadget("Never", "", "while (true);") },
    until: 700,
  },
  {
    what: "idle",
    calls: call("Good") + call("Wait", "w:good", "!!!ARG:seconds\n90\n"),
    until: `"done":0,"total":90`,
  },
  { what: "in a call", calls: call("Waits"), until: "reached" },
  { what: "in an endless loop", calls: call("Loops"), until: "reached" },
  { what: "in an effect that it waits for", calls: call("Blocks"), until: "reached" },
];

const ENDS: readonly (readonly [how: string, signals: readonly Deno.Signal[]])[] = [
  ["Ctrl-C", ["SIGINT"]],
  ["Ctrl-C twice", ["SIGINT", "SIGINT"]],
  ["SIGTERM", ["SIGTERM"]],
  ["kill -9", ["SIGKILL"]],
];

interface Place extends AsyncDisposable {
  readonly project: TestProject;
  readonly home: string;
  readonly temporary: string;
  readonly env: Readonly<Record<string, string>>;
}

async function place(files: Readonly<Record<string, string>> = {}): Promise<Place> {
  const project = await testProject({ ...FILES, ...files });
  const home = dirname(project.folder);
  const temporary = join(home, "tmp");
  await Deno.mkdir(temporary);
  return {
    project,
    home,
    temporary,
    env: { ...project.env, TMPDIR: temporary },
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

/** All of them in the soak; else one, another one each time. */
const someOf = <T>(all: readonly T[], at: number): readonly T[] =>
  isThorough ? all : all.slice(at % all.length).slice(0, 1);

const folders = (temporary: string): readonly string[] =>
  [...Deno.readDirSync(temporary)].map(({ name }) => name);

const RUN = ["run", "a.calls", "--jsonl", "--ephemeral", "--allow-gadget", "Blocks=run:sleep"];

for (const [nth, { what, calls, files, until }] of STATES.entries()) {
  Deno.test(`nothing is left, whatever ends it while a gadget is ${what}`, async (t) => {
    if (!seesProcesses) return console.log("not run here: only Linux lets us look for processes");
    await using at = await place({ ...files, "a.calls": calls });
    // What is known of the modules is kept, but for the one that cannot be loaded.
    const known = typeof until === "number"
      ? undefined
      : await at.project.run(["list", "gadgets"], { env: at.env });
    assert.equal(known?.code ?? 0, 0, known?.stderr);
    const ends = someOf(ENDS, nth);
    for (const [how, signals] of ends) {
      await t.step(how, async () => {
        const child = at.project.start(RUN, { env: at.env });
        await child.stdin.close();
        const stderr = new Response(child.stderr).text();
        const reader = child.stdout.getReader();
        const told = typeof until === "string" ? await readUntil(reader, until) : "";
        await new Promise((resolve) => setTimeout(resolve, typeof until === "number" ? until : 120));
        assert.ok(markedProcesses(at.home).length > 0, told);
        for (const signal of signals) child.kill(signal);
        const started = performance.now();
        await child.status;
        assert.ok(performance.now() - started < 4_000, `it took ${performance.now() - started} ms`);
        await Promise.all([reader.cancel(), stderr]);
        assert.deepEqual(await leftProcesses(at.home, 3_000), []);
        if (how !== "kill -9" || typeof until === "string") assert.deepEqual(folders(at.temporary), []);
      });
    }
    if (!ends.some(([how]) => how === "kill -9")) return;
    await t.step("the folders of those that were killed go with the next run", async () => {
      await at.project.write("b.calls", call("Good"));
      await Deno.remove(join(at.project.folder, "gadgets/never.ts")).catch(() => undefined);
      const { code, stderr } = await at.project.run(["run", "b.calls", "--ephemeral"], {
        env: at.env,
        alone: true, // a process sweeps once
      });
      assert.equal(code, 0, stderr);
      assert.deepEqual(folders(at.temporary), []);
    });
  });
}

Deno.test("nothing is left of commands that come to their end", async (t) => {
  if (!seesProcesses) return console.log("not run here: only Linux lets us look for processes");
  const block = `{"text":"!!!GADGET_START:Good:a\\n!!!GADGET_END\\n"}\n{"text":"done"}\n`;
  await using at = await place({
    "a.calls": call("Good") + call("Later"),
    "script.jsonl": block,
    "doc.md": "# Ask {#ask}\n\n@llm\nprompt: Hi\ntools: [Good]\n",
  });
  const COMMANDS: readonly (readonly [args: readonly string[], stdin?: string])[] = [
    [["run", "a.calls", "--ephemeral"]],
    [["list", "gadgets"]],
    [["show", "gadget", "Good"]],
    [["check", "a.calls"]],
    [["ask", "Hi", "-m", "script/script.jsonl", "--tools", "Good", "--ephemeral", "-q"]],
    [["chat", "-m", "script/script.jsonl", "--tools", "Good", "--ephemeral", "-q"], "Hi\n"],
  ];
  for (const [args, stdin = ""] of COMMANDS) {
    await t.step(args.join(" "), async () => {
      const { code, stdout, stderr } = await at.project.run(args, { env: at.env, stdin });
      assert.equal(code, 0, stderr + stdout);
      assert.deepEqual(await leftProcesses(at.home, 2_000), []);
      assert.deepEqual(folders(at.temporary), []);
    });
  }
});

const MOD = JSON.stringify(new URL("../../mod.ts", import.meta.url).href);
const RUN_GOOD = `
async function good(catalog) {
  const results = [];
  for await (const event of runCalls([${JSON.stringify(call("Good"))}], { catalog })) {
    if (event.type === "call-result") results.push(event.result);
    if (event.type === "call-error") results.push(event.error);
  }
  return results.join();
}
`;

/** Programs, and the exit code that each ends with. */
const PROGRAMS: Readonly<Record<string, readonly [text: string, code: number]>> = {
  "one that makes calls and comes to its end": [
    `const catalog = await loadCatalog({ root: "." }); console.log(await good(catalog));`,
    0,
  ],
  "one that closes its catalogue": [
    `const catalog = await loadCatalog({ root: "." }); console.log(await good(catalog)); await catalog.close?.();`,
    0,
  ],
  "one with several catalogues at once": [
    `const all = await Promise.all([1, 2, 3].map(() => loadCatalog({ root: "." })));
     console.log(new Set(await Promise.all(all.map(good))).size === 1 ? "Good" : "not alike");`,
    0,
  ],
  "one that throws": [
    `const catalog = await loadCatalog({ root: "." }); console.log(await good(catalog)); throw new Error("on purpose");`,
    1,
  ],
  "one that throws while a call is on": [
    `const catalog = await loadCatalog({ root: "." }); console.log(await good(catalog));
     for await (const event of runCalls([${JSON.stringify(call("Waits"))}], { catalog })) {
       if (event.type === "call-log") throw new Error("on purpose");
     }`,
    1,
  ],
  "one that exits while a call is on": [
    `const catalog = await loadCatalog({ root: "." }); console.log(await good(catalog));
     for await (const event of runCalls([${JSON.stringify(call("Loops"))}], { catalog })) {
       if (event.type === "call-log") setTimeout(() => Deno.exit(3), 100);
     }`,
    3,
  ],
  "one that leaves a run while a call is on": [
    `const catalog = await loadCatalog({ root: "." }); console.log(await good(catalog));
     for await (const event of runCalls([${
      JSON.stringify(call("Waits"))
    }], { catalog })) if (event.type === "call-log") break;`,
    0,
  ],
  "one that runs a document of a project": [
    `const call = { type: "call" as const, call: { id: "x", name: "Good", arguments: "{}" } };
     let text = "";
     for await (const event of runDocument("doc.md", { model: fakeModel([[call], "done"]) })) {
       if (event.type === "call-result") console.log(event.result);
       if (event.type === "call-error" || (event.type === "run-end" && event.error)) console.log(event.error);
     }`,
    0,
  ],
  "one that holds a conversation": [
    `const catalog = await loadCatalog({ root: "." });
     const agent = await loadAgent({ file: "a.agent.yml", text: JSON.stringify({ version: "0.1", structure: { id: "test",
       action: { id: "main", chain: [{ id: "g", gadget: { name: "Good", input: {} } }, { id: "m", message: { message: "told" } }] } } }) });
     const found = await catalog.maybeFind("Good")?.load();
     const conversation = await openConversation(agent, { gadgets: found === undefined ? [] : [found] });
     for await (const event of conversation.start()) {
       if (event.type === "call-result") console.log(event.result);
       if (event.type === "step-end" && event.key.includes("gadget")) console.log("Good");
       if (event.type === "call-error" || (event.type === "run-end" && event.error)) console.log(event.error);
     }`,
    0,
  ],
  "one that rejects": [
    `const catalog = await loadCatalog({ root: "." }); console.log(await good(catalog)); Promise.reject(new Error("on purpose"));`,
    1,
  ],
};

Deno.test("nothing is left of programs, and they end by themselves", async (t) => {
  if (!seesProcesses) return console.log("not run here: only Linux lets us look for processes");
  if (compiledBinary() !== undefined) return console.log("not run here: the binary runs no programs");
  await using at = await place({ "doc.md": "@llm\nprompt: x\ntools: Good\n" });
  const [deno, ...flags] = denoCommand().slice(0, -1);
  const programs = Object.entries(PROGRAMS).filter((_, at) => isThorough || at % 2 === 0);
  for (const [what, [text, code]] of programs) {
    await t.step(what, async () => {
      await at.project.write(
        "program.ts",
        `import { fakeModel, loadAgent, loadCatalog, openConversation, runCalls, runDocument } from ${MOD};\n${
          RUN_GOOD.replace("(catalog)", "(catalog: Awaited<ReturnType<typeof loadCatalog>>)")
        }\n${text}\n`,
      );
      const program = join(at.project.folder, "program.ts");
      const started = performance.now();
      const ended = await runProgram([deno ?? "", ...flags, program], {
        cwd: at.project.folder,
        env: at.env,
        timeoutMs: 20_000,
      });
      assert.match(ended.stdout, /^Good\n/, ended.stderr);
      assert.equal(ended.code, code, ended.stderr);
      assert.ok(performance.now() - started < 10_000, `${performance.now() - started} ms`);
      assert.deepEqual(await leftProcesses(at.home, 2_000), []);
      assert.deepEqual(folders(at.temporary), []);
    });
  }
});

/** What a program of a user's does, and how it says that it is so far. */
const SIGNALLED: Readonly<Record<string, string>> = {
  "while a module is loaded": `loadCatalog({ root: "." }); setInterval(() => {}, 1000);`,
  "while a process is kept that may import more": `const catalog = await loadCatalog({ root: "." });
    for await (const event of runCalls([${JSON.stringify(call("Later"))}], { catalog })) {
      if (event.type === "call-result") console.log(event.result);
    }
    setInterval(() => {}, 1000);`,
};

const OWN_HANDLER = `const catalog = await loadCatalog({ root: "." });
  const tell = async (): Promise<void> => {
    for await (const event of runCalls([${JSON.stringify(call("Kept"))}], { catalog })) {
      if (event.type === "call-result") console.log(event.result);
      if (event.type === "call-error") console.log(event.error);
    }
  };
  let heard = 0;
  Deno.addSignalListener("SIGINT", () => {
    console.log("heard " + ++heard);
    if (heard === 2) Deno.exit(7);
    void tell();
  });
  await tell();
  setInterval(() => {}, 1000);`;

const KEPT = gadget(
  "Kept",
  `if (calls++ === 0) return "kept"; return (await import("./_part.ts")).part;`,
  "let calls = 0;",
);

async function startProgram(at: Place, text: string): Promise<Deno.ChildProcess> {
  const [deno = "", ...flags] = denoCommand().slice(0, -1);
  await at.project.write("program.ts", `import { loadCatalog, runCalls } from ${MOD};\n${text}\n`);
  return at.project.start([], {
    env: at.env,
    command: [deno, ...flags, join(at.project.folder, "program.ts")],
  });
}

/** What is there still when there was time to go. */
async function none(found: () => readonly string[]): Promise<readonly string[]> {
  for (let left = 80; left > 0 && found().length > 0; left--) {
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return found();
}

Deno.test("a program that a signal ends leaves nothing, and ends as it would without gadgets", async (t) => {
  if (!seesProcesses) return console.log("not run here: only Linux lets us look for processes");
  if (compiledBinary() !== undefined) return console.log("not run here: the binary runs no programs");
  for (const [nth, [what, text]] of Object.entries(SIGNALLED).entries()) {
    const never = { "gadgets/never.ts": gadget("Never", "", "while (true);") };
    await using at = await place(what.includes("loaded") ? never : {});
    for (const signal of someOf(["SIGINT", "SIGKILL", "SIGTERM", "SIGHUP"] as const, nth)) {
      await t.step(`${what}: ${signal}`, async () => {
        const program = await startProgram(at, text);
        const stderr = new Response(program.stderr).text();
        const reader = program.stdout.getReader();
        if (what.includes("loaded")) {
          while (folders(at.temporary).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
        } else await readUntil(reader, "a part");
        assert.ok(folders(at.temporary).length > 0);
        program.kill(signal);
        await program.stdin.close().catch(() => undefined);
        const { signal: ended } = await program.status;
        assert.equal(ended, signal);
        await Promise.all([reader.cancel(), stderr]);
        assert.deepEqual(await none(() => folders(at.temporary)), []);
        assert.deepEqual(await leftProcesses(at.home, 2_000), []);
      });
    }
  }
});

Deno.test("a program that listens to SIGINT itself hears it once each time, and goes on with its gadgets", async () => {
  if (!seesProcesses) return console.log("not run here: only Linux lets us look for processes");
  if (compiledBinary() !== undefined) return console.log("not run here: the binary runs no programs");
  await using at = await place({ "gadgets/kept.ts": KEPT });
  const program = await startProgram(at, OWN_HANDLER);
  const stderr = new Response(program.stderr).text();
  const reader = program.stdout.getReader();
  assert.equal(await readUntil(reader, "kept\n"), "kept\n");
  assert.ok(folders(at.temporary).length > 0);
  program.kill("SIGINT");
  assert.equal(await readUntil(reader, "a part\n"), "heard 1\na part\n");
  program.kill("SIGINT");
  assert.equal(await readUntil(reader, "heard 2\n"), "heard 2\n");
  const { code, signal } = await program.status;
  assert.deepEqual([code, signal], [7, null]);
  await Promise.all([reader.cancel(), program.stdin.close().catch(() => undefined)]);
  assert.equal(await stderr, "");
  assert.deepEqual(await none(() => folders(at.temporary)), []);
  assert.deepEqual(await leftProcesses(at.home, 2_000), []);
});
