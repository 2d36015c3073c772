// What is likely not meant in an agent file (conversations.md 2.13): each warning, and what it is not told of.
import fc from "fast-check";
import assert from "node:assert/strict";
import { agentCases, agentText, textAt, writtenStep } from "./_agent_file.ts";
import { testProject } from "./_project.ts";
import { randomRoot } from "./_random_agent.ts";
import { tries } from "./_thorough.ts";

/** A warning: its code, steps that have it, what is told of them, and steps that have it not. */
interface Lint {
  readonly code: string;
  readonly what: string;
  readonly has: string;
  readonly lines: readonly string[];
  readonly hasNot: readonly string[];
}

const HOLD = "- { id: ask, message: { message: Yes?, hold: true } }\n";

const LINTS: readonly Lint[] = [
  {
    code: "W620",
    what: "a destination that is none, and what is no placeholder",
    has: 'id: m\nmessage: { message: "{{sesion.a}} {{ a b }} {{}}" }',
    lines: [
      'structure.action.message.message: {{sesion.a}} stays as it is: there is no destination "sesion" (did you mean "session"?)',
      'structure.action.message.message: "{{ a b }}" is no placeholder and stays as it is; write {{slot}} or {{destination.slot}}',
      'structure.action.message.message: "{{}}" is no placeholder and stays as it is; write {{slot}} or {{destination.slot}}',
    ],
    hasNot: ['id: m\nmessage: { message: "{{ session.a }} {{global.b-c}} {x} ${y}" }'],
  },
  {
    code: "W620",
    what: "a place for a value as other kinds of files have it, with a name that is known",
    has: "- { id: s, set-slot: { values: [ { path: { name: a }, value: 1 } ] } }\n" +
      '- { id: m, message: { message: "{a} ${a} {conversation.a} {b} {{a}}" } }',
    lines: [
      "structure.action.chain[1].message.message: {a} stays as it is; the slot or constant is {{a}}",
      "structure.action.chain[1].message.message: ${a} stays as it is; the slot or constant is {{a}}",
      "structure.action.chain[1].message.message: {conversation.a} stays as it is; the slot or constant is {{conversation.a}}",
    ],
    hasNot: [],
  },
  {
    code: "W621",
    what: "a slot that nothing sets",
    has:
      '- { id: c, counter: { slot: { name: count } } }\n- { id: m, message: { message: "{{cont}} {{count}}" } }\n' +
      "- { id: r, retriever: { query: { name: q }, target: { slot: { name: d, destination: session } } } }",
    lines: [
      'structure.action.chain[1].message.message: nothing sets the slot "conversation.cont" (did you mean "count"?)',
      'structure.action.chain[2].retriever.query: nothing sets the slot "conversation.q"',
    ],
    hasNot: [
      'id: m\nmessage: { message: "{{session.a}}{{module.b}}{{global.c}}" }', // another conversation may have
      '- { id: s, summarizer: {} }\n- { id: m, message: { message: "{{summary}}" } }',
      "- { id: v, validator: { goals: [ { name: g, goal: x } ], success: { action: continue }, fail: { action: continue } } }\n" +
      '- { id: m, message: { message: "{{g}} {{g_explanation}}" } }',
      "id: m\nconditions: [ { name: x, condition: { exists: false } } ]\nmessage: { message: x }",
    ],
  },
  {
    code: "W622",
    what: "a slot that is filled for nothing",
    has:
      "- { id: s, set-slot: { values: [ { path: { name: a }, value: 1 }, { path: { name: b }, value: 1 } ] } }\n" +
      '- { id: m, message: { message: "{{b}}" } }',
    lines: [
      'structure.action.chain[0].set-slot.values[0].path: the slot "conversation.a" is filled and never read',
    ],
    hasNot: [
      "id: s\nset-slot: { values: [ { path: { name: a, destination: global }, value: 1 } ] }",
      "- { id: s, set-slot: { values: [ { path: { name: a }, value: 1 } ] } }\n- { id: f, flow: { goto: '{{a}}' } }",
      "- { id: s, set-slot: { values: [ { path: { name: a }, value: 1 } ] } }\n" +
      "- { id: m, conditions: [ { name: a, condition: { equals: 1 } } ], message: { message: x } }",
      "- { id: s, set-slot: { values: [ { path: { name: a }, value: 1 } ] } }\n" +
      "- { id: g, gadget: { name: Echo, input: { deep: [ '{{a}}' ] } } }",
    ],
  },
  {
    code: "W623",
    what: "what an extractor finds for nothing",
    has: extractor("a"),
    lines: [
      'structure.action.extractor.values[0].target.slot: what is found for "conversation.a" is never used',
    ],
    hasNot: [`- { ${extractor("a").replace("\n", ", ")} }\n- { id: m, message: { message: '{{a}}' } }`],
  },
  {
    code: "W624",
    what: "a memory of no step",
    has:
      "- { id: one, message: { message: x } }\n- { id: m, llm: { prompts: [], memory: [ { from: on } ] } }",
    lines: [
      'structure.action.chain[1].llm.memory[0].from: there is no step "on", so nothing is selected (did you mean "one"?)',
    ],
    hasNot: [
      "- { id: one, message: { message: x } }\n- { id: m, llm: { prompts: [], memory: [ { from: one } ] } }",
    ],
  },
  {
    code: "W625",
    what: "the environment where it is not inserted",
    has: "id: m\nmessage: { message: 'key ${env.KEY}' }",
    lines: ["structure.action.message.message: ${env.KEY} stays as it is here"],
    hasNot: [
      "id: m\n" +
      api(
        "url: '${env.HOST}/x', method: GET, headers: [ { key: Authorization, value: 'Bearer ${env.KEY}' } ]",
      ),
      "id: m\nllm: { model: '${env.MODEL}', prompts: [ { user: x } ] }",
    ],
  },
  {
    code: "W626",
    what: "what is deprecated",
    has: "- { id: m, llm: { prompts: [ { user: x } ], skip-prefix: false, reasining-effort: low } }\n" +
      "- { id: c, counter: { slot: { name: n, global: true } } }",
    lines: [
      'structure.action.chain[0].llm.skip-prefix: "skip-prefix" is deprecated',
      'structure.action.chain[0].llm.reasining-effort: "reasining-effort" is deprecated',
      'structure.action.chain[1].counter.slot.global: "global" is deprecated',
    ],
    hasNot: [
      "- { id: m, llm: { prompts: [ { user: x } ], reasoning-effort: low } }\n- { id: s, summarizer: { skip-prefix: true } }\n" +
      "- { id: c, counter: { slot: { name: n, destination: global } } }",
    ],
  },
  {
    code: "W627",
    what: "a step that is never reached",
    has:
      "- { id: go, flow: { goto: c } }\n- { id: a, message: { message: x } }\n- { id: b, message: { message: x } }\n" +
      "- id: group\n  chain:\n    - { id: first, message: { message: x } }\n    - { id: c, message: { message: x } }",
    lines: [
      'structure.action.chain[1]: the step "a" is never reached: "go" always goes on elsewhere',
      'structure.action.chain[3].chain[0]: the step "first" is never reached: "group" is only entered behind it',
    ],
    hasNot: [
      "- { id: go, conditions: [ { name: x, condition: { exists: true } } ], flow: { goto: c } }\n" +
      "- { id: a, message: { message: x } }\n- { id: c, message: { message: x } }",
      "- { id: go, flow: { goto: '{{x}}' } }\n- { id: a, message: { message: x } }",
      "- { id: go, flow: { goto: b } }\n- { id: a, flow: { action: end } }\n- { id: b, flow: { goto: a } }",
      // A chain whose condition does not hold is skipped, and a jump to its first step starts it.
      "- id: loop\n  conditions: [ { name: n, condition: { less-than: 2 } } ]\n  chain:\n    - { id: up, counter: { slot: { name: n } } }\n" +
      "    - { id: back, flow: { goto: up } }\n- { id: done, message: { message: x } }",
    ],
  },
  {
    code: "W628",
    what: "a loop without an end",
    has: "- { id: a, message: { message: x } }\n- { id: b, flow: { goto: a } }",
    lines: [
      "structure.action.chain[1].flow: this loop never ends: nothing in it waits for the user, and nothing leads out of it",
    ],
    hasNot: [
      HOLD + "- { id: b, flow: { goto: ask } }",
      "- { id: a, message: { message: x } }\n- { id: b, conditions: [ { name: n, condition: { exists: false } } ], flow: { goto: a } }",
      `- { id: a, ${api("url: x, method: GET").replace("fail: { action: continue }", "fail: { goto: a }")} }`,
      "- { id: a, message: { message: x } }\n- { id: b, flow: { goto: '{{to}}' } }",
      "id: a\nconditions: [ { name: n, condition: { less-than: 3 } } ]\nchain:\n  - { id: c, counter: { slot: { name: n } } }\n" +
      "  - { id: b, flow: { action: repeat } }",
    ],
  },
  {
    code: "W629",
    what: "a hold beside others",
    has:
      "id: both\ncombined:\n  - { id: l, message: { message: x, hold: true } }\n  - { id: r, message: { message: x } }",
    lines: [
      'structure.action.combined[0].message.hold: one answer goes to every step that waits in the combined step "both"',
    ],
    hasNot: [HOLD + "- id: both\n  combined:\n    - { id: r, message: { message: x, hold: false } }"],
  },
  {
    code: "W630",
    what: "two branches that write one slot",
    has: "id: both\ncombined:\n  - { id: l, counter: { slot: { name: n, destination: global } } }\n" +
      "  - id: r\n    chain:\n      - { id: s, counter: { slot: { name: n, destination: global } } }",
    lines: [
      'structure.action.combined[1].chain[0].counter.slot: two branches write the slot "global.n": what "r" writes replaces what "l" writes',
    ],
    hasNot: [
      "id: both\ncombined:\n  - { id: l, counter: { slot: { name: n, destination: global } } }\n" +
      "  - { id: r, counter: { slot: { name: n, destination: session } } }",
      "id: both\ncombined:\n  - id: l\n    chain:\n      - { id: a, counter: { slot: { name: n, destination: global } } }\n" +
      "      - { id: b, counter: { slot: { name: n, destination: global } } }",
    ],
  },
  {
    code: "W631",
    what: "not-equals of a slot that may be missing",
    has:
      "- { id: s, conditions: [ { name: x, condition: { exists: true } } ], counter: { slot: { name: n } } }\n" +
      "- { id: m, conditions: [ { name: n, condition: { not-equals: 1 } } ], message: { message: x } }",
    lines: [
      'structure.action.chain[1].conditions[0]: "not-equals" holds too when the slot "conversation.n" is missing',
    ],
    hasNot: [
      "- { id: s, counter: { slot: { name: n } } }\n" +
      "- { id: m, conditions: [ { name: n, condition: { not-equals: 1 } } ], message: { message: x } }",
      "id: m\nconditions: [ { name: n, condition: { exists: true } }, { name: n, condition: { not-equals: 1 } } ]\nmessage: { message: x }",
      "id: c\nconditions: [ { name: n, condition: { greater-than: 0 } } ]\nchain:\n" +
      "  - { id: m, conditions: [ { name: n, condition: { not-equals: 1 } } ], message: { message: x } }",
    ],
  },
  {
    code: "W632",
    what: "a chain that changes what its own condition asks for",
    has:
      "id: c\nconditions: [ { name: n, condition: { exists: false } } ]\nchain:\n  - { id: s, counter: { slot: { name: n } } }\n" +
      "  - { id: m, message: { message: '{{n}}' } }",
    lines: [
      'structure.action.conditions[0]: the slot "conversation.n" is set inside the chain, by "s", and the condition is checked ' +
      "only when the chain begins",
    ],
    hasNot: [
      "id: c\nconditions: [ { name: n, condition: { less-than: 3 } } ]\nchain:\n  - { id: s, counter: { slot: { name: n } } }\n" +
      "  - { id: r, flow: { action: repeat } }",
      "id: c\nconditions: [ { name: n, destination: global, condition: { exists: false } } ]\nchain:\n" +
      "  - { id: s, counter: { slot: { name: n } } }\n  - { id: m, message: { message: '{{n}}' } }",
    ],
  },
  {
    code: "W633",
    what: "a model that does not see what was said",
    has: HOLD + "- { id: m, llm: { prompts: [ { system: x } ] } }",
    lines: [
      'structure.action.chain[1].llm: the model does not see what the user has said: there is no "memory"',
    ],
    hasNot: [
      HOLD + "- { id: m, llm: { prompts: [ { system: x } ], memory: [ { selector: all } ] } }",
      "- { id: m, llm: { prompts: [ { system: x } ] } }\n" + HOLD,
    ],
  },
  {
    code: "W634",
    what: "a secret in a header",
    has: "id: a\n" +
      api(
        "url: x, method: GET, headers: [ { key: X-Api-Key, value: abc }, { key: X, value: Bearer abcdef } ]",
      ),
    lines: [
      'structure.action.api-call.headers[0].value: the header "X-Api-Key" looks like a secret that is written in the file',
      'structure.action.api-call.headers[1].value: the header "X" looks like a secret that is written in the file',
    ],
    hasNot: [
      "id: a\n" +
      api(
        "url: x, method: GET, headers: [ { key: Authorization, value: 'Bearer ${env.KEY}' }, { key: Accept, value: text/plain } ]",
      ),
      "id: a\n" + api("url: x, method: GET, headers: [ { key: Authorization, value: '{{session.token}}' } ]"),
    ],
  },
  {
    code: "W635",
    what: "a value that a comment cuts",
    has: "id: m\nmessage:\n  message: Your order #{{number}} is on its way",
    lines: [
      'file: " #{{number}} is on its way" is a comment and cuts the value "Your order": put the whole value in quotes',
    ],
    hasNot: [
      "id: m\nmessage:\n  message: Your order # a comment",
      "id: m\nmessage: # {{x}} #y\n  message: 'Order #42' #said",
      "id: m\nmessage:\n  message: |\n    Your order #42",
    ],
  },
  {
    code: "W639",
    what: "a number that would lose digits",
    has: "id: a\n" + api("url: x, method: POST, body: { zip: 01234, card: [ 12345678901234567890 ] }"),
    lines: [
      "structure.action.api-call.body.zip: 01234 is taken as text, since a number would lose digits; write it in quotes",
      "structure.action.api-call.body.card[0]: 12345678901234567890 is taken as text, since a number would lose digits; " +
      "write it in quotes",
    ],
    hasNot: [
      "id: a\n" +
      api("url: x, method: POST, body: { zip: '01234', n: [ 0, 0.10, -0, 1e3, 9007199254740991, 3.10 ] }"),
    ],
  },
];

