// Agent files of conversations: what they say, and everything that is wrong with them (conversations.md 1, 2.4, 2.10 to 2.12, 3).
import fc from "fast-check";
import assert from "node:assert/strict";
import { Document, isScalar, visit } from "yaml";
import { type AgentFile, AgentFileError, type AgentStep, type Json, loadAgent } from "../mod.ts";
import {
  agentCases,
  agentText,
  caseFile,
  problemLines,
  readAgent,
  stepsIn,
  writtenStep,
} from "./_agent_file.ts";
import { testProject } from "./_project.ts";
import { randomRoot } from "./_random_agent.ts";
import { anyText } from "./_any_text.ts";

Deno.test("agent file: what is wrong is told in the words of the cases, at its place", async (t) => {
  const places: Record<string, [number, number, string]> = JSON.parse(await caseFile("places.json"));
  const cases = await agentCases("invalid");
  assert.deepEqual(cases.map(({ name }) => name), Object.keys(places), "each case has a place");
  for (const { name, text } of cases) {
    await t.step(name, async () => {
      const { agent, problems: [first] } = await readAgent(text, "x.agent.yml");
      assert.equal(agent, undefined);
      assert.equal(`# error: ${first?.path}: ${first?.message}`, text.split("\n", 1)[0]);
      const [line, column, there] = places[name] ?? [0, 0, ""];
      assert.deepEqual([first?.file, first?.line, first?.column], ["x.agent.yml", line, column]);
      assert.ok(
        text.split("\n")[line - 1]?.startsWith(there, column - 1),
        `${there} is at ${line}:${column}`,
      );
    });
  }
});

Deno.test("agent file: the valid cases are read without errors", async (t) => {
  for (const { name, text } of await agentCases("valid")) {
    await t.step(name, async () => {
      const { agent, problems } = await readAgent(text, name);
      assert.deepEqual(problems, []);
      assert.ok(agent !== undefined && agent.root.id !== "");
    });
  }
});

