// What a gadget throws, and what its user is told of it, through the command line and in the form that ORRERY_BINARY says.

import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "./_run.ts";
import { attackPlace, type AttackRun, callOf } from "./sandbox/_place.ts";

/** A statement on a line of its own, the message that it ends in, and whether its place is told: the line, and the column of `throw`. */
const THROWN: readonly (readonly [statement: string, error: string, isPlaced?: boolean])[] = [
  ["throw undefined;", "undefined"],
  ["throw null;", "null"],
  [`throw "just text";`, "just text"],
  ["throw 7n;", "7"],
  [`throw Symbol("s");`, "Symbol(s)"],
  ["throw () => 1;", "()=>1"],
  [`throw { message: "from an object" };`, "from an object"],
  ["throw Object.create(null);", "a value that cannot be shown was thrown"],
  ["throw { toString() { throw new Error(); } };", "a value that cannot be shown was thrown"],
  [`throw new Error("plain");`, "plain", true],
  [`throw new (class Mine extends Error {})("of its own class");`, "of its own class", true],
  [`throw Object.freeze(new Error("frozen"));`, "frozen", true],
  [`throw Object.assign(new Error("no stack"), { stack: undefined });`, "no stack"],
  [`throw Object.assign(new Error("odd stack"), { stack: 7 });`, "odd stack"],
  [
    `throw Object.defineProperty(new Error("getter"), "stack", { get() { throw new Error("mine"); } });`,
    "getter",
  ],
  [
    `throw new Proxy(new Error("x"), { get() { throw 1; }, getPrototypeOf() { throw 1; } });`,
    "a value that cannot be shown was thrown",
  ],
  [
    `const { proxy, revoke } = Proxy.revocable(new Error("x"), {}); revoke(); throw proxy;`,
    "a value that cannot be shown was thrown",
  ],
  [`throw Object.assign(new Error("list"), { errors: Proxy.revocable([], {}).proxy });`, "list", true],
  [
    `throw Object.assign(new Error("lists"), { errors: new Proxy([], { get() { throw 1; } }) });`,
    "lists",
    true,
  ],
  [`throw new AggregateError([new Error("one"), "two"], "both");`, "both", true],
  [`throw new Error("outer", { cause: new Error("inner", { cause: "deep" }) });`, "outer", true],
  [`const loop = new Error("loop"); loop.cause = loop; throw loop;`, "loop", true],
  [
    `const [a, b] = [new Error("a"), new Error("b")]; a.cause = b; b.cause = a; throw a;`,
    "a",
    true,
  ],
  [`JSON.parse("{");`, "Expected property name or '}' in JSON at position 1 (line 1 column 2)", true],
  [`[1].map(() => { throw new Error("in a callback"); });`, "in a callback", true],
  [`await Promise.resolve(); throw new TypeError("later");`, "later", true],
  [`Error.prepareStackTrace = () => "mine"; throw new Error("prepared");`, "prepared", true],
  [
    `(() => { Error.stackTraceLimit = 0; try { throw new Error("limited"); } finally { Error.stackTraceLimit = 10; } })();`,
    "limited",
  ],
  [`throw Object.assign(new Error("named"), { name: "N".repeat(1_000_000) });`, "named", true],
  [
    `Deno.open("x");`,
    "Deno.open is not there in a gadget: use Deno.readFile and Deno.writeFile (with append: true to go on with a file)",
    true,
  ],
  [
    `await fetch("nothing");`,
    `Cannot fetch "nothing": expected a whole URL such as "https://example.com/page"`,
    true,
  ],
];

/** Texts with places of their own in them: of the module they become places of the source, of the host they are not there. */
const PLACED: readonly string[] = [
  `throw new Error(new Error("x").stack);`,
  `throw new Error((new Error("x").stack ?? "").replaceAll("\\n", " | "));`,
  `throw new Error("x").stack;`,
  `throw Object.assign(new Error("named"), { name: new Error("x").stack });`,
  `const target: { stack?: string } = {}; Error.captureStackTrace(target); throw new Error(target.stack);`,
];

/** The type in front of the statement moves it to another column than it has in JavaScript. */
const HEAD = "export default { name: 'Throws', description: 'Test.', input: { type: 'object' },\n" +
  "  run: async ({ at }: { readonly at: number }): Promise<unknown> => {\n";

function moduleOf(statements: readonly string[]): string {
  const cases = statements.map((statement, at) =>
    `    if (at as number satisfies number === ${at}) { type T = readonly string[]; const t: T = []; void t; ${statement} }\n`
  );
  return `${HEAD}${
    cases.join("").replaceAll("at as number satisfies number", "(at as number)")
  }    return "nothing was thrown";\n  } };\n`;
}