function api(fields: string): string {
  return `api-call: { ${fields}, target: { slot: { name: r, destination: session } }, success: { action: continue }, ` +
    "fail: { action: continue } }";
}

function extractor(name: string): string {
  return `id: e\nextractor: { values: [ { description: d, target: { slot: { name: ${name} } } } ], ` +
    "success: { action: continue }, fail: { action: continue } }";
}

/** A problem as `orrery check --format json` tells it. */
interface Told {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: string;
  readonly code: string;
  readonly message: string;
}

/** What `orrery check` says of each of these agents, in one call. */
async function checked(texts: readonly string[]): Promise<readonly (readonly Told[])[]> {
  const nameOf = (index: number) => `${String(index).padStart(4, "0")}.agent.yml`;
  await using project = await testProject({
    ...Object.fromEntries(texts.map((text, index) => [nameOf(index), text])),
    "gadgets/echo.ts": 'export default { name: "Echo", description: "x", run: (input: unknown) => input };',
    "orrery.yaml": "conversations: { collection: own.collection.yml }\n",
    "own.collection.yml": 'version: "0.1"\ndocuments: []\n',
  });
  const { stdout, stderr } = await project.run(["check", "--format", "json", "--allow-net", "--allow-env"], {
    env: { HOST: "https://example.com", KEY: "a-key-of-tests", MODEL: "script/echo" },
  });
  const found = Map.groupBy<string, Told>(JSON.parse(stdout || `"${stderr}"`), ({ file }) => file);
  return texts.map((_text, index) => found.get(nameOf(index)) ?? []);
}

