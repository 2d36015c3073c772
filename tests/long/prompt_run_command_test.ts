// Prompts on the command line where they are asked: `orrery run PATH`, `ask --prompt`, `chat --profile`.

import assert from "node:assert/strict";
import { testProject } from "../_project.ts";
import { providerServer, TEST_KEY } from "../_provider_server.ts";
import { PROJECT_ROOT } from "../_run.ts";
import type { RunResult } from "../_run.ts";

/** Modules that stand in a temporary folder name the package by its file. */
const ORRERY = JSON.stringify(new URL(`file://${PROJECT_ROOT}/mod.ts`).href);

const FILES = {
  "orrery.yaml": `models: { default: script/echo }
agents:
  - { name: helper, model: script/helper.yml, systemPrompt: helper }
  - { name: plain, model: script/echo, system: "You are {plain}." }
  - { name: namer, model: script/namer.yml, systemPrompt: namer, limits: { exceptionRetries: 1 } }
  - { name: lost, model: script/echo, systemPrompt: nowhere }
  - { name: toolless, model: script/echo, systemPrompt: unknown_tool }
`,
  "prompts/greet.prompt.md": "Say hello to {who}.",
  "prompts/name.prompt.md": "---\ntags: { requiredXmlTags: [name] }\n---\nName {thing}.",
  "prompts/namer.prompt.md": "---\ntags: { requiredXmlTags: [name] }\n---\nYou name {what}.",
  "prompts/sum.prompt.md": "---\ntools: [Calculate]\n---\nWhat is {what}?",
  "prompts/helper.prompt.md": "---\ntools: [Calculate]\n---\nYou help with {topic}.",
  "prompts/unknown_tool.prompt.md": "---\ntools: [Calculat]\n---\nHi",
  "prompts/project.prompt.md": "---\nmetadata: { context: project }\n---\nHi",
  "prompts/code.ts": `import { defineGadget, definePrompt } from ${ORRERY};
const shout = defineGadget({ name: "shout", description: "Shouts.", input: { type: "object", properties: { text: { type: "string" } } },
  run: ({ text }) => String(text).toUpperCase(), format: (result) => \`<\${result}>\` });
export const loud = definePrompt({ template: "Shout {text}", tools: [shout] });
`,
  "tactics/twice.ts": `import { defineTactic } from ${ORRERY};
export const twice = defineTactic({ name: "twice", agents: ["plain"], async call(task, { agents, prompts, step }) {
  const greet = prompts.get("greet");
  const first = await agents.plain.open().ask(greet, { who: task.who ?? task });
  const n = await step("count", () => 2);
  return { first: first.text, n };
} });
`,
  "name.yml": '- text: "It is blue."\n- text: "<name>Blue</name>"\n',
  "namer.yml":
    '- text: "hm"\n- text: "<name>Blue</name>"\n- text: "no"\n- text: "never"\n- text: "<name>Red</name>"\n',
  "sum.yml": '- calls: [{ name: Calculate, input: { expression: "2 * 3" } }]\n- text: "six"\n',
  "loud.yml": '- calls: [{ name: shout, input: { text: "hey" } }]\n- text: "done"\n',
  "helper.yml":
    '- text: "hello"\n- text: "Wait."\n  calls: [{ name: Calculate, input: { expression: "2 * 3" } }]\n- text: "six"\n- error: { status: 400, message: "too strange" }\n- text: "better"\n- text: "more"\n',
  "calling.yml": "- calls: [{ name: Calculate, input: { expression: 1 + 1 } }]\n  repeat: true\n",
  "bad.yml": '- text: "never"\n  repeat: true\n',
  "down.yml": '- error: { status: 400, message: "no such thing" }\n',
  "slow.yml": '- chunks: ["a", "b"]\n  delayMs: 400\n',
  "value.txt": "from a file\n",
  "values.json": '{"who": "JSON", "more": [1]}',
  "AGENTS.md": "Be brief.\n",
  "a.calls": "!!!GADGET_START:Now\n",
};

interface Case {
  readonly what: string;
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly code: number;
  readonly stdout?: string | RegExp;
  readonly stderr?: RegExp;
}

const NAMED = JSON.stringify(
  { raw: "<name>Blue</name>", xmlTags: { name: ["Blue"] }, mdTags: {}, signalTags: {} },
  null,
  2,
);

