// What a prompt is given on the command line: it is looked at before a run begins (`--input`, `--input-json`).

import assert from "node:assert/strict";
import { testProject } from "../_project.ts";
import { PROJECT_ROOT } from "../_run.ts";

const ORRERY = JSON.stringify(new URL(`file://${PROJECT_ROOT}/mod.ts`).href);

const FILES = {
  "orrery.yaml": `models: { default: script/echo }
agents:
  - { name: helper, model: script/echo, systemPrompt: helper }
  - { name: plain, model: script/echo, system: "You are {plain}." }
`,
  "prompts/greet.prompt.md": "Say {greeting} to {who}.",
  "prompts/composed.prompt.md": "How {gr\u00f6\u00dfe}?",
  "prompts/decomposed.prompt":
    "---\ninput: { schema: { gro\u0308\u00dfe: string } }\n---\nHow {{gro\u0308\u00dfe}}?",
  "prompts/none.prompt.md": "Say hello.",
  "prompts/helper.prompt.md": "You help {name} with {topic}.",
  "prompts/price.prompt.md": "It is {price:.2f}, {share:>{width}} and {place.city}.",
  "prompts/dot.prompt": `---
input:
  schema:
    name: string
    age: integer
    "height?": number
    "isTall?": boolean
    "size?(enum)": [s, m]
    "tags?(array)": string
  default: { height: 1 }
---
{{name}} {{json age}} {{json height}} {{json isTall}} {{json tags}}
`,
  "prompts/child.prompt.md": "---\nextends: dot\n---\n{{name}} is {{json age}}",
  "prompts/any.prompt": "---\ninput: { schema: { name: any, (*): any } }\n---\n{{json name}} {{json more}}\n",
  "prompts/free.prompt": "{{json what}}\n",
  "prompts/code.ts": `import { definePrompt } from ${ORRERY};
export const free = definePrompt({ template: "$x", renderer: { render: (_text, args) => JSON.stringify(args) } });
export const told = definePrompt({ template: "$x", renderer: { render: (_text, args) => String(args.x), vars: () => ["x"] } });
`,
  "tactics/shout.ts": `import { defineTactic } from ${ORRERY};
export const shout = defineTactic({ name: "shout", agents: [], call: (task) => JSON.stringify(task) });
`,
  "extra.json": '{"who": "Ann", "greeting": "hi", "mood": 1}',
  "five.txt": "5\n",
};

interface Case {
  readonly args: readonly string[];
  readonly code?: 2;
  readonly stdin?: string;
  readonly stdout?: string;
  readonly stderr?: string;
}

const TRY = (command: string) => `Try: orrery ${command} --help\n`;

