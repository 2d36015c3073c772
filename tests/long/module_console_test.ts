// What modules of a project tell the console never reaches stdout, which is for the result of a command.

import assert from "node:assert/strict";
import { testProject } from "../_project.ts";
import { PROJECT_ROOT } from "../_run.ts";

const ORRERY = JSON.stringify(new URL(`file://${PROJECT_ROOT}/mod.ts`).href);

/** Calls every method there is, those that nobody has thought of too. */
const EVERYTHING = `for (const name of Object.getOwnPropertyNames(console)) {
  const method = console[name];
  if (typeof method !== "function" || /^[A-Z]|^group|^time/.test(name)) continue;
  method(name === "assert" ? false : "WORD " + name);
}
console.time("WORD t");
console.timeLog("WORD t", 1);
console.timeEnd("WORD t");
console.group("WORD group");
console.log("WORD inside");
console.error("WORD error inside");
console.groupCollapsed("WORD collapsed");
console.groupEnd();
console.groupEnd();
console.log("%s and %d", "WORD", 5, { a: { b: 1 } });
console.count();
console.count();
console.dir({ a: { b: { c: 1 } } }, { depth: 0 });
console.table([{ a: 1, b: 2 }], ["a"]);
`;

const FILES = {
  "orrery.yaml":
    "models: { default: script/echo }\nagents:\n  - { name: plain, model: script/echo, system: You help. }\n",
  "prompts/code.ts": `import { definePrompt } from ${ORRERY};\n${EVERYTHING}
export const hi = definePrompt({ template: "Hi" });\n`,
  "tactics/shout.ts": `import { defineTactic } from ${ORRERY};\n${EVERYTHING}
export const shout = defineTactic({ name: "shout", agents: [], call: (task) => { ${EVERYTHING} return task; } });\n`,
  "gadgets/loud.ts": `${EVERYTHING}
export default { name: "Loud", description: "Loud.", input: { type: "object" }, run: () => { ${EVERYTHING} return "quiet"; } };\n`,
  "prompts/tool.prompt.md": "---\ntools: [Loud]\n---\nHi",
  "loud.yml": "- calls: [{ name: Loud, input: {} }]\n- text: done\n",
  "a.calls": "!!!GADGET_START:Loud\n",
};

/** How modules that run in the process of Orrery are looked at: the user wants `Loud` there. */
const IN_PROCESS = {
  "../config/orrery/config.yaml": "gadgets: { isolation: { ../../project/Loud: none } }\n",
};

const CODE_CASES: readonly Case[] = [
  [["run", "code/hi", "--trust-code"], "ECHO[Hi]"],
  [["run", "shout", "-i", "task=x", "--trust-code"], "x"],
];
const CALL_CASES: readonly Case[] = [
  [["run", "a.calls", "--trust", "Loud"], "quiet"],
  [["run", "tool", "--trust", "Loud", "-m", "script/loud.yml"], "done"],
];
const LOOK_CASES: readonly Case[] = [
  [["ask", "Hi", "--tools", "Loud", "--trust", "Loud"], "ECHO[Hi]"],
  [["list", "gadgets", "--trust", "Loud", "--names"], /(^|\n)Loud\n/],
  [["show", "prompt", "tool", "--trust", "Loud", "--json"], /^\{/],
];
type Case = readonly [args: readonly string[], stdout: string | RegExp];

Deno.test("every method of the console is kept away from stdout", async (t) => {
  await using own = await testProject({ ...FILES, ...IN_PROCESS });
  for (const [args, expected] of [...CODE_CASES, ...CALL_CASES, ...LOOK_CASES]) {
    const { code, stdout, stderr } = await own.run(args, { alone: true });
    await t.step(args.join(" "), () => {
      assert.equal(code, 0, stderr);
      assertQuiet(stdout, expected);
      assertTold(stderr);
      assert.match(
        stderr,
        /\nWORD and 5 \{ a: \{ b: 1 \} \}\ndefault: 1\ndefault: 2\n\{ a: \[Object\] \}\n┌[─┬]+┐\n│ \(index\) │ a │\n/,
      );
    });
  }
});

Deno.test("what a gadget tells the console of its own process is what its call logs", async (t) => {
  await using own = await testProject(FILES);
  for (const [args, expected] of CALL_CASES) {
    const { code, stdout, stderr } = await own.run(args, { alone: true });
    await t.step(args.join(" "), () => {
      assert.equal(code, 0, stderr);
      assertQuiet(stdout, expected);
      const logged = [...stderr.matchAll(/^ {2}log {3}\S+ {2}(.*\n)/gm)].map(([, line]) => line).join("");
      assertTold(logged);
      assert.match(logged, /\nWORD and 5 \{ a: \{ b: 1 \} \}\ndefault: 1\ndefault: 2\n\{ a: \[Object\] \}\n/);
      assert.match(
        logged,
        /(?:^|\n)Trace: WORD trace\n {4}at [^\n]*gadgets\/loud\.ts:\d+:\d+\)?\n/,
        "its place is in its source",
      );
      assert.doesNotMatch(stderr.replaceAll(/^ {2}log .*\n/gm, ""), /WORD/);
    });
  }
});

Deno.test("what a gadget tells the console when it is only looked at is told nowhere", async (t) => {
  await using own = await testProject(FILES);
  for (const [args, expected] of LOOK_CASES) {
    const { code, stdout, stderr } = await own.run(args, { alone: true });
    await t.step(args.join(" "), () => {
      assert.equal(code, 0, stderr);
      assertQuiet(stdout, expected);
      assert.doesNotMatch(stderr, /WORD/);
    });
  }
});

function assertQuiet(stdout: string, expected: string | RegExp): void {
  assert.doesNotMatch(stdout, /WORD|default: |index/);
  if (typeof expected === "string") assert.equal(stdout, expected);
  else assert.match(stdout, expected);
}

function assertTold(text: string): void {
  for (const name of ["log", "debug", "info", "dir", "dirxml", "warn", "error", "table"]) {
    assert.match(text, new RegExp(`WORD ${name}`), name);
  }
  assert.match(text, /WORD count: 1\n/);
  assert.match(
    text,
    /WORD t: [\d.]+ms 1\nWORD t: [\d.]+ms\nWORD group\n {2}WORD inside\n {2}WORD error inside\n {2}WORD collapsed\n/,
  );
}

Deno.test("a resumed run keeps it away too", async () => {
  await using own = await testProject({
    ...FILES,
    ...IN_PROCESS,
    "gadgets/loud.ts": FILES["gadgets/loud.ts"].replace(
      "run: () => {",
      'idempotent: true, run: async () => { if (!await Deno.stat("go").then(() => true, () => false)) { await new Promise((end) => setTimeout(end, 200)); Deno.exit(9); }',
    ),
  });
  const first = await own.run(["run", "a.calls", "--trust", "Loud"], { alone: true });
  assert.equal(first.code, 9, first.stderr);
  await own.write("go", "");
  const second = await own.run(["resume"], { alone: true });
  assert.deepEqual([second.code, second.stdout], [0, "quiet"], second.stderr);
});