const ECHOED = "ECHO[Say hello to ";

const CASES: readonly Case[] = [
  { what: "a text", args: ["run", "greet", "--input", "who=Ann"], code: 0, stdout: `${ECHOED}Ann.]` },
  {
    what: "a path with slashes",
    args: ["run", "/greet/", "-i", "who=Ann"],
    code: 0,
    stdout: `${ECHOED}Ann.]`,
  },
  {
    what: "--quiet",
    args: ["run", "greet", "-i", "who=Ann", "-q"],
    code: 0,
    stdout: `${ECHOED}Ann.]`,
    stderr: /^$/,
  },
  {
    what: "a contract: what the answer means, as JSON",
    args: ["run", "name", "-i", "thing=sky", "-m", "script/name.yml"],
    code: 0,
    stdout: `${NAMED}\n`,
    stderr: /It is blue\./,
  },
  {
    what: "tools",
    args: ["run", "sum", "-i", "what=2*3", "-m", "script/sum.yml"],
    code: 0,
    stdout: "six",
    stderr: /ok {4}call_1 {2}Calculate/,
  },
  {
    what: "a file's text",
    args: ["run", "greet", "-i", "who=@value.txt"],
    code: 0,
    stdout: `${ECHOED}from a file\n.]`,
  },
  { what: "an @", args: ["run", "greet", "-i", "who=@@ann"], code: 0, stdout: `${ECHOED}@ann.]` },
  { what: "an =", args: ["run", "greet", "-i", "who=a=b"], code: 0, stdout: `${ECHOED}a=b.]` },
  {
    what: "JSON",
    args: ["run", "greet", "--input-json", '{"who": [1, null]}'],
    code: 0,
    stdout: `${ECHOED}[1,null].]`,
  },
  {
    what: "a file of JSON",
    args: ["run", "greet", "--input-json", "@values.json"],
    code: 0,
    stdout: `${ECHOED}JSON.]`,
  },
  {
    what: "JSON on stdin",
    args: ["run", "greet", "-i", "-"],
    stdin: '{"who": "pipe"}',
    code: 0,
    stdout: `${ECHOED}pipe.]`,
  },
  {
    what: "the later value",
    args: ["run", "greet", "--input-json", '{"who": 1}', "-i", "who=2", "-i", "who=3"],
    code: 0,
    stdout: `${ECHOED}3.]`,
  },
  {
    what: "a tactic",
    args: ["run", "twice", "-i", "task=Ann", "--trust-code"],
    code: 0,
    stdout: /"first": "ECHO\[Say hello to Ann\.\]",\s+"n": 2/,
  },
  {
    what: "a tactic of an object",
    args: ["run", "twice", "-i", "who=Bo", "-i", "x=1", "--trust-code"],
    code: 0,
    stdout: /hello to Bo/,
  },
  {
    what: "a module",
    args: ["run", "code/loud", "-i", "text=hey", "-m", "script/loud.yml", "--trust-code"],
    code: 0,
    stdout: "done",
  },
  {
    what: "a profile",
    args: ["run", "greet", "-i", "who=Ann", "--profile", "plain"],
    code: 0,
    stdout: `${ECHOED}Ann.]`,
  },
  {
    what: "--json",
    args: ["run", "name", "-i", "thing=sky", "-m", "script/name.yml", "--json"],
    code: 0,
    stdout: /^\{"run":"[^"]+","kind":"prompt","status":"done","value":\{"raw":"<name>Blue<\/name>"/,
  },

  {
    what: "no such prompt",
    args: ["run", "gret"],
    code: 2,
    stdout: "",
    stderr: /^error: There is no file and no prompt "gret"\. Did you mean "greet"\?\n/,
  },
  {
    what: "no such prompt by far",
    args: ["run", "zzzzzzzz"],
    code: 2,
    stderr:
      /no prompt "zzzzzzzz"; orrery list prompts shows the \d+ there are\n(?:.*\n)*error: prompts\/code\.ts:1: /,
  },
  {
    what: "a path that is none",
    args: ["run", "../greet"],
    code: 2,
    stderr: /^error: There is no file and no prompt "\.\.\/greet"/,
  },
  {
    what: "missing values",
    args: ["run", "greet"],
    code: 2,
    stdout: "",
    stderr: /error: prompt "greet": missing variables: who\n/,
  },
  {
    what: "a value without a name",
    args: ["run", "greet", "-i", "Ann"],
    code: 2,
    stderr: /^error: --input Ann: expected NAME=VALUE, NAME=@FILE, or - for a JSON object on stdin\n/,
  },
  {
    what: "a value with an empty name",
    args: ["run", "greet", "-i", "=Ann"],
    code: 2,
    stderr: /^error: --input =Ann: expected NAME=VALUE/,
  },
  {
    what: "a file that is not there",
    args: ["run", "greet", "-i", "who=@none.txt"],
    code: 2,
    stderr: /none\.txt/,
  },
  {
    what: "JSON that is none",
    args: ["run", "greet", "--input-json", "{who}"],
    code: 2,
    stderr: /^error: --input-json: expected a JSON object: /,
  },
  {
    what: "a JSON list",
    args: ["run", "greet", "--input-json", "[1]"],
    code: 2,
    stderr: /^error: --input-json: expected a JSON object, found a list\n/,
  },
  {
    what: "stdin that is no JSON",
    args: ["run", "greet", "-i", "-"],
    stdin: "null",
    code: 2,
    stderr: /^error: --input -: expected a JSON object, found null\n/,
  },
  {
    what: "--input with a call file",
    args: ["run", "a.calls", "-i", "x=1", "--profile", "p"],
    code: 2,
    stderr: /^error: --input is for prompts; a call file takes none\n.*--profile is for prompts/,
  },
  {
    what: "no such profile",
    args: ["run", "greet", "-i", "who=A", "--profile", "helpr"],
    code: 2,
    stderr: /^error: There is no profile "helpr"\. Did you mean "helper"\?\n/,
  },
  {
    what: "a profile without its prompt",
    args: ["run", "greet", "-i", "who=A", "--profile", "lost"],
    code: 2,
    stderr: /The profile "lost" cannot be used:\nerror: orrery\.yaml:6: .*prompt "nowhere" not found/,
  },
  {
    what: "a module that nobody trusts",
    args: ["run", "code/loud", "-i", "text=x"],
    code: 2,
    stderr:
      /There is no file and no prompt "code\/loud"(?:.*\n)*error: prompts\/code\.ts:1: this module is code of the project and was not loaded/,
  },
  {
    what: "a tool that is not there",
    args: ["run", "unknown_tool"],
    code: 2,
    stderr: /unknown tool "Calculat"\. Did you mean "Calculate"\?/,
  },
  {
    what: "no such model",
    args: ["run", "greet", "-i", "who=A", "-m", "script/none.yml"],
    code: 2,
    stderr: /none\.yml/,
  },
  {
    what: "a model that goes on calling",
    args: ["run", "sum", "-i", "what=1", "-m", "script/calling.yml"],
    code: 1,
    stdout: "",
    stderr: /still calling tools after the limit of 5 rounds/,
  },
  {
    what: "a contract that is not kept",
    args: ["run", "name", "-i", "thing=x", "-m", "script/bad.yml"],
    code: 4,
    stdout: "never",
    stderr: /no valid answer after 3 retries: Parsing errors:/,
  },
  {
    what: "a host that is denied",
    args: ["run", "greet", "-i", "who=A", "-m", "openai/test", "--deny-net=api.openai.com"],
    env: { OPENAI_API_KEY: TEST_KEY },
    code: 5,
    stderr: /deny-net/,
  },
  {
    what: "a budget",
    args: ["run", "name", "-i", "thing=x", "-m", "script/bad.yml", "--budget", "turns=2"],
    code: 6,
    stderr: /has made 2 model calls, its budget is 2/,
  },
  {
    what: "a provider that fails",
    args: ["run", "greet", "-i", "who=A", "-m", "script/down.yml"],
    code: 7,
    stderr: /no such thing(?:.*\n)*stopped; to go on: orrery resume /,
  },

  // ask
  {
    what: "ask --prompt",
    args: ["ask", "And", "you?", "--prompt", "greet", "--input", "who=Ann"],
    code: 0,
    stdout: "ECHO[And you?]",
  },
  {
    what: "ask --prompt with a contract",
    args: ["ask", "sky", "--prompt", "name", "-i", "thing=it", "-m", "script/name.yml"],
    code: 0,
    stdout: `${NAMED}\n`,
  },
  {
    what: "ask --prompt with tools",
    args: ["ask", "2*3", "--prompt", "sum", "-i", "what=it", "-m", "script/sum.yml"],
    code: 0,
    stdout: "six",
  },
  {
    what: "ask --prompt with a pipe as context",
    args: ["ask", "Look", "--prompt", "greet", "-i", "who=A"],
    stdin: "text\n",
    code: 0,
    stdout: "ECHO[Look\n\n<stdin>\ntext\n</stdin>]",
  },
  {
    what: "ask --prompt with a pipe alone",
    args: ["ask", "--prompt", "greet", "-i", "who=A"],
    stdin: "text\n",
    code: 0,
    stdout: "ECHO[text\n]",
  },
  {
    what: "ask --prompt with values on stdin",
    args: ["ask", "Hi", "--prompt", "greet", "-i", "-"],
    stdin: '{"who": 1}',
    code: 0,
    stdout: "ECHO[Hi]",
  },
  {
    what: "ask --prompt -o and --json",
    args: ["ask", "Hi", "--prompt", "greet", "-i", "who=A", "--json"],
    code: 0,
    stdout: /"kind":"prompt","status":"done","value":"ECHO\[Hi\]"/,
  },
  { what: "ask --profile", args: ["ask", "Hi", "--profile", "plain"], code: 0, stdout: "ECHO[Hi]" },
  {
    what: "ask --prompt --profile: the agent's model and the prompt's contract",
    args: ["ask", "Hi", "--prompt", "name", "-i", "thing=x", "--profile", "namer"],
    code: 0,
    stdout: /"Blue"/,
  },
  {
    what: "ask --prompt without a text",
    args: ["ask", "--prompt", "greet", "-i", "who=A"],
    stdin: "",
    code: 2,
    stderr: /^error: orrery ask needs a TEXT/,
  },
  {
    what: "ask --prompt without values",
    args: ["ask", "Hi", "--prompt", "greet"],
    code: 2,
    stderr: /prompt "greet": missing variables: who/,
  },
  {
    what: "ask --prompt of nothing",
    args: ["ask", "Hi", "--prompt", "gret"],
    code: 2,
    stderr: /^error: There is no prompt "gret"\. Did you mean "greet"\?\n(?:.*\n)*Try: orrery ask --help\n$/,
  },
  {
    what: "ask --prompt of a tactic",
    args: ["ask", "Hi", "--prompt", "twice", "--trust-code"],
    code: 2,
    stderr: /^error: "twice" is a tactic, and --prompt takes a prompt: orrery run twice runs it\n/,
  },
  {
    what: "ask --prompt with what a prompt says itself",
    args: [
      "ask",
      "Hi",
      "--prompt",
      "greet",
      "--schema",
      "values.json",
      "--system",
      "x",
      "--tools",
      "Now",
      "--tools-mode",
      "native",
    ],
    code: 2,
    stderr: new RegExp(
      "^error: --tools and --prompt cannot both say what the model may call: the prompt names its tools itself\n" +
        "error: --system and --prompt cannot both be the system text: that of --prompt is a prompt\n" +
        "error: --tools-mode is not for --prompt: the tools of a prompt are called by the calls of the provider\n" +
        "error: --schema and --prompt cannot both say what the answer has to be: the prompt does, with its parser or format\nTry: orrery ask --help\n$",
    ),
  },
  {
    what: "ask --profile with --system",
    args: ["ask", "Hi", "--profile", "plain", "--system", "x"],
    code: 2,
    stderr: /^error: --system and --profile cannot both be the system text/,
  },
  {
    what: "ask --input without a prompt",
    args: ["ask", "Hi", "-i", "a=1", "--input-json", "{}"],
    code: 2,
    stderr:
      /^error: --input gives values to a prompt: name it with --prompt PATH\nerror: --input-json gives values/,
  },
  {
    what: "ask --prompt with a contract that is not kept",
    args: ["ask", "Hi", "--prompt", "name", "-i", "thing=x", "-m", "script/bad.yml"],
    code: 4,
    stdout: "never",
  },
  {
    what: "ask --prompt and a budget",
    args: ["ask", "Hi", "--prompt", "name", "-i", "thing=x", "-m", "script/bad.yml", "--budget", "turns=1"],
    code: 6,
  },
  {
    what: "ask --prompt and a provider",
    args: ["ask", "Hi", "--prompt", "greet", "-i", "who=A", "-m", "script/down.yml"],
    code: 7,
  },

  // chat
  {
    what: "chat --profile: answers alone are on stdout, and a turn that fails is told",
    args: ["chat", "--profile", "helper", "--input", "topic=maths"],
    stdin: "one\ntwo\nthree\nfour\n",
    code: 0,
    stdout: "hello\nsix\nbetter\n",
    stderr: /warn {2}agent "helper": script\/helper\.yml: too strange \(400\)/,
  },
  {
    what: "chat --profile with a contract: only what is kept of it, and the last word of a turn that fails",
    args: ["chat", "--profile", "namer", "-i", "what=colours"],
    stdin: "one\ntwo\nthree\n",
    code: 0,
    stdout: "<name>Blue</name>\nnever\n<name>Red</name>\n",
    stderr: /warn {2}agent "namer": no valid answer after 1 retries/,
  },
  {
    what: "chat --profile of a text",
    args: ["chat", "--profile", "plain", "-q"],
    stdin: "a\n\nb",
    code: 0,
    stdout: "ECHO[a]\nECHO[b]\n",
    stderr: /^$/,
  },
  {
    what: "chat --profile --model",
    args: ["chat", "--profile", "helper", "-i", "topic=x", "-m", "script/echo", "-q"],
    stdin: "a\n",
    code: 0,
    stdout: "ECHO[a]\n",
  },
  {
    what: "chat --profile and a budget",
    args: ["chat", "--profile", "plain", "--budget", "turns=1", "-q"],
    stdin: "a\nb\n",
    code: 6,
    stdout: "ECHO[a]\n",
  },
  {
    what: "chat --profile of nobody",
    args: ["chat", "--profile", "nobody"],
    stdin: "",
    code: 2,
    stderr:
      /^error: There is no profile "nobody"\. Known: helper, plain, namer, toolless\n(?:.*\n)*Try: orrery chat --help\n$/,
  },
  {
    what: "chat --profile without values",
    args: ["chat", "--profile", "helper"],
    stdin: "a\n",
    code: 2,
    stdout: "",
    stderr: /prompt "helper": missing variables: topic/,
  },
  {
    what: "chat --profile that cannot be asked at all",
    args: ["chat", "--profile", "toolless"],
    stdin: "a\nb\n",
    code: 2,
    stdout: "",
    stderr: /unknown tool "Calculat"/,
  },
  {
    what: "chat --profile with what an agent says itself",
    args: [
      "chat",
      "--profile",
      "plain",
      "--system",
      "x",
      "--tools",
      "Now",
      "--tools-mode",
      "blocks",
      "-i",
      "-",
    ],
    stdin: "",
    code: 2,
    stderr:
      /^error: --tools and --profile .*\nerror: --system and --profile .*\nerror: --tools-mode is not for --profile.*\nerror: --input - cannot be: stdin is where the messages come from/,
  },
  {
    what: "chat --input without a profile",
    args: ["chat", "-i", "a=1"],
    stdin: "",
    code: 2,
    stderr: /^error: --input gives values to a prompt: name it with --profile NAME\n/,
  },
];

