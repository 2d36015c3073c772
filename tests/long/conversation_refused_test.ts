// Conversations that do not begin: everything that is wrong or missing is told at once, with its place, the exit code is 2, and nothing is kept.

import assert from "node:assert/strict";
import { testProject } from "../_project.ts";
import type { TestProject } from "../_project.ts";

const SOUND = `version: "0.1"
structure:
  id: sound
  action: { id: say, message: { message: Hello } }
`;

const BROKEN = `version: "0.1"
structure:
  id: broken
  action:
    id: main
    chain:
      - { id: m, message: { message: hi, hold: yes } }
      - { id: go, flow: { goto: mm } }
      - { id: think, llm: { promts: [] } }
`;

const NEEDY = `version: "0.1"
structure:
  id: needy
  slots:
    - { name: title, source: { module: { path: "$.title", module: { from: other } } } }
  action:
    id: main
    chain:
      - id: call
        api-call:
          url: https://api.example.com/x?q={{q}}
          method: GET
          headers: [ { key: Authorization, value: "Bearer \${env.ORRERY_TEST_TOKEN}" } ]
          target: { slot: { name: r } }
          success: { action: continue }
          fail: { action: continue }
      - { id: events, sse-call: { url: "http://127.0.0.1:9/x", method: GET } }
      - { id: free, sse-call: { url: "http://{{host}}/x", method: GET } }
      - { id: calc, gadget: { name: Calculat, input: { expression: "1" } } }
      - { id: think, llm: { prompts: [ { user: hi } ], tools: [ReadFile, Nope], model: nope } }
      - { id: plain, llm: { prompts: [ { user: hi } ] } }
      - { id: plain-too, llm: { prompts: [ { user: hi } ] } }
      - { id: keyed, llm: { prompts: [ { user: hi } ], model: openai/gpt-5 } }
      - { id: lost, llm: { prompts: [ { user: hi } ], model: script/none.yml } }
      - { id: find, retriever: { query: { name: q }, target: { slot: { name: p } } } }
      - { id: doc, run: { file: nothing.md } }
      - { id: prompt, run: { file: gret } }
`;

const FILES = {
  "sound.agent.yml": SOUND,
  "broken.agent.yml": BROKEN,
  "needy.agent.yml": NEEDY,
  "prompts/greet.prompt.md": "Greet.\n",
};

async function assertNothingKept(project: TestProject): Promise<void> {
  await assert.rejects(Deno.stat(`${project.folder}/.orrery/orrery.db`), Deno.errors.NotFound);
}

const lines = (stderr: string): readonly string[] => stderr.trimEnd().split("\n");

Deno.test("load errors: all at once, with line and column, for run and chat", async () => {
  await using project = await testProject(FILES);
  const [run, chat] = await Promise.all([
    project.run(["run", "broken.agent.yml", "-q"]),
    project.run(["chat", "broken.agent.yml"], { stdin: "hi\n" }),
  ]);
  assert.deepEqual([run.code, run.stdout], [2, ""]);
  assert.deepEqual(run, chat);
  assert.deepEqual(
    lines(run.stderr).filter((line) => !line.startsWith(" ")),
    [
      "broken.agent.yml:7:48: error: structure.action.chain[0].message.hold: must be true or false, found text",
      'broken.agent.yml:8:33: error: structure.action.chain[1].flow.goto: there is no step "mm" (did you mean "m"?)',
      ...lines(run.stderr).filter((line) => line.startsWith("broken.agent.yml:9:")),
    ],
  );
  assert.match(run.stderr, /broken\.agent\.yml:9:\d+: error: structure\.action\.chain\[2\]\.llm: .*promts/);
  await assertNothingKept(project);
});