/** What is wrong with steps: what it is, the steps, the lines. */
const WRONG: readonly (readonly [what: string, steps: string, lines: readonly string[]])[] = [
  ["two actions", "id: m\nmessage: { message: x }\nflow: { action: continue }", [
    'structure.action: a step needs exactly one of "message", "llm", "chain", "combined", "flow", "set-slot", "api-call", "sse-call", "validator", "extractor", "retriever", "counter", "summarizer"; found "message" and "flow" <- action:',
  ]],
  ["a step that is text", "- hello", [
    "structure.action.chain[0]: must be a mapping, found text <- hello",
  ]],
  ["an empty chain", "id: m\nchain: []", ["structure.action.chain: must not be empty <- []"]],
  ["a chain that is a mapping", "id: m\nchain: { id: a, message: { message: x } }", [
    "structure.action.chain: must be a list, found a mapping <- { id: a,",
  ]],
  [
    "an id with braces, and an empty one",
    '- { id: "{a}", message: { message: x } }\n- { id: "", message: { message: x } }',
    [
      'structure.action.chain[0].id: must not begin or end with a blank, or hold "{" or "}" <- "{a}", m',
      'structure.action.chain[1].id: must not be empty <- "", mess',
    ],
  ],
  ["an id that is a number", "id: 1\nmessage: { message: x }", [
    "structure.action.id: must be text, found a number <- 1",
  ]],
  [
    "several at once, in the order of the text",
    "- { id: m, message: { message: 5, hold: yes } }\n- { flow: { goto: n } }",
    [
      "structure.action.chain[0].message.message: must be text, found a number <- 5, hold:",
      "structure.action.chain[0].message.hold: must be true or false, found text <- yes } }",
      'structure.action.chain[1]: every step needs an "id" <- { flow: ',
      'structure.action.chain[1].flow.goto: there is no step "n" (did you mean "m"?) <- n } }',
    ],
  ],
  ["a key that is far from all others", "id: m\nfoo: 1", [
    'structure.action: unknown key "foo" in a step <- foo: 1',
  ]],
  ["a prompt with no role", "id: m\nllm: { prompts: [ {} ] }", [
    'structure.action.llm.prompts[0]: a prompt needs exactly one of "system", "user", "a-i", "constant" <- {} ] }',
  ]],
  ["a constant that is not there", "id: m\nllm: { prompts: [ { constant: ROLE } ] }", [
    'structure.action.llm.prompts[0].constant: there is no constant "ROLE" <- ROLE } ]',
  ]],
  ["a memory limit of none", "id: m\nllm: { prompts: [ { user: x } ], memory-limit: 0 }", [
    "structure.action.llm.memory-limit: must be a whole number, 1 or more <- 0 }",
  ]],
  ["a temperature that is text", 'id: m\nllm: { prompts: [ { user: x } ], temperature: "1" }', [
    'structure.action.llm.temperature: must be a number, found text <- "1" }',
  ]],
  ["nothing to send with an empty memory", "id: m\nllm: { prompts: [], memory: [] }", [
    "structure.action.llm: has no prompts and no memory, so there is nothing to send to the model <- llm: { p",
  ]],
  ["a selection of nothing", "id: m\nllm: { prompts: [], memory: [ {} ] }", [
    'structure.action.llm.memory[0]: a selection needs exactly one of "selector", "from" <- {} ] }',
  ]],
  ["an action that is none", "id: m\nflow: { action: stop }", [
    'structure.action.flow.action: must be one of "continue", "repeat", "end"; found "stop" <- stop }',
  ]],
  ["repeat without a chain behind a failure", "id: a\n" + api({ fail: "{ action: repeat }" }), [
    'structure.action.api-call.fail: "repeat" needs a chain around the step <- fail: { ',
  ]],
  ["a jump into a combined step", combined("- { id: go, flow: { goto: l } }"), [
    'structure.action.chain[1].flow.goto: "l" is inside the combined step "both"; go to "both" instead <- l } }',
  ]],
  [
    "a condition with two operators",
    "id: m\nconditions: [ { name: x, condition: { equals: 1, exists: true } } ]\nmessage: { message: x }",
    [
      'structure.action.conditions[0].condition: a condition needs exactly one of "equals", "not-equals", "exists", "greater-than", "less-than", "greater-than-or-equal", "less-than-or-equal"; found "equals" and "exists" <- conditio',
    ],
  ],
  [
    "a condition without a slot",
    "id: m\nconditions: [ { condition: { exists: true } } ]\nmessage: { message: x }",
    [
      'structure.action.conditions[0]: "name" is required in a condition <- { condit',
    ],
  ],
  ["a destination that is none", "id: m\ncounter: { slot: { name: n, destination: user } }", [
    'structure.action.counter.slot.destination: must be one of "conversation", "global", "session", "module"; found "user" <- user } }',
  ]],
  [
    "a method in small letters, and a header with a blank",
    "id: a\n" + api({ method: "get", headers: "[ { key: A B, value: 1 } ]" }),
    [
      'structure.action.api-call.method: must be one of "GET", "POST", "PUT", "DELETE"; found "get" (did you mean "GET"?) <- get, hea',
      'structure.action.api-call.headers[0].key: must be the name of a header, found "A B" <- A B, val',
    ],
  ],
  ["an enum of another type, and a word twice", extractor("type: number, enum: [ a, a ]"), [
    'structure.action.extractor.values[0].enum: is only for type "string"; type is "number" <- enum: [ ',
    'structure.action.extractor.values[0].enum[1]: "a" is listed twice <- a ], tar',
  ]],
  ["properties without an object", extractor("type: array, properties: { a: { description: x } }"), [
    'structure.action.extractor.values[0].properties: is only for type "object"; type is "array" <- properti',
  ]],
  [
    "what is wrong deep inside",
    extractor("type: array, items: { description: x, type: object, properties: { a: { type: date } } }"),
    [
      'structure.action.extractor.values[0].items.properties.a: "description" is required in a schema <- a: { typ',
      'structure.action.extractor.values[0].items.properties.a.type: must be one of "string", "number", "integer", "boolean", "array", "object"; found "date" <- date } }',
    ],
  ],
  [
    "a number that JSON does not have",
    "id: s\nset-slot: { values: [ { path: { name: n }, value: [ .inf ] } ] }",
    [
      "structure.action.set-slot.values[0].value: must hold finite numbers only <- [ .inf ]",
    ],
  ],
  ["a path that only looks like one", "id: a\n" + api({ "response-path": "a b" }), [
    'structure.action.api-call.response-path: must be a JSONPath starting with "$", found "a b" <- a b, tar',
  ]],
  [
    "templates without quotes, where anything may stand too",
    "- { id: s, set-slot: { values: [ { path: { name: n }, value: {{a}} } ] } }\n- { id: t, llm: { prompts: {{b}} } }",
    [
      'structure.action.chain[0].set-slot.values[0].value: looks like a template without quotes; write it as "{{slot}}" in quotes <- {{a}} } ',
      'structure.action.chain[1].llm.prompts: looks like a template without quotes; write it as "{{slot}}" in quotes <- {{b}} } ',
    ],
  ],
  ["a template that text follows", "id: m\nmessage:\n  message: {{name}}, hello", [
    'structure.action.message.message: looks like a template without quotes; write it as "{{slot}}" in quotes <- {{name}}',
  ]],
];