const AT_ONCE = 4;

for (const command of ["run", "ask", "chat"]) {
  Deno.test(`${command} with prompts`, async (t) => {
    await using own = await testProject(FILES);
    const cases = CASES.filter(({ args }) => args[0] === command);
    for (let from = 0; from < cases.length; from += AT_ONCE) {
      const some = cases.slice(from, from + AT_ONCE);
      const results = await Promise.all(
        some.map(({ args, stdin, env = {} }) =>
          own.run(args, { env, ...(stdin === undefined ? {} : { stdin }) })
        ),
      );
      for (const [n, one] of some.entries()) await t.step(one.what, () => assertResult(results[n], one));
    }
  });
}

function assertResult(result: RunResult | undefined, { code, stdout, stderr }: Case): void {
  assert.ok(result);
  assert.equal(result.code, code, `${result.stdout}\n${result.stderr}`);
  if (typeof stdout === "string") assert.equal(result.stdout, stdout, result.stderr);
  else if (stdout !== undefined) assert.match(result.stdout, stdout);
  if (stderr !== undefined) assert.match(result.stderr, stderr);
  assert.doesNotMatch(result.stderr, /\n\s+at |A mistake in Orrery/);
}

Deno.test("run, ask and chat with prompts: records answer for the models and the catalogue, byte for byte", async () => {
  await using own = await testProject(FILES);
  const recorded = [
    {
      args: ["run", "name", "-i", "thing=sky", "-m", "script/name.yml"],
      replay: ["run", "name", "-i", "thing=sky"],
    },
    { args: ["run", "sum", "-i", "what=x", "-m", "script/sum.yml"], replay: ["run", "sum"] },
    {
      args: ["run", "code/loud", "-i", "text=x", "-m", "script/loud.yml", "--trust-code"],
      replay: ["run", "code/loud", "--trust-code"],
    },
    { args: ["run", "twice", "-i", "task=Ann", "--trust-code"], replay: ["run", "twice", "--trust-code"] },
    { args: ["ask", "Hi", "--prompt", "name", "-i", "thing=sky", "-m", "script/name.yml"], replay: ["ask"] },
    { args: ["ask", "Hi", "--profile", "plain"], replay: ["ask", "Hi"] },
    {
      args: ["chat", "--profile", "helper", "-i", "topic=maths"],
      stdin: "one\ntwo\nthree\nfour\n",
      replay: ["chat"],
    },
    {
      args: ["chat", "--profile", "namer", "-i", "what=x"],
      stdin: "one\ntwo\nthree\n",
      replay: ["chat", "--profile", "namer"],
    },
  ];
  await Promise.all(recorded.map(async ({ args, stdin }, n) => {
    const first = await own.run([...args, "--record", `r${n}.jsonl`], stdin === undefined ? {} : { stdin });
    assert.equal(first.code, 0, first.stderr);
  }));
  for (const file of ["name", "namer", "sum", "loud", "helper"]) {
    await own.write(`${file}.yml`, "- text: changed\n");
  }
  await Promise.all(recorded.map(async ({ args, replay }, n) => {
    const words = args.join(" ");
    const told = await own.run([...replay, "--replay", `r${n}.jsonl`, "--jsonl"]);
    assert.equal(told.code, 0, `${words}: ${told.stderr}`);
    const lines = (await own.read(`r${n}.jsonl`)).trim().split("\n").map((line) => JSON.parse(line));
    const events = lines.filter(({ type }) => type === "event").map(({ event }) => event);
    assert.deepEqual(told.stdout.trim().split("\n").map((line) => JSON.parse(line)), events, words);
  }));
  const answers = await own.run(["chat", "--replay", "r6.jsonl", "-q"]);
  assert.equal(answers.stdout, "hello\nsix\nbetter\n");
  const other = await own.run(["ask", "Ho", "--replay", "r5.jsonl"]);
  assert.equal(other.code, 1);
  assert.match(other.stderr, /Step "dialog\[1\]\/turn\[1\]\/model" is not the recorded one: .*"Hi".*"Ho"/);
  const kinds = [
    ["ask", "--replay", "r0.jsonl"],
    ["chat", "--replay", "r4.jsonl"],
    ["run", "greet", "--replay", "r6.jsonl"],
  ];
  const hints = [
    "orrery run name --replay r0.jsonl",
    "orrery ask --replay r4.jsonl",
    "orrery chat --replay r6.jsonl",
  ];
  for (const [n, args] of kinds.entries()) {
    const { code, stderr } = await own.run(args);
    assert.deepEqual([code, stderr.includes(hints[n] ?? "?")], [2, true], stderr);
  }
});

