// Agent files on the command line: check, list, show and schema.

import assert from "node:assert/strict";
import { testProject } from "../_project.ts";
import { agentText, caseFile } from "../_agent_file.ts";

const SUPPORT = `version: "0.1"
structure:
  id: support
  constants: { TONE: "kind" }
  slots: [ { name: who, source: { user: { path: name } } } ]
  action:
    id: main
    chain:
      - id: form
        conditions: [ { name: name, condition: { exists: false } } ]
        chain:
          - { id: ask, message: { message: "Your name, {{who}}?", hold: true } }
          - id: fill
            extractor:
              values: [ { description: first name, target: { slot: { name: name } } } ]
              success: { action: continue }
              fail: { action: repeat }
      - { id: show, message: { message: "{{TONE}} {{name}} {{session.order}}" } }
      - { id: again, flow: { goto: ask } }
`;
const BROKEN = agentText("- { id: m, message: { message: x } }\n- { id: f, flow: { goto: mm } }");
const FILES = { "agents/support.agent.yml": SUPPORT, "broken.agent.yaml": BROKEN, "orrery.yaml": "" };

Deno.test("orrery check: an agent file, with the place and the words of all that is wrong", async () => {
  await using project = await testProject(FILES);
  const { code, stdout, stderr } = await project.run(["check", "broken.agent.yaml"]);
  assert.equal(
    stderr,
    'broken.agent.yaml:8:32: error: structure.action.chain[1].flow.goto: there is no step "mm" (did you mean "m"?)\n' +
      "1 file, 1 error, 0 warnings\n",
  );
  assert.deepEqual([code, stdout], [2, ""]);
});

Deno.test("orrery check: an agent names gadgets that its project does not have", async () => {
  const chain = "- { id: w, gadget: { name: WriteFil, input: { path: x } } }\n" +
    "- { id: l, llm: { prompts: [ { system: x } ], tools: [ ReadFile, Nowhere, own ] } }";
  await using project = await testProject({
    "a.agent.yml": agentText(chain),
    "gadgets/own.ts": 'export default { name: "own", description: "x", run: () => 1 };',
    "orrery.yaml": "",
  });
  const { code, stderr } = await project.run(["check", "a.agent.yml"]);
  const errors = stderr.split("\n").filter((line) => line.includes(": error: "));
  assert.deepEqual(
    errors.map((line) => line.replace(/^a\.agent\.yml:\d+:\d+: error: structure\.action\./, "")),
    [
      'chain[0].gadget.name: unknown gadget "WriteFil". Did you mean "WriteFile"?',
      'chain[1].llm.tools[1]: unknown tool "Nowhere"',
    ],
  );
  assert.match(errors[0] ?? "", /^a\.agent\.yml:7:34: /);
  assert.equal(code, 2);
});

Deno.test("orrery check: agent files of a project are found, warnings alone are no failure", async () => {
  await using project = await testProject({
    ...FILES,
    "lint.agent.yml": agentText("id: m\nmessage: { message: '{{x}}' }"),
  });
  const all = await project.run(["check"]);
  assert.equal(all.code, 2);
  assert.match(all.stderr, /^broken\.agent\.yaml:8:32: error: /m);
  assert.match(
    all.stderr,
    /^lint\.agent\.yml:6:25: warning: structure\.action\.message\.message: nothing sets the slot "conversation\.x"$/m,
  );
  assert.match(all.stderr, /^4 files, 1 error, 1 warning$/m);
  assert.equal((await project.run(["check", "lint.agent.yml", "agents"])).code, 0);
});

Deno.test("orrery check: agent files in the formats for programs, with codes and hints", async () => {
  await using project = await testProject({
    "a.agent.yml": agentText("- { id: a, message: { message: x } }\n- { id: b, flow: { goto: a } }\n"),
    "b.agent.yml": BROKEN,
  });
  const json = await project.run(["check", "--format", "json"]);
  assert.deepEqual(JSON.parse(json.stdout), [
    {
      file: "a.agent.yml",
      line: 8,
      column: 18,
      severity: "warning",
      code: "W628",
      message:
        "structure.action.chain[1].flow: this loop never ends: nothing in it waits for the user, and nothing leads out of it",
      hint: "Let a step hold, or add a condition to the chain.",
    },
    {
      file: "b.agent.yml",
      line: 8,
      column: 32,
      severity: "error",
      code: "E605",
      message: 'structure.action.chain[1].flow.goto: there is no step "mm" (did you mean "m"?)',
    },
  ]);
  const sarif = JSON.parse((await project.run(["check", "--format", "sarif"])).stdout);
  assert.deepEqual(
    sarif.runs[0].tool.driver.rules.map(({ id, name }: { id: string; name: string }) => `${id} ${name}`),
    ["W628 agent-endless-loop", "E605 agent-reference"],
  );
  const github = await project.run(["check", "--format", "github"]);
  assert.match(github.stdout, /^::error file=b\.agent\.yml,line=8,col=32/m);
});