function api(fields: Readonly<Record<string, string>>): string {
  const all = {
    url: "x",
    method: "GET",
    ...fields,
    target: "{ slot: { name: r } }",
    success: "{ action: continue }",
    fail: fields.fail ?? "{ action: continue }",
  };
  return `api-call: { ${Object.entries(all).map(([key, value]) => `${key}: ${value}`).join(", ")} }`;
}

function extractor(fields: string): string {
  return `id: e\nextractor: { values: [ { description: d, ${fields}, target: { slot: { name: n } } } ], ` +
    "success: { action: continue }, fail: { action: continue } }";
}

function combined(after: string): string {
  return `- id: both\n  combined:\n    - { id: l, message: { message: x } }\n${after}`;
}

Deno.test("agent file: what is wrong in steps", async (t) => {
  for (const [what, steps, lines] of WRONG) {
    await t.step(what, async () => assert.deepEqual(await problemLines(agentText(steps)), lines));
  }
});

/** What is wrong with whole files. */
const WRONG_FILES: readonly (readonly [what: string, text: string, lines: readonly string[]])[] = [
  ["no text", "", ['file: is empty; it needs "version" and "structure" <- ']],
  ["an empty document", "---\n...\n", ['file: is empty; it needs "version" and "structure" <- ']],
  ["a list", "- a\n", ['file: must be a mapping with "version" and "structure", found a list <- - a']],
  ["another version", 'version: "0.2"\nstructure: { id: a, action: { id: m, message: { message: x } } }\n', [
    'version: must be the text "0.1", found "0.2" <- "0.2"',
  ]],
  ["nothing in it", "{}", [
    'file: "version" is required in the file <- {}',
    'file: "structure" is required in the file <- {}',
  ]],
  ["a structure without an id and an action", 'version: "0.1"\nstructure: { ids: 1 }\n', [
    'structure: "action" is required in "structure" <- structur',
    'structure: unknown key "ids" in "structure" (did you mean "id"?) <- ids: 1 }',
  ]],
  [
    "a key that is there twice, and what is wrong besides",
    'version: "0.1"\nstructure:\n  id: a\n  id: b\n  action: { id: m, flow: {} }\n',
    [
      'file: not valid YAML at line 4, column 3: Map keys must be unique: "id" is there from line 3 on <- id: b',
      'structure.action.flow: a flow needs exactly one of "goto", "action" <- flow: {}',
    ],
  ],
  [
    "a tag, and a merge key",
    'version: !v "0.1"\nstructure: { <<: {}, id: a, action: { id: m, message: { message: x } } }\n',
    [
      'file: not valid YAML at line 1, column 10: Unresolved tag: !v <- !v "0.1"',
      'file: not valid YAML at line 2, column 14: Found the merge key "<<", which YAML 1.2 does not have <- <<: {}, ',
    ],
  ],
  ["an alias of nothing", 'version: "0.1"\nstructure: *x\n', [
    'file: not valid YAML at line 2, column 12: Cannot read the alias "*x": no "&x" comes before it <- *x',
  ]],
  [
    "slots",
    source(
      "{ user: { path: '$.[' }, module: { path: x } }",
      "{ usr: { path: a } }",
      "{}",
      "{ module: current, path: $ }",
    ),
    [
      'structure.slots[0].source: a source needs exactly one of "session", "module", "user", "user-config", ' +
      '"user-context-log"; found "user" and "module" <- source: ',
      `structure.slots[0].source.user.path: is not a valid JSONPath: "$.[" <- '$.[' },`,
      'structure.slots[0].source.module.path: must be a JSONPath starting with "$", found "x" (did you mean "$.x"?) <- x } } }',
      'structure.slots[1].source: unknown key "usr" in a source (did you mean "user"?) <- usr: { p',
      'structure.slots[2].source: does not say where the value comes from; use "session:", "module:" or "user:" with "path" ' +
      "below it <- source: ",
      "structure.slots[3].source.module: must be a mapping, found text <- current,",
    ],
  ],
  [
    "constants without a name",
    'version: "0.1"\nstructure: { id: a, constants: { "": 1 }, action: { id: m, message: { message: x } } }\n',
    [
      'structure.constants: must not have an empty name <- "": 1 },',
    ],
  ],
];