const SAID: readonly (readonly [args: readonly string[], messages: readonly string[], stdin?: string])[] = [
  [["run", "greet", "-i", "who=A"], ["user: Say hello to A."]],
  [["run", "project"], ["system: Be brief.", "user: Hi"]],
  [["run", "project", "--profile", "plain"], ["system: You are {plain}.\n\nBe brief.", "user: Hi"]],
  [["ask", "Yo", "--prompt", "greet", "-i", "who=A"], ["system: Say hello to A.", "user: Yo"]],
  [["ask", "Yo", "--prompt", "project"], ["system: Hi\n\nBe brief.", "user: Yo"]],
  [["ask", "Yo", "--prompt", "greet", "-i", "who=A", "--profile", "plain"], [
    "system: Say hello to A.",
    "user: Yo",
  ]],
  [
    ["chat", "--profile", "helper", "-i", "topic=x"],
    ["system: You help with x.\n\nBe brief.", "user: Yo"],
    "Yo\n",
  ],
];

Deno.test("what is said, and AGENTS.md, reach the model where they belong", async () => {
  await using own = await testProject(FILES);
  await Promise.all(SAID.map(async ([args, expected, stdin = ""]) => {
    const { code, stdout, stderr } = await own.run([...args, "--jsonl"], { stdin });
    assert.equal(code, 0, stderr);
    const { run } = JSON.parse(stdout.split("\n", 1)[0] ?? "");
    const trace: Trace = JSON.parse((await own.run(["trace", run, "--json"])).stdout);
    const messages = trace.steps.find(({ kind }) => kind === "model")?.input?.messages ?? [];
    assert.deepEqual(messages.map(({ role, content }) => `${role}: ${content}`), expected);
  }));
});