Deno.test("what is missing is told before the first step: permissions, variables, gadgets, models, documents", async () => {
  await using project = await testProject(FILES);
  const { code, stdout, stderr } = await project.run(["run", "needy.agent.yml", "--say", "hi"]);
  assert.deepEqual([code, stdout], [2, ""]);
  const found = lines(stderr).map((line) =>
    line.replace(/^needy\.agent\.yml:(\d+):\d+: error: (?:structure\.action\.)?/, "$1 ")
  );
  assert.deepEqual(found, [
    '5 structure.slots[0]: there is no module "other"',
    "11 chain[0].api-call.url: needs --allow-net=api.example.com:443",
    "13 chain[0].api-call.headers[0].value: needs --allow-env=ORRERY_TEST_TOKEN",
    "17 chain[1].sse-call.url: needs --allow-net=127.0.0.1:9",
    '19 chain[3].gadget.name: unknown gadget "Calculat". Did you mean "Calculate"?',
    '20 chain[4].llm.model: Unknown model "nope": expected provider/model or an alias of models.aliases.',
    '20 chain[4].llm.tools[1]: unknown tool "Nope". Did you mean "Now"?',
    '21 chain[5].llm: no model set; add "model" or configure a default: --model, or models.default of orrery.yaml',
    found[8] ?? "",
    '24 chain[8].llm.model: The model script/none.yml cannot be opened: Cannot read "none.yml": no such file',
    "25 chain[9].retriever: no document collection is configured: --collection FILE, or conversations.collection of orrery.yaml",
    '26 chain[10].run.file: Cannot look at "nothing.md": no such file or folder',
    '27 chain[11].run.file: prompt "gret" not found. Did you mean "greet"?',
  ]);
  assert.match(
    found[8] ?? "",
    /^23 .*chain\[7\]\.llm\.model: The model openai\/gpt-5 needs a key: set the variable/,
  );
  const granted = await project.run([
    "run",
    "needy.agent.yml",
    "--allow-env=ORRERY_TEST_TOKEN",
    "--allow-net",
  ]);
  assert.match(granted.stderr, /13:\d+: error: .*the environment variable "ORRERY_TEST_TOKEN" is not set/);
  assert.doesNotMatch(granted.stderr, /api\.example\.com/);
  assert.match(granted.stderr, /needs --allow-net=127\.0\.0\.1:9/); // a private address has to be named
  const denied = await project.run(["run", "needy.agent.yml", "--deny-net=api.example.com", "--allow-net"]);
  assert.match(
    denied.stderr,
    /11:\d+: error: .*api-call\.url: Connecting to .* --deny-net=api\.example\.com forbids it/,
  );
  await assertNothingKept(project);
});

