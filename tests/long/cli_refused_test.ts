// Command lines that are refused: the message names what was found and what to do, the exit code is that of cli.md, and no run is left.
import assert from "node:assert/strict";
import { type TestProject, testProject } from "../_project.ts";

const NOW = "!!!GADGET_START:Now\n!!!GADGET_END\n";
const GREET =
  "!!!GADGET_START:RunPrompt\n!!!ARG:path\ngreet\n!!!ARG:args/who\nyou\n!!!GADGET_END\n!!!GADGET_START:Now\n!!!GADGET_END\n";

const FILES = {
  "orrery.yaml":
    "models: { aliases: { quick: script/one.yml } }\nagents: [{ name: helper, model: script/echo, system: Hi }]\n",
  "prompts/greet.prompt.md": "Greet {who}\n",
  "prompts/deep/other.prompt.md": "Other {thing}\n",
  "prompts/tooled.prompt.md": "---\ntools: [Calculat]\n---\nHi\n",
  "one.yml": '- { when: "", text: "one", repeat: true }\n',
  "greet.calls": GREET,
  "now.calls": NOW,
  "a dir/übung.calls": NOW,
  "deep/notes.txt": "hello\n",
  "notes.txt": "hello\n",
  ".git/HEAD": "",
};

interface Refused {
  readonly args: readonly string[];
  /** All of stderr, without its last line where that names the help. */
  readonly says: string | RegExp;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const MODELS = "expected provider/model or an alias of models.aliases.";
const LISTED = "orrery list models shows what there is.";

const REFUSED: readonly Refused[] = [
  // Models
  {
    args: ["run", "greet.calls", "--model", "nope"],
    says: `error: --model: Unknown model "nope": ${MODELS} ${LISTED}\n`,
  },
  {
    args: ["run", "now.calls", "-m", "quikc"],
    says: `error: --model: Unknown model "quikc": ${MODELS} Did you mean "quick"? ${LISTED}\n`,
  },
  {
    args: ["run", "greet.calls", "-m", "opnai/gpt"],
    says:
      /^error: --model: The model provider "opnai" is unknown\. Did you mean "openai"\? .*models\.providers\. orrery list models/,
  },
  {
    args: ["run", "greet.calls"],
    env: { ORRERY_MODEL: "nope" },
    says: `error: ORRERY_MODEL: Unknown model "nope": ${MODELS} ${LISTED}\n`,
  },
  {
    args: ["run", "-", "-m", "nope"],
    stdin: NOW,
    says: `error: --model: Unknown model "nope": ${MODELS} ${LISTED}\n`,
  },
  {
    args: ["ask", "hi"],
    env: { ORRERY_MODEL: "nope" },
    says: `error: ORRERY_MODEL: Unknown model "nope": ${MODELS} ${LISTED}\n`,
  },
  { args: ["chat", "-m", "nope"], stdin: "hi\n", says: /^error: --model: Unknown model "nope"/ },
  { args: ["run", "greet", "-i", "who=x", "-m", "nope"], says: /^error: --model: Unknown model "nope"/ },
  // Files that are no text
  {
    args: ["run", "binary.calls"],
    says:
      'error: Cannot read "binary.calls": it is not text but binary data: found a NUL byte at offset 2; expected UTF-8 text\n',
  },
  {
    args: ["run", "utf16.calls"],
    says: /^error: Cannot read "utf16\.calls": it is not text but binary data/,
  },
  {
    args: ["run", "gzip.calls"],
    says: /^error: Cannot read "gzip\.calls" any further: it is not UTF-8 text/,
  },
  // Budgets
  {
    args: ["run", "now.calls", "--budget", "turns=1,turns=2"],
    says: "error: --budget turns= is given twice, as 1 and 2; give it once\n",
  },
  {
    args: ["ask", "hi", "--budget", "turns=1", "--budget", "cost=1,turns=1"],
    says: "error: --budget turns= is given twice, as 1 and 1; give it once\n",
  },
  // Values
  {
    args: ["run", "greet", "--input", "who=@nofile", "-m", "script/echo"],
    says: 'error: Cannot read "nofile": no such file (named by --input who)\n',
  },
  {
    args: ["run", "greet", "--input", "who=@deep", "-m", "script/echo"],
    says: 'error: Cannot read "deep": it is a folder, not a file (named by --input who)\n',
  },
  {
    args: ["run", "greet", "--input", "who=@", "-m", "script/echo"],
    says: "error: --input who names no file: a name has to stand behind the @\n",
  },
  {
    args: ["run", "greet", "--input-json", "@nofile", "-m", "script/echo"],
    says: 'error: Cannot read "nofile": no such file (named by --input-json)\n',
  },
  {
    args: ["run", "greet", "--input", "-", "--input", "-"],
    stdin: '{"who":"x"}',
    says:
      "error: --input - is given twice: stdin can be read once; --input-json @FILE reads a second object from a file\n",
  },
  {
    args: ["ask", "hi", "--schema", "nofile"],
    says: 'error: Cannot read "nofile": no such file (named by --schema)\n',
  },
  // Folders
  {
    args: ["run", "."],
    says:
      /^error: "\." is a folder: expected a file that ends with "\.calls", or the path of a prompt\. What could be run: orrery run \w+\.calls, /,
  },
  {
    args: ["run", "a dir"],
    says:
      'error: "a dir" is a folder: expected a file that ends with ".calls", or the path of a prompt. What could be run: orrery run \'a dir/übung.calls\'\n',
  },
  {
    args: ["run", "deep/"],
    says:
      'error: "deep/" is a folder: expected a file that ends with ".calls", or the path of a prompt. What could be run: orrery run deep/other\n',
  },
  {
    args: ["run", "prompts"],
    says:
      'error: "prompts" is a folder: expected a file that ends with ".calls", or the path of a prompt; orrery list prompts shows the prompts there are\n',
  },
  // Records
  {
    args: ["run", "deep/other", "--replay", "greet.jsonl"],
    says:
      'error: --replay greet.jsonl was recorded of prompt "greet", and "deep/other" was asked for: name greet, or record a run of "deep/other"\n',
  },
  {
    args: ["run", "greet", "--profile", "helper", "--replay", "greet.jsonl"],
    says:
      "error: --replay greet.jsonl was recorded without a profile, and --profile helper was asked for: leave --profile out, or record a run of --profile helper\n",
  },
  {
    args: ["run", "gone.calls", "--replay", "now.jsonl"],
    says: 'error: Cannot read "gone.calls": no such file; now.jsonl is the record of "now.calls"\n',
  },
  {
    args: ["run", "now.calls", "--replay", "notes.txt"],
    says:
      /^notes\.txt:1:1: error: This is not JSON\n[^]*hint: --replay takes a record, which is a file that --record has written\.\n$/,
  },
  {
    args: ["run", "now.calls", "--replay", "nofile"],
    says: 'error: Cannot read "nofile": no such file (named by --replay)\n',
  },
  {
    args: ["run", "now.calls", "--replay", "now.jsonl", "--record", "more.jsonl"],
    says:
      "error: --record more.jsonl and --replay now.jsonl do not go together: a replay is what was recorded; leave --record out\n",
  },
  {
    args: ["run", "now.calls", "--record", "deep"],
    says: 'error: Cannot record to "deep": it is a folder; name a file\n',
  },
  // Tools
  {
    args: ["ask", "hi", "-m", "script/echo", "--tools", "Nwo,Nothing"],
    says:
      'error: --tools: Unknown gadget "Nwo". Did you mean "Now"? orrery list gadgets shows what there is.\n' +
      'error: --tools: Unknown gadget "Nothing". orrery list gadgets shows what there is.\n',
  },
  { args: ["chat", "-m", "script/echo", "--tools", "Nwo"], stdin: "hi\n", says: /^error: --tools: Unknown/ },
  {
    args: ["run", "tooled", "-m", "script/echo"],
    says: 'error: prompt "tooled": unknown tool "Calculat". Did you mean "Calculate"?\n',
  },
  // Words
  {
    args: ["run", ""],
    says: /^error: FILE\|PROMPT is given as an empty word\. FILE\|PROMPT: A file that ends/,
  },
  {
    args: ["rm", ""],
    says: "error: ID is given as an empty word. ID: The runs, or the beginnings of their ids.\n",
  },
  {
    args: ["show"],
    says:
      "error: orrery show needs KIND: What to show. One of gadget, prompt, profile, document, agent, conversation, config.\n",
  },
  {
    args: ["schema", "x"],
    says: 'error: KIND must be one of config, agent, document-test, conversation-test; found "x".\n',
  },
  {
    args: ["runs", "--json", "--names"],
    says: "error: --json and --names cannot both have stdout; choose one\n",
  },
  { args: ["list", "models", "--json", "--names"], says: /^error: --json and --names cannot both/ },
  { args: ["--version", "run"], says: "error: --version stands alone: orrery --version\n" },
  { args: ["run", "--", "--json"], says: /^error: There is no file and no prompt "--json"/ },
  {
    args: ["run", "a dir/ubung.calls"],
    says: 'error: Cannot read "a dir/ubung.calls": no such file. Did you mean "a dir/übung.calls"?\n',
  },
];

async function refusedProject(): Promise<TestProject> {
  const project = await testProject(FILES);
  const bytes = {
    "binary.calls": [0x21, 0x21, 0, 1],
    "utf16.calls": [0xff, 0xfe, 0x21, 0, 0x21, 0],
    "gzip.calls": [0x1f, 0x8b, 8, 8, 0xe9],
  };
  for (const [name, content] of Object.entries(bytes)) {
    await Deno.writeFile(`${project.folder}/${name}`, new Uint8Array(content));
  }
  const greet = ["run", "greet", "-i", "who=x", "-m", "quick", "--ephemeral", "--record", "greet.jsonl"];
  const now = ["run", "now.calls", "--ephemeral", "--record", "now.jsonl"];
  for (const { code, stderr } of await Promise.all([project.run(greet), project.run(now)])) {
    assert.equal(code, 0, stderr);
  }
  return project;
}

async function assertRefused(project: TestProject, { args, says, stdin, env = {} }: Refused): Promise<void> {
  const { code, stdout, stderr } = await project.run(args, {
    env,
    ...(stdin === undefined ? {} : { stdin }),
  });
  const what = `orrery ${args.join(" ")}\n${stderr}`;
  assert.deepEqual([code, stdout], [2, ""], what);
  assert.doesNotMatch(stderr, /\n {4}at |Error:/, what);
  const text = stderr.replace(/Try: orrery(?: \w+)? --help\n$/, "");
  if (typeof says === "string") assert.equal(text, says, what);
  else assert.match(text, says, what);
}

Deno.test("a refused command says what to do, ends with 2, and leaves no run behind", async () => {
  await using project = await refusedProject();
  const left = [...REFUSED];
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await assertRefused(project, next);
  };
  await Promise.all([work(), work(), work()]);
  const { stdout } = await project.run(["runs", "--json"]);
  assert.deepEqual(JSON.parse(stdout), []);
});