function source(...sources: readonly string[]): string {
  const slots = sources.map((each, index) => `    - { name: s${index}, source: ${each} }\n`).join("");
  return `version: "0.1"\nstructure:\n  id: a\n  action: { id: m, message: { message: x } }\n  slots:\n${slots}`;
}

Deno.test("agent file: what is wrong in whole files", async (t) => {
  for (const [what, text, lines] of WRONG_FILES) {
    await t.step(what, async () => assert.deepEqual(await problemLines(text), lines));
  }
});

async function read(steps: string): Promise<AgentFile> {
  const { agent, problems } = await readAgent(agentText(steps), "a.agent.yml");
  assert.ok(agent, problems.map(({ path, message }) => `${path}: ${message}`).join("\n"));
  return agent;
}

/** The action of an agent of one step, without what every step has. */
async function actionOf(step: string): Promise<Json> {
  const { id: _id, path: _path, span: _span, conditions: _conditions, ...action } = (await read(step)).root;
  return JSON.parse(JSON.stringify(action));
}

Deno.test("agent file: what is left out means what the format says", async () => {
  const model = { prompts: [], skipPrefix: false };
  const go = { action: "continue" };
  const conversation = (name: string) => ({ destination: "conversation", name });
  assert.deepEqual(await actionOf("id: m\nmessage: { message: x }"), {
    kind: "message",
    message: "x",
    hold: false,
  });
  assert.deepEqual(await actionOf("id: m\nsummarizer: {}"), { kind: "summarizer", type: "append", ...model });
  assert.deepEqual(
    await actionOf("id: m\nretriever: { query: { name: q }, target: { slot: { name: d } } }"),
    {
      kind: "retriever",
      query: conversation("q"),
      target: conversation("d"),
      limit: 4,
      secondary: true,
    },
  );
  assert.deepEqual(
    await actionOf(
      "id: v\nvalidator: { goals: [ { name: g, goal: x } ], success: { action: continue }, fail: { action: continue } }",
    ),
    {
      kind: "validator",
      type: "all",
      goals: [{ name: "g", goal: "x", examples: [] }],
      success: go,
      fail: go,
      ...model,
    },
  );
  assert.deepEqual(
    await actionOf(
      "id: e\nextractor: { values: [ { description: x, target: { slot: { name: n } } } ], success: { action: continue }, fail: { action: continue } }",
    ),
    {
      kind: "extractor",
      values: [{ description: "x", type: "string", examples: [], target: conversation("n") }],
      success: go,
      fail: go,
      ...model,
    },
  );
});

Deno.test("agent file: a number or a truth value in a template is read as it is written", async () => {
  const step =
    "id: m\nllm: { prompts: [ { user: 1.10 }, { user: 0x1F }, { user: true }, { system: &n 2.50 }, { a-i: *n } ] }";
  const action = await actionOf(step);
  assert.deepEqual(action, {
    kind: "llm",
    hold: false,
    prompts: [
      { role: "user", text: "1.10" },
      { role: "user", text: "0x1F" },
      { role: "user", text: "true" },
      { role: "system", text: "2.50" },
      { role: "assistant", text: "2.5" }, // an alias is not written there
    ],
  });
});