Deno.test("flags that do not belong here are refused, each with what would", async () => {
  await using project = await testProject({
    ...FILES,
    "bad.yml": "usr: {}\nuser: [1\n",
    "odd.yml": "usr: {}\nsesion: 1\n",
    "list.json": "[]",
    "m.module.yml": "module: { id: m, sessions: [ { id: s } ] }\n",
    "now.calls": "!!!GADGET_START:Now\n!!!GADGET_END\n",
  });
  const refused = async (args: readonly string[], ...wanted: readonly (string | RegExp)[]) => {
    const { code, stdout, stderr } = await project.run(args);
    assert.deepEqual([code, stdout], [2, ""], `${args.join(" ")}: ${stderr}`);
    for (const part of wanted) {
      if (typeof part === "string") assert.ok(stderr.includes(part), stderr);
      else assert.match(stderr, part);
    }
  };
  const run = ["run", "sound.agent.yml"];
  const chat = ["chat", "sound.agent.yml"];
  await refused(
    [...run, "--input", "a=b", "--prompt=x", "--watch", "--profile=x"],
    "--input is for prompts; an agent takes slots: --slot NAME=VALUE",
    "--prompt is for documents; an agent takes none",
    "--watch is for documents",
    "--profile is for prompts",
  );
  await refused(
    [...chat, "--system=x", "--tools=a", "--temperature=1", "--profile=y", "--replay=x", "--record=y"],
    "--system is not for an agent file, which says it itself",
    "--tools is not",
    "--temperature is not",
    "--profile names a profile of orrery.yaml, and AGENT a file",
    "--record is not for chats with an agent: orrery run AGENT --say TEXT --record FILE",
    "--replay is not for chats with an agent: orrery run AGENT --replay FILE",
  );
  await refused(
    ["chat", "sound.yml"],
    'AGENT is a file that ends with .agent.yml or .agent.yaml; found "sound.yml"',
  );
  await refused(
    ["chat", "--user=x"],
    "--user is for conversations with an agent: orrery chat NAME.agent.yml",
  );
  await refused(["run", "now.calls", "--say=x", "--slot=a=b"], "--say is for conversations", "--slot is for");
  await refused(
    ["sound.agent.yml"],
    'Unknown command "sound.agent.yml". Did you mean "orrery chat sound.agent.yml"?',
  );
  await refused(
    ["run", "soud.agent.yml"],
    'file not found: "soud.agent.yml". Did you mean "sound.agent.yml"?',
  );
  await refused([...run, "--slot", "x"], "--slot x: expected NAME=VALUE");
  await refused([...run, "--slot", "store.x=1"], "--slot store.x=1: expected NAME=VALUE");
  await refused([...run, "--budget", "x=1"], '--budget has no "x"');
  await refused(
    [...run, "--context", "none.yml"],
    'Cannot read "none.yml": no such file (named by --context)',
  );
  await refused([...run, "--context", "bad.yml"], /bad\.yml:\d+:\d+/);
  await refused(
    [...run, "--context", "odd.yml"],
    /odd\.yml:1:1[\s\S]*Unknown key "usr"\. Did you mean "user"\?/,
    /odd\.yml:2:1[\s\S]*Unknown key "sesion"\. Did you mean "session"\?/,
  );
  await refused(
    [...run, "--context", "list.json"],
    /list\.json:1:1/,
    "Expected a mapping with user, module,",
  );
  await refused([...run, "--module", "none.module.yml"], "no such file (named by --module)");
  await refused(
    [...run, "--module", "m.module.yml", "--session", "t"],
    '--session: m.module.yml has no session "t"',
  );
  await refused([...run, "--collection", "none.yml"], "no such file (named by --collection");
  await refused([...run, "--json", "--jsonl"], "--json and --jsonl cannot both have stdout");
  await refused(["show", "conversation"], "orrery show conversation needs NAME: the id of a conversation");
  await assertNothingKept(project);
  await project.run(["run", "now.calls"]);
  const id = await project.newest();
  await refused(
    ["show", "conversation", id],
    `${id} is no conversation with an agent but a run of another kind (calls)`,
  );
  await refused(["fork", id, "--turn", "1"], "--turn is for conversations;");
  await refused(["fork", id, "--turn", "1.5"], "--turn must be a whole number from 0; found 1.5");
  await refused(
    ["fork", id, "--turn", "1", "--from", "x"],
    "--from and --turn both say where the new run begins",
  );
});

Deno.test("a file that is not text, and one that is a folder", async () => {
  await using project = await testProject(FILES);
  await Deno.writeFile(`${project.folder}/binary.agent.yml`, new Uint8Array([0xff, 0xfe, 0]));
  await Deno.mkdir(`${project.folder}/folder.agent.yml`);
  const [binary, folder, empty] = await Promise.all([
    project.run(["run", "binary.agent.yml"]),
    project.run(["chat", "folder.agent.yml"]),
    project.write("empty.agent.yml", "").then(() => project.run(["run", "empty.agent.yml"])),
  ]);
  assert.deepEqual([binary.code, folder.code, empty.code], [2, 2, 2]);
  assert.match(binary.stderr, /"binary\.agent\.yml"/);
  assert.match(folder.stderr, /"folder\.agent\.yml".*folder/);
  assert.match(empty.stderr, /^empty\.agent\.yml:1:1: error: file: /);
  await assertNothingKept(project);
});