Deno.test("check agent: each warning, and what has it not", async (t) => {
  const rows = LINTS.flatMap(({ code, what, has, lines, hasNot }) => [
    { code, what, steps: has, lines },
    ...hasNot.map((steps) => ({ code, what: "not in a file without it", steps, lines: [] })),
  ]);
  const told = await checked(rows.map(({ steps }) => agentText(steps)));
  for (const [index, { code, what, steps, lines }] of rows.entries()) {
    await t.step(`${code}: ${what}`, () => {
      const problems = told[index] ?? [];
      assert.deepEqual(problems.filter(({ severity }) => severity === "error"), [], steps);
      assert.deepEqual(
        problems.filter((problem) => problem.code === code).map(({ message }) => message),
        lines,
        steps,
      );
    });
  }
});

Deno.test("check agent: a constant is no slot, and its placeholders count where a prompt names it", async () => {
  const text = (prompt: string) =>
    `version: "0.1"\nstructure:\n  id: a\n  constants: { ROLE: "Talk to {{nme}}.", tone: kind }\n  action:\n    id: main\n    chain:\n` +
    `      - { id: s, set-slot: { values: [ { path: { name: name }, value: Ana } ] } }\n` +
    `      - { id: m, llm: { prompts: [ { ${prompt} }, { user: "{{tone}} {{name}}" } ] } }\n`;
  const told = await checked([text("constant: ROLE"), text("system: x")]);
  assert.deepEqual(told.map((problems) => problems.map(({ message }) => message)), [[
    'structure.constants.ROLE: nothing sets the slot "conversation.nme" (did you mean "name"?)',
  ], []]);
});