Deno.test("agent file: what only Orrery has (conversations.md 3)", async () => {
  assert.deepEqual(
    await actionOf(
      "id: m\nllm: { prompt: review/code, args: { file: '{{f}}' }, tools: [ ReadFile ], schema: { type: object }, store: { slot: { name: r } } }",
    ),
    {
      kind: "llm",
      prompts: [],
      hold: false,
      tools: ["ReadFile"],
      prompt: { path: "review/code", args: { file: "{{f}}" } },
      schema: { type: "object" },
      store: { destination: "conversation", name: "r" },
    },
  );
  assert.deepEqual(
    await actionOf("id: g\ngadget: { name: ReadFile, input: { path: a }, success: { action: end } }"),
    {
      kind: "gadget",
      name: "ReadFile",
      input: { path: "a" },
      success: { action: "end" },
    },
  );
  assert.deepEqual(await actionOf("id: r\nrun: { file: plan.md }"), { kind: "run", file: "plan.md" });
  assert.deepEqual(await actionOf("id: f\nflow: { action: end }"), { kind: "flow", flow: { action: "end" } });
  const wrong = [
    [
      "llm: { prompt: a, prompts: [] }",
      'structure.action.llm: "prompts" and "prompt" exclude each other; drop one of them <- llm: { p',
    ],
    [
      "llm: { prompts: [ { user: x } ], args: {} }",
      'structure.action.llm.args: needs "prompt" beside it <- args: {}',
    ],
    ["gadget: {}", 'structure.action.gadget: "name" is required in "gadget" <- gadget: '],
    [
      "run: { files: a }",
      'structure.action.run: unknown key "files" in "run" (did you mean "file"?) <- files: a',
    ],
  ] as const;
  for (const [step, line] of wrong) assert.deepEqual(await problemLines(agentText(`id: m\n${step}`)), [line]);
  const [schema = ""] = await problemLines(
    agentText("id: m\nllm: { prompts: [ { user: x } ], schema: { type: strnig } }"),
  );
  assert.match(
    schema,
    /^structure\.action\.llm\.schema: is no JSON Schema that can be used: type: .*strnig.* <- \{ type: /,
  );
});

Deno.test("agent file: what is deprecated means what it says", async () => {
  const text = agentText(
    "- { id: m, llm: { prompts: [ { user: x } ], skip-prefix: true, reasining-effort: low } }\n" +
      "- { id: c, counter: { slot: { name: n, global: true } } }",
  );
  const { root } = await loadAgent({ file: "a.agent.yml", text });
  const [m, c] = stepsIn(root);
  assert.ok(m?.kind === "llm" && c?.kind === "counter");
  assert.equal(m.effort, "low");
  assert.deepEqual(c.slot, { destination: "global", name: "n" });
});

Deno.test("agent file: sources of preloaded slots, flat or not", async () => {
  const sources = [
    "{ user: { path: name } }",
    "{ session: { path: $.a, session: { from: s1 } } }",
    "{ session: { selector: Current }, module: { from: m1 }, path: $.b }",
    "{ module: { selector: current }, path: $.c }",
    "{ user-config: { key: k, path: $.d } }",
    "{ user-context-log: { key: k, path: $.e } }",
  ];
  const { agent } = await readAgent(source(...sources), "a.agent.yml");
  const current = { selector: "current" };
  assert.deepEqual(agent?.preloads.map(({ source }) => source), [
    { kind: "user", path: "name" },
    { kind: "session", path: "$.a", session: { from: "s1" }, module: current },
    { kind: "session", path: "$.b", session: current, module: { from: "m1" } },
    { kind: "module", path: "$.c", module: current },
    { kind: "user-config", key: "k", path: "$.d" },
    { kind: "user-context-log", key: "k", path: "$.e", filter: "latest" },
  ]);
});

Deno.test("agent file: steps know their way and their place, and where a jump may go", async () => {
  const steps = (from: "b" | "e", to: string): string => {
    const go = (id: string) => id === from ? `flow: { goto: ${to} }` : "message: { message: x }";
    return `- id: a\n  chain:\n    - { ${
      go("b")
    }, id: b }\n- id: c\n  combined:\n    - id: d\n      chain:\n        - { id: e, ${go("e")} }`;
  };
  const ids = (step: AgentStep): readonly string[] => [step.id, ...stepsIn(step).flatMap(ids)];
  const { root } = await read(steps("b", "c"));
  assert.deepEqual(ids(root), ["main", "a", "b", "c", "d", "e"]);
  const e = stepsIn(root).flatMap(stepsIn).flatMap(stepsIn).at(0);
  assert.deepEqual([e?.id, e?.path, e?.span], [
    "e",
    "structure.action.chain[1].combined[0].chain[0]",
    { file: "a.agent.yml", line: 14, column: 19, length: 2 },
  ]);
  const told = async (from: "b" | "e", to: string) =>
    (await readAgent(agentText(steps(from, to)), "a.agent.yml")).problems.map(({ message }) => message);
  assert.deepEqual(await told("e", "b"), []);
  assert.deepEqual(await told("e", "c"), []);
  assert.deepEqual(await told("b", "main"), [
    '"main" is a chain and cannot be a goto target; use its first step "b"',
  ]);
  assert.deepEqual(await told("b", "d"), ['"d" is inside the combined step "c"; go to "c" instead']);
  assert.deepEqual(await told("e", "d"), [
    '"d" is a chain and cannot be a goto target; use its first step "e"',
  ]);
  assert.deepEqual(await told("b", "nowhere"), ['there is no step "nowhere"']);
});

Deno.test("agent file: aliases stand for what they name, with the place of that", async () => {
  const steps =
    "- { id: a, llm: { prompts: &p [ { user: x }, { usr: y } ] } }\n- { id: b, llm: { prompts: *p } }";
  assert.deepEqual(await problemLines(agentText(steps)), [
    'structure.action.chain[0].llm.prompts[1]: unknown key "usr" in a prompt (did you mean "user"?) <- usr: y }',
    'structure.action.chain[1].llm.prompts[1]: unknown key "usr" in a prompt (did you mean "user"?) <- usr: y }',
  ]);
  const again = await problemLines(agentText("- &s { id: a, message: { message: x } }\n- *s"));
  assert.deepEqual(again, [
    'structure.action.chain[1].id: step id "a" is already used at structure.action.chain[0] <- a, messa',
  ]);
  const laughs = Array.from(
    { length: 9 },
    (_, n) => `k${n + 1}: &k${n + 1} [ *k${n}, *k${n}, *k${n}, *k${n} ]`,
  );
  const bomb =
    `version: "0.1"\nstructure:\n  id: a\n  action: { id: m, message: { message: x } }\n  constants:\n` +
    ["k0: &k0 [ x ]", ...laughs].map((line) => `    ${line}\n`).join("");
  const { problems } = await readAgent(bomb, "a.agent.yml");
  assert.match(problems[0]?.message ?? "", /the aliases of this file would stand for more than/);
});

Deno.test("loadAgent: a file, a URL or a text, else all that is wrong", async () => {
  const file = "tests/spec/conversations/valid/01-seed-example.agent.yml";
  const agents = [
    await loadAgent(file),
    await loadAgent(new URL(`../${file}`, import.meta.url)),
    await loadAgent({ file, text: await Deno.readTextFile(file) }),
  ];
  assert.deepEqual(agents.map(({ id }) => id), ["simple-chat", "simple-chat", "simple-chat"]);
  assert.equal(agents[0]?.hash, agents[2]?.hash);
  assert.equal(agents[0]?.file, file);
  const broken = await loadAgent({ file: "b.agent.yml", text: agentText("- { id: m, flow: {} }\n- {}") })
    .catch((e) => e);
  assert.ok(broken instanceof AgentFileError);
  assert.equal(broken.problems.length, 3);
  assert.equal(
    broken.message.split("\n")[0],
    'b.agent.yml:7:18: error: structure.action.chain[0].flow: a flow needs exactly one of "goto", "action"',
  );
  await assert.rejects(loadAgent("no/such.agent.yml"), /no such file/);
});

Deno.test("agent file: a random agent that is written is read back as it was", async () => {
  const property = fc.asyncProperty(randomRoot, fc.boolean(), async (root, isJson) => {
    const document = { version: "0.1", structure: { id: "random", action: writtenStep(root) } };
    const text = isJson ? JSON.stringify(document) : writtenYaml(document);
    const { agent, problems } = await readAgent(text, "r.agent.yml");
    assert.deepEqual(problems, [], text);
    assert.ok(agent);
    assert.deepEqual(plain(agent.root), plain(root), text);
  });
  await fc.assert(property, { numRuns: 200 });
});

/** The key `<<` is quoted: the library writes it as it is, and there it would be a merge key, which YAML 1.2 does not have. */
function writtenYaml(value: object): string {
  const document = new Document(value, { version: "1.2", aliasDuplicateObjects: false });
  visit(document, {
    Pair(_, { key }) {
      if (isScalar(key) && key.value === "<<") key.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString();
}

/** A step as plain data, without its place; -0 is 0 in a text. */
function plain(step: AgentStep): unknown {
  return JSON.parse(
    JSON.stringify(
      step,
      (key, value) => key === "path" && typeof value === "string" || key === "span" ? undefined : value,
    ),
  );
}

Deno.test("agent file: no text gives anything but problems, each at a place in it", async () => {
  const cases = [...await agentCases("valid"), ...await agentCases("invalid")].map(({ text }) => text);
  const parts = fc.array(
    fc.constantFrom(
      ..."\n\n\n|      |    |  |id: a|structure:|action:|message:|{{x}}|{|}|[|]|- |: |, |\"|'|#|*a|&a |? |llm|prompts|goto|0.1|~|\t|---\n|<<|!t |chain:\n"
        .split("|"),
    ),
    { maxLength: 30 },
  );
  const spliced = fc.tuple(fc.constantFrom(...cases), fc.nat(2000), fc.nat(40), parts).map(
    ([text, at, cut, put]) => text.slice(0, at) + put.join("") + text.slice(at + cut),
  );
  const any = fc.oneof(anyText(), parts.map((each) => each.join("")), spliced);
  const property = fc.asyncProperty(any, async (text) => {
    const { agent, problems } = await readAgent(text, "x");
    assert.equal(agent === undefined, problems.length > 0);
    assert.ok(problems.every(({ severity }) => severity === "error"));
    const lines = text.split("\n");
    for (const { line, column, path, message } of problems) {
      assert.ok(
        line >= 1 && line <= lines.length && column >= 1,
        `${line}:${column} of ${JSON.stringify(text)}`,
      );
      assert.ok(column <= (lines[line - 1] ?? "").length + 1, `${line}:${column} of ${JSON.stringify(text)}`);
      assert.ok(path !== "" && message !== "");
    }
    assert.deepEqual(problems, problems.toSorted((a, b) => a.line - b.line || a.column - b.column));
  });
  await fc.assert(property, { numRuns: 3000 });
});

Deno.test("numbers of constants, slots, context and answers are printed as they are written, and compared as numbers", async () => {
  const agent = `version: "0.1"
structure:
  id: n
  constants: { phone: 0041791234567, zip: 01234, python: 3.10, card: 12345678901234567890, list: [1.50, 2], hex: 0x1F }
  slots:
    - { name: height, source: { user: { path: height } } }
    - { name: id, source: { user: { path: id } } }
  action:
    id: main
    chain:
      - { id: set, set-slot: { values: [ { path: { name: version }, value: 2.0 }, { path: { name: odd }, value: 007 } ] } }
      - id: same
        conditions:
          - { name: version, condition: { equals: 2 } }
          - { name: version, condition: { less-than: 2.01 } }
          - { name: height, condition: { not-equals: 1.81 } }
        message: { message: "{{phone}} {{zip}} {{python}} {{card}} {{list}} {{hex}} {{version}} {{odd}} {{height}} {{id}}" }
`;
  await using project = await testProject({
    "n.agent.yml": agent,
    "c.json": '{ "user": { "height": 1.80, "id": 1234567890123456789 } }',
  });
  const { stdout, stderr } = await project.run(["run", "n.agent.yml", "--context", "c.json"]);
  const wanted = "0041791234567 01234 3.10 12345678901234567890 [1.5,2] 31 2.0 007 1.80 1234567890123456789";
  assert.equal(stdout.trim(), wanted, stderr);
});