async function thrownBy(
  statements: readonly string[],
): Promise<AttackRun & { readonly secretPlaces: readonly string[] }> {
  await using place = await attackPlace({
    "gadgets/throws.ts": moduleOf(statements),
    "gadgets/twin.js": `export default { name: "Twin", description: "Test.", run: () => "ok" };\n`,
  }, { inside: true });
  const calls = statements.map((_, at) => callOf(`Throws:a${at}`, { at })).join("");
  const run = await place.run(calls + callOf("Twin:t"), { timeoutSeconds: 10 });
  assert.equal(run.outcome("t").result, "ok");
  await place.assertHarmless(run);
  return {
    ...run,
    secretPlaces: [`${place.temporary}/`, join(PROJECT_ROOT, "lib"), "deno-compile", "file://"],
  };
}

const logsOf = (run: AttackRun, id: string): string =>
  run.events.filter(({ type, invocationId }) => type === "call-log" && invocationId === id).map(({ text }) =>
    text
  )
    .join("");

Deno.test("whatever is thrown is told in words, with its place in the TypeScript and no place of Orrery's", async () => {
  const run = await thrownBy(THROWN.map(([statement]) => statement));
  for (const [at, [statement, error, isPlaced = false]] of THROWN.entries()) {
    const outcome = run.outcome(`a${at}`);
    assert.equal(outcome.error, error, statement);
    const logs = logsOf(run, `a${at}`);
    const line = HEAD.split("\n").length + at;
    if (isPlaced) assert.match(logs, new RegExp(`gadgets/throws\\.ts:${line}:\\d+`), statement);
    else assert.doesNotMatch(logs, /:\d+:\d+\)?$/m, statement);
    assert.ok(logs.length < 100_000, `${logs.length} characters`);
    for (const path of run.secretPlaces) {
      assert.ok(!(outcome.error + logs).includes(path), `${statement} names ${path}`);
    }
  }
  const of = (text: string): string => logsOf(run, `a${THROWN.findIndex(([, error]) => error === text)}`);
  assert.match(
    of("both"),
    /\nOne of them: Error: one\n {4}at .*throws\.ts:\d+:\d+.*\n[^]*One of them: two\n/,
  );
  assert.match(of("outer"), /\nCaused by: Error: inner\n {4}at .*throws\.ts:\d+:\d+[^]*\nCaused by: deep\n/);
  assert.equal(of("loop").match(/Caused by/g), null, "once is enough");
  assert.equal(of("a").match(/Caused by/g)?.length, 8, "and it ends");
  const column = moduleOf(THROWN.map(([statement]) => statement)).split("\n").find((text) =>
    text.includes(`new Error("plain")`)
  )
    ?.indexOf("new Error");
  assert.match(of("plain"), new RegExp(`throws\\.ts:\\d+:${(column ?? 0) + 1}\\)\n`));
});

Deno.test("a stack that is in a message tells places of the source too", async () => {
  const run = await thrownBy(PLACED);
  for (const [at, statement] of PLACED.entries()) {
    const { error } = run.outcome(`a${at}`);
    const told = error + logsOf(run, `a${at}`);
    assert.match(told, new RegExp(`gadgets/throws\\.ts:${HEAD.split("\n").length + at}:\\d+`), statement);
    for (const path of run.secretPlaces) {
      assert.ok(!told.includes(path), `${statement} names ${path}: ${told}`);
    }
  }
});

Deno.test("huge messages and stacks are cut", async () => {
  const run = await thrownBy([
    `throw new Error("x".repeat(3_000_000));`,
    `throw Object.assign(new Error("x"), { stack: "y".repeat(3_000_000) });`,
    `let cause: unknown; for (let n = 0; n < 8; n++) cause = new Error("z".repeat(300_000), { cause }); throw cause;`,
    `throw "t".repeat(3_000_000);`,
  ]);
  for (const id of ["a0", "a1", "a2", "a3"]) {
    const { isError, error } = run.outcome(id);
    assert.ok(isError && error.length < 70_000, `${id}: ${error.length}`);
    assert.ok(logsOf(run, id).length < 300_000, `${id}: ${logsOf(run, id).length}`);
  }
});

Deno.test("a gadget that throws while it is loaded names its own file", async () => {
  const tops: readonly (readonly [top: string, problem: RegExp])[] = [
    ["throw undefined;", /Cannot load gadgets\/broken\.ts: undefined/],
    [`throw new Error("at the top");`, /Cannot load gadgets\/broken\.ts:2:\d+: at the top/],
    [`throw Object.freeze(new Error("frozen"));`, /Cannot load gadgets\/broken\.ts:2:\d+: frozen/],
    [`throw new Error(String(new Error("x").stack));`, /Cannot load gadgets\/broken\.ts:2:\d+: Error: x/],
  ];
  for (const [top, problem] of tops) {
    await using place = await attackPlace({
      "gadgets/broken.ts":
        `type Text = string;\n${top}\nexport default { name: "Broken", description: "Test." };\n`,
    }, { inside: true });
    const run = await place.run(callOf("Broken:a"));
    const { isError, error } = run.outcome("a");
    assert.ok(isError);
    assert.match(error, problem, top);
    for (const path of [`${place.temporary}/`, join(PROJECT_ROOT, "lib"), "deno-compile"]) {
      assert.ok(!(run.stdout + run.stderr).includes(path), `${top} names ${path}`);
    }
  }
});