interface Trace {
  readonly steps: readonly {
    readonly kind: string;
    readonly input?: { readonly messages?: readonly { readonly role: string; readonly content: string }[] };
  }[];
}

Deno.test("--temperature, and what a .prompt file says of its model, reach the provider; an agent's own stays under the flag", async () => {
  await using provider = providerServer([{ parts: [{ text: ["ok"] }] }]);
  await using own = await testProject({
    "prompts/dot.prompt":
      "---\nmodel: openai/from-the-file\nconfig: { temperature: 0.25, topP: 0.5 }\n---\nHi\n",
    "orrery.yaml":
      "agents:\n  - { name: hot, model: openai/hot, system: Hot, modelArgs: { temperature: 0.9 } }\n",
  });
  const env = { OPENAI_API_KEY: TEST_KEY, OPENAI_BASE_URL: `${provider.url}/v1` };
  const asked = [
    ["run", "dot", "-q"],
    ["ask", "Yo", "--prompt", "dot", "--temperature", "0.75", "-q"],
    ["ask", "Yo", "--profile", "hot", "-q"],
    ["ask", "Yo", "--profile", "hot", "--temperature", "0", "-q"],
  ];
  for (const args of asked) {
    const { code, stderr } = await own.run(args, { env });
    assert.equal(code, 0, stderr);
  }
  const chat = await own.run(["chat", "--profile", "hot", "--temperature", "0.125", "-q"], {
    env,
    stdin: "a\n",
  });
  assert.deepEqual([chat.code, chat.stdout], [0, "ok\n"], chat.stderr);
  const sent = provider.requests.map(({ body }) => [body.model, body.temperature, body.top_p]);
  assert.deepEqual(sent, [
    ["from-the-file", 0.25, 0.5],
    ["from-the-file", 0.75, 0.5],
    ["hot", 0.9, undefined],
    ["hot", 0, undefined],
    ["hot", 0.125, undefined],
  ]);
});