Deno.test("a model that is known by its name is no reason to refuse calls that never ask it", async () => {
  await using project = await testProject(FILES);
  for (const model of ["quick", "script/none.yml", "openai/gpt-5-mini", "openai:gpt-5-mini"]) {
    const { code, stderr } = await project.run(["run", "now.calls", "--ephemeral", "-m", model]);
    assert.equal(code, 0, stderr);
  }
  const unused = await project.run(["run", "now.calls", "--ephemeral"], { env: { ORRERY_MODEL: "nope" } });
  assert.equal(unused.code, 0, unused.stderr);
});

Deno.test("a budget that a call file uses up is 1, that of a prompt 6, as the help says", async () => {
  await using project = await testProject({
    ...FILES,
    "twice.calls": `${GREET}${GREET}`,
    "prompts/loop.prompt.md": "---\ntools: [Now]\n---\nLoop\n",
    "loop.yml": '- { when: "", repeat: true, calls: [{ name: Now, input: {} }] }\n',
  });
  const calls = await project.run([
    "run",
    "twice.calls",
    "-m",
    "quick",
    "--budget",
    "turns=1",
    "--concurrency",
    "1",
  ]);
  assert.equal(calls.code, 1, calls.stderr);
  assert.match(calls.stderr, /The run has made 1 model call, its budget is 1\n/);
  const prompt = await project.run(["run", "loop", "-m", "script/loop.yml", "--budget", "turns=2"]);
  assert.equal(prompt.code, 6, prompt.stderr);
  assert.match(prompt.stderr, /The run has made 2 model calls, its budget is 2\n/);
  const { stdout } = await project.run(["run", "--help"]);
  const help = stdout.replace(/\s+/g, " ");
  assert.match(help, /The exit code is 6; of a call file, whose call then fails, 1\./);
  assert.match(
    help,
    /Exit codes of a call file: 0 .*, 5 .*, 1 a call failed for any other reason, such as a budget\./,
  );
  assert.match(help, /Exit codes of a prompt: .* 6 the budget is used up/);
});

const LATE = `import { definePrompt } from "orrery";
export default definePrompt({ template: "Late {x}" });
setTimeout(() => { throw new Error("thrown late"); }, 1);
setTimeout(() => Promise.reject(new TypeError("rejected late")), 1);
setTimeout(() => Promise.reject("a text"), 1);
`;

Deno.test("an error that nobody waits for names the module that its stack names", async () => {
  await using project = await testProject({
    "prompts/la te.ts": LATE,
    "slow.yml": '- { when: "", text: "slow", delayMs: 300 }\n',
  });
  const { code, stderr } = await project.run([
    "run",
    "la te",
    "-i",
    "x=1",
    "--trust-code",
    "-m",
    "script/slow.yml",
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /prompts\/la te\.ts:3: an error that nobody waited for: thrown late\n/);
  assert.match(stderr, /prompts\/la te\.ts:4: an error that nobody waited for: rejected late\n/);
  assert.match(stderr, /warn {2}an error that nobody waited for: a text\n/);
  assert.doesNotMatch(stderr, /gadget/);
});