const CASES: readonly Case[] = [
  {
    args: ["run", "greet"],
    code: 2,
    stderr: 'error: prompt "greet": missing variables: greeting, who\n' +
      "error: give them with --input greeting=VALUE --input who=VALUE\n" + TRY("run"),
  },
  {
    args: ["run", "greet", "-i", "who=Ann"],
    code: 2,
    stderr: 'error: prompt "greet": missing variables: greeting\n' +
      "error: give it with --input greeting=VALUE\n" + TRY("run"),
  },
  {
    args: ["run", "greet", "--profile", "helper", "-i", "who=Ann"],
    code: 2,
    stderr: 'error: prompt "greet": missing variables: greeting\n' +
      'error: prompt "helper": missing variables: name, topic\n' +
      "error: give them with --input greeting=VALUE --input name=VALUE --input topic=VALUE\n" + TRY("run"),
  },
  {
    args: ["ask", "Hi", "--prompt", "greet", "--profile", "helper", "-i", "who=Ann"],
    code: 2,
    stderr: 'error: prompt "greet": missing variables: greeting\n' +
      "error: give it with --input greeting=VALUE\n" + TRY("ask"),
  },
  {
    args: ["chat", "--profile", "helper", "-i", "topic=x"],
    stdin: "a\n",
    code: 2,
    stderr: 'error: prompt "helper": missing variables: name\n' +
      "error: give it with --input name=VALUE\n" + TRY("chat"),
  },
  { args: ["run", "composed", "-i", "gro\u0308\u00dfe=big"], stdout: "ECHO[How big?]" },
  { args: ["run", "decomposed", "-i", "gr\u00f6\u00dfe=big"], stdout: "ECHO[How big?]" },
  { args: ["run", "composed", "--input-json", '{"gro\u0308\u00dfe": "big"}'], stdout: "ECHO[How big?]" },
  {
    args: ["run", "dot", "--input-json", "{}"],
    code: 2,
    stderr: 'error: prompt "dot": bad arguments:\nerror: - name: is required\nerror: - age: is required\n' +
      "error: give them with --input name=VALUE --input age=VALUE\n" + TRY("run"),
  },

  {
    args: ["run", "greet", "-i", "who=Ann", "-i", "greting=hi"],
    code: 2,
    stderr:
      'error: prompt "greet" has no variable "greting". Did you mean "greeting"? It has: greeting, who\n' +
      TRY("run"),
  },
  {
    args: ["run", "greet", "--input-json", "@extra.json"],
    stdout: "ECHO[Say hi to Ann.]",
  },
  {
    args: ["run", "greet", "--input-json", '{"greting": "hi", "who": "Ann"}'],
    code: 2,
    stderr:
      'error: prompt "greet" has no variable "greting". Did you mean "greeting"? It has: greeting, who\n' +
      'error: prompt "greet": missing variables: greeting\n' +
      "error: give it with --input greeting=VALUE\n" + TRY("run"),
  },
  {
    args: ["run", "none", "-i", "who=Ann", "-i", "x=1"],
    code: 2,
    stderr: 'error: prompt "none" has no variable "who": it has none\n' +
      'error: prompt "none" has no variable "x": it has none\n' + TRY("run"),
  },
  {
    args: ["run", "greet", "--profile", "helper", "-i", "topc=x"],
    code: 2,
    stderr:
      'error: prompts "greet" and "helper" have no variable "topc". Did you mean "topic"? They have: greeting, who, name, topic\n' +
      TRY("run"),
  },
  {
    args: ["ask", "Hi", "--prompt", "greet", "-i", "whom=Ann"],
    code: 2,
    stderr: 'error: prompt "greet" has no variable "whom". Did you mean "who"? It has: greeting, who\n' +
      TRY("ask"),
  },
  {
    args: ["ask", "Hi", "--profile", "plain", "-i", "plain=x"],
    code: 2,
    stderr: 'error: prompt "plain/system" has no variable "plain": it has none\n' + TRY("ask"),
  },
  {
    args: ["chat", "--profile", "helper", "-i", "topic=x", "-i", "nam=x"],
    stdin: "a\n",
    code: 2,
    stderr: 'error: prompt "helper" has no variable "nam". Did you mean "name"? It has: name, topic\n' +
      TRY("chat"),
  },
  {
    args: ["run", "dot", "-i", "name=Ann", "-i", "age=4", "-i", "hight=2"],
    code: 2,
    stderr:
      'error: prompt "dot" has no variable "hight". Did you mean "height"? It has: name, age, height, isTall, size, tags\n' +
      TRY("run"),
  },
  {
    args: ["run", "code/told", "--trust-code", "-i", "y=1"],
    code: 2,
    stderr: 'error: prompt "code/told" has no variable "y". Did you mean "x"? It has: x\n' + TRY("run"),
  },
  { args: ["run", "free", "-i", "what=1"], stdout: 'ECHO["1"\n]' },
  { args: ["run", "any", "-i", "name=1", "-i", "more=true"], stdout: 'ECHO["1" "true"]' },
  { args: ["run", "code/free", "--trust-code", "-i", "y=1"], stdout: 'ECHO[{"y":"1"}]' },
  { args: ["run", "shout", "--trust-code", "-i", "y=1", "-i", "z=true"], stdout: '{"y":"1","z":"true"}' },
  { args: ["run", "shout", "--trust-code", "-i", "task=1"], stdout: '"1"' },

  {
    args: [
      "run",
      "price",
      "-i",
      "price=1.5",
      "--input-json",
      '{"share": 1, "width": 3, "place": {"city": "Bern"}}',
    ],
    code: 2,
    stderr: 'error: prompt "price": {price:.2f}: format spec ":.2f" needs a number, got string\n' +
      `error: --input gives text; give a number with --input-json '{"price": 1.5}'\n` + TRY("run"),
  },
  {
    args: [
      "run",
      "price",
      "-i",
      "price=cheap",
      "--input-json",
      '{"share": 1, "width": 3, "place": {"city": "Bern"}}',
    ],
    code: 2,
    stderr: 'error: prompt "price": {price:.2f}: format spec ":.2f" needs a number, got string\n' +
      `error: --input gives text; give a number with --input-json '{"price": 1.5}'\n` + TRY("run"),
  },
  {
    args: [
      "run",
      "price",
      "--input-json",
      '{"price": "1", "share": 1, "width": 3, "place": {"city": "Bern"}}',
    ],
    code: 2,
    stderr: 'error: prompt "price": {price:.2f}: format spec ":.2f" needs a number, got string\n' +
      TRY("run"),
  },
  {
    args: ["run", "price", "--input-json", '{"price": 1, "share": 1, "width": 3}', "-i", "place=Bern"],
    code: 2,
    stderr: 'error: prompt "price": {place.city}: no "city" in {place.city}\n' +
      `error: --input gives text; give an object with --input-json '{"place": {"city": "..."}}'\n` +
      TRY("run"),
  },
  {
    args: [
      "run",
      "price",
      "--input-json",
      '{"price": 2, "share": 1, "place": {"city": "Bern"}}',
      "-i",
      "width=3",
    ],
    stdout: "ECHO[It is 2.00,   1 and Bern.]",
  },

  {
    args: [
      "run",
      "dot",
      "-i",
      "name=12",
      "-i",
      "age=@five.txt",
      "-i",
      "height=1.5",
      "-i",
      "isTall=false",
      "-i",
      'tags=["a"]',
    ],
    stdout: 'ECHO[12 5 1.5 false ["a"]]',
  },
  { args: ["run", "child", "-i", "name=12", "-i", "age=5"], stdout: "ECHO[12 is 5]" },
  {
    args: ["ask", "Hi", "--prompt", "dot", "-i", "name=12", "-i", "age=5"],
    stdout: "ECHO[Hi]",
  },
  {
    args: [
      "run",
      "dot",
      "-i",
      "name=12",
      "-i",
      "age=old",
      "-i",
      "height=1,5",
      "-i",
      "isTall=yes",
      "-i",
      "size=xl",
    ],
    code: 2,
    stderr: 'error: --input age: expected integer, found "old"\n' +
      'error: --input height: expected number or null, found "1,5"\n' +
      'error: --input isTall: expected boolean or null, found "yes"\n' +
      'error: --input size: expected one of "s", "m", null, found "xl"\n' + TRY("run"),
  },
  {
    args: ["run", "dot", "-i", "name=x", "-i", "age=1.5"],
    code: 2,
    stderr: 'error: --input age: expected integer, found "1.5"\n' + TRY("run"),
  },
  {
    args: ["run", "dot", "--input-json", '{"age": "old"}', "-i", "name=x"],
    code: 2,
    stderr: 'error: prompt "dot": bad arguments:\nerror: - age: must be integer\n' + TRY("run"),
  },
];