Deno.test("--timeout and --concurrency hold for the tools of prompts", async () => {
  await using own = await testProject({
    "prompts/wait.prompt.md": "---\ntools: [Slow]\n---\nWait",
    "gadgets/slow.js":
      'let n = 0;\nexport default { name: "Slow", description: "Slow.", input: { type: "object" }, repeatable: true,\n  async run({ ms }) { n++; const most = n; await new Promise((resolve) => setTimeout(resolve, ms)); n--; return most; } };\n',
    "two.yml":
      "- calls: [{ name: Slow, input: { ms: 30 } }, { name: Slow, input: { ms: 31 } }]\n- text: done\n",
    "long.yml": "- calls: [{ name: Slow, input: { ms: 5000 } }]\n- text: done\n",
  });
  const args = ["run", "wait", "--trust", "Slow", "--json"];
  const results = async (more: readonly string[]) => {
    const { code, stdout, stderr } = await own.run([...args, ...more]);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout).calls.map(({ result, error }: { result?: number; error?: string }) =>
      result ?? error
    );
  };
  assert.deepEqual(await results(["-m", "script/two.yml"]), [1, 2]);
  assert.deepEqual(await results(["-m", "script/two.yml", "--concurrency", "1"]), [1, 1]);
  assert.deepEqual(await results(["-m", "script/long.yml", "--timeout", "0.05"]), ["Timed out after 50 ms"]);
});