Deno.test("check agent: errors keep the warnings away, what is deprecated is told with them, in the order of the text", async () => {
  const text = agentText(
    "- { id: c, counter: { slot: { name: n, global: true } } }\n- { id: m, message: { message: '{{x}}' } }\n- { id: f, flow: {} }",
  );
  const [problems, sound] = await checked([text, text.replace("flow: {}", "flow: { action: continue }")]);
  assert.deepEqual(problems?.map(({ code }) => code), ["W626", "E603"]);
  assert.deepEqual(sound?.map(({ code, line }) => `${code} ${line}`), ["W626 7", "W621 8"]);
});

Deno.test("check agent: of the valid cases what is known is told, and nothing else", async () => {
  const cases = await agentCases("valid");
  const all = await checked(cases.map(({ text }) => text));
  const told: Record<string, readonly string[]> = {};
  for (const [index, { name, text }] of cases.entries()) {
    const problems = all[index] ?? [];
    if (problems.length > 0) {
      told[name] = problems.map((problem) => `${problem.code} ${textAt(text, problem)}`);
    }
  }
  assert.deepEqual(told, {
    "10-goto-forward": ["W627 id: neve"],
    "11-goto-out-of-nested-chain": ["W627 id: skip", "W627 id: skip"],
    "12-goto-into-chain": ["W627 id: a"],
    "16-conditions-operators": ["W631 { name: "],
    "17-condition-checked-once": ["W632 { name: "],
    "19-deprecated-global": ["W626 global: ", "W626 global: "],
    "20-set-slot-types": ["W622 { name: ", "W622 { name: ", "W622 { name: "],
    "23-api-call-fail-status": ['W621 "{{name}', "W622 { name: "],
    "26-sse-call": ["W622 { name: "],
    "28-extractor-nested-types": ["W623 { name: "],
    "33-combined-order": ["W622 { name: "],
    "35-combined-hold-resumes-branch": ["W629 hold: tr"],
    "37-preloaded-slots": ["W622 none, so"],
    "38-loop-limit": ["W628 flow: { "],
    "44-retriever-empty-query": ["W621 { name: ", "W622 { name: "],
  });
});

Deno.test("check agent: whatever can be run can be looked at, and each warning is at a place in the text", async () => {
  const texts = fc.sample(randomRoot, tries(60, 200)).map((root) =>
    JSON.stringify({ version: "0.1", structure: { id: "random", action: writtenStep(root) } }, null, 1)
  );
  const all = await checked(texts);
  for (const [index, text] of texts.entries()) {
    const lines = text.split("\n");
    for (const { line, column, severity, code, message } of all[index] ?? []) {
      // A project has not the gadgets and files that a random agent names.
      if (severity === "error") {
        assert.match(message, /: (?:unknown (?:gadget|tool) |prompt ".*" not found)/, text);
      } else assert.match(code, /^W/);
      assert.ok(column <= (lines[line - 1] ?? "").length + 1);
    }
  }
});