const AT_ONCE = 3;

Deno.test("the values of a prompt are looked at before anything is asked", async (t) => {
  await using own = await testProject(FILES);
  for (let from = 0; from < CASES.length; from += AT_ONCE) {
    const some = CASES.slice(from, from + AT_ONCE);
    const results = await Promise.all(
      some.map(({ args, stdin, code }) =>
        own.run([...args, ...(code === undefined && args[0] !== "chat" ? ["--ephemeral"] : [])], {
          ...(stdin === undefined ? {} : { stdin }),
        })
      ),
    );
    for (const [n, { args, code = 0, stdout = "", stderr }] of some.entries()) {
      await t.step(args.join(" "), () => {
        const result = results[n] ?? assert.fail();
        const said = result.stderr.split("\n").filter((line) => !line.startsWith("notice:")).join("\n");
        assert.equal(result.code, code, result.stderr);
        assert.equal(result.stdout, stdout, result.stderr);
        if (stderr !== undefined) assert.equal(said, stderr);
      });
    }
  }
  await t.step("no run is left behind", async () => {
    const { stdout } = await own.run(["runs", "--names"]);
    assert.equal(stdout, "");
  });
});

Deno.test("what was typed for a schema is kept as it was read, and a replay takes it again", async () => {
  await using own = await testProject(FILES);
  const first = await own.run(["run", "dot", "-i", "name=A", "-i", "age=5", "--record", "r.jsonl"]);
  assert.equal(first.code, 0, first.stderr);
  assert.deepEqual(JSON.parse((await own.read("r.jsonl")).split("\n", 1)[0] ?? "").input.values, {
    name: "A",
    age: 5,
  });
  const again = await own.run(["run", "dot", "-i", "age=5", "--replay", "r.jsonl"]);
  assert.deepEqual([again.code, again.stdout], [0, first.stdout], again.stderr);
  const wrong = await own.run(["run", "dot", "-i", "ag=5", "--replay", "r.jsonl"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /^error: prompt "dot" has no variable "ag"\. Did you mean "age", "tags"\?/);
});

Deno.test("show prompt reads the values as a run does", async () => {
  await using own = await testProject(FILES);
  const { code, stdout, stderr } = await own.run(["show", "prompt", "child", "-i", "name=12", "-i", "age=5"]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /\n {2}12 is 5\n/);
});