Deno.test("orrery check: what is no text, and what is not there", async () => {
  await using project = await testProject();
  await Deno.writeFile(`${project.folder}/x.agent.yml`, new Uint8Array([0x61, 0xff]));
  const noText = await project.run(["check", "x.agent.yml"]);
  assert.match(noText.stderr, /^x\.agent\.yml:1:1: error: Cannot read .* it is not UTF-8 text/);
  assert.equal(noText.code, 2);
  const nothing = await project.run(["check", "y.agent.yml"]);
  assert.match(nothing.stderr, /Cannot check "y\.agent\.yml": it is not there/);
  assert.equal(nothing.code, 2);
});

Deno.test("orrery list agents: those of the project, broken ones with what is wrong first", async () => {
  await using project = await testProject(FILES);
  const text = await project.run(["list", "agents"]);
  assert.equal(
    text.stdout,
    "AGENT    FILE                      STEPS\n" +
      "?        broken.agent.yaml         ?\n" +
      "support  agents/support.agent.yml  6\n",
  );
  assert.match(
    text.stderr,
    /^broken\.agent\.yaml:8:32: error: structure\.action\.chain\[1\]\.flow\.goto: there is no step "mm".*\n$/,
  );
  assert.equal(text.code, 0);
  const json = await project.run(["list", "agents", "--json"]);
  assert.deepEqual(JSON.parse(json.stdout), {
    agents: [
      { file: "broken.agent.yaml", problem: text.stderr.trimEnd() },
      { file: "agents/support.agent.yml", id: "support", steps: 6 },
    ],
  });
  assert.equal(
    (await project.run(["list", "agents", "--names"])).stdout,
    "broken.agent.yaml\nagents/support.agent.yml\n",
  );
  await using empty = await testProject({ "orrery.yaml": "" });
  const none = await empty.run(["list", "agents"]);
  assert.deepEqual([none.stdout, none.code], ["", 0]);
  assert.match(none.stderr, /^The project has no agents: /);
});

Deno.test("orrery show agent: its steps as an outline", async () => {
  await using project = await testProject(FILES);
  const { stdout, code } = await project.run(["show", "agent", "agents/support.agent.yml"]);
  assert.equal(
    stdout,
    `support  (agents/support.agent.yml)

Constants:
  TONE  "kind"

Filled before the first step:
  who  user: name

Steps:
  main      chain
    form    chain      if conversation.name exists false; reads conversation.name
      ask   message    waits for the user; reads conversation.who
      fill  extractor  success: continue; fail: repeat; writes conversation.name
    show    message    reads conversation.name, session.order
    again   flow       goto ask
`,
  );
  assert.equal(code, 0);
  const json = JSON.parse(
    (await project.run(["show", "agent", "agents/support.agent.yml", "--json"])).stdout,
  );
  assert.deepEqual([json.id, json.file, json.constants], ["support", "agents/support.agent.yml", {
    TONE: "kind",
  }]);
  assert.deepEqual(json.steps[3], {
    id: "fill",
    kind: "extractor",
    depth: 2,
    line: 13,
    isHolding: false,
    conditions: [],
    flows: { success: "continue", fail: "repeat" },
    reads: [],
    writes: ["conversation.name"],
  });
});

Deno.test("orrery show agent: what is wrong with the file, and with the command", async () => {
  await using project = await testProject(FILES);
  const broken = await project.run(["show", "agent", "broken.agent.yaml"]);
  assert.match(broken.stderr, /^broken\.agent\.yaml:8:32: error: .*there is no step "mm"/);
  assert.deepEqual([broken.code, broken.stdout], [2, ""]);
  const other = await project.run(["show", "agent", "orrery.yaml"]);
  assert.match(other.stderr, /Cannot show "orrery\.yaml" as an agent/);
  assert.equal(other.code, 2);
  const none = await project.run(["show", "agent"]);
  assert.match(none.stderr, /orrery show agent needs NAME: the path of the agent; all: orrery list agents/);
});

Deno.test("orrery schema agent: a JSON Schema for editors, its own keys marked", async () => {
  await using project = await testProject();
  const { stdout, code } = await project.run(["schema", "agent"]);
  assert.equal(code, 0);
  const schema = JSON.parse(stdout);
  const theirs = JSON.parse(await caseFile("agent.schema.json"));
  assert.equal(schema.$schema, theirs.$schema);
  const own = Object.entries<Record<string, unknown>>(schema.$defs.Step.properties)
    .filter(([, property]) => property["x-extension"] === true).map(([name]) => name);
  assert.deepEqual(own, ["gadget", "run"]);
  assert.equal((await project.run(["schema", "agent", "-o", "agent.schema.json"])).code, 0);
  assert.deepEqual(JSON.parse(await project.read("agent.schema.json")), schema);
});
