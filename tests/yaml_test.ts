import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ProblemsError, type SourceError } from "../mod.ts";
import { yamlLibrary } from "../lib/parse/yaml/library.ts";
import { parseYaml } from "../lib/parse/yaml/yaml.ts";
import { PROJECT_ROOT, runProgram } from "./_run.ts";

async function valueOf(text: string): Promise<unknown> {
  return (await parseYaml(text, { file: "a.yaml" })).value;
}

async function problemsOf(text: string): Promise<readonly SourceError[]> {
  const outcome = await parseYaml(text, { file: "a.yaml" }).then(() => undefined, (error: unknown) => error);
  assert.ok(outcome instanceof ProblemsError, `${JSON.stringify(text.slice(0, 80))} gave ${outcome}`);
  return outcome.problems;
}

async function messageOf(text: string): Promise<string> {
  return (await problemsOf(text)).map(({ place, message }) => `${place}: ${message}`).join("\n");
}

Deno.test("yaml: the core schema of YAML 1.2", async () => {
  assert.deepEqual(await valueOf("a: 1\nb: [true, ~, 0x1F, 0o17, 1e3, 'x']\nc: {d: no, e: 2031-05-04}\n"), {
    a: 1,
    b: [true, null, 31, 15, 1000, "x"],
    c: { d: "no", e: "2031-05-04" },
  });
  assert.equal(await valueOf(""), null);
  assert.equal(await valueOf("# nothing\n"), null);
  assert.deepEqual(await valueOf("1: a\nnull: b\n"), { "1": "a", "null": "b" });
  assert.deepEqual(await valueOf("a: 1\r\nb:\r\n  - 2\r\n"), { a: 1, b: [2] });
  assert.equal(await valueOf("%YAML 1.1\n---\nyes"), "yes");
});

Deno.test("yaml: a number that would lose digits is text, as it is written", async () => {
  assert.deepEqual(
    await valueOf("[0041791234567, -01234, +007, 01.5, 12345678901234567890, 9007199254740993.5]"),
    [
      "0041791234567",
      "-01234",
      "+007",
      "01.5",
      "12345678901234567890",
      "9007199254740993.5",
    ],
  );
  assert.deepEqual(
    await valueOf("[0, -0, 0.10, 3.10, +5, 9007199254740991, 18446744073709551616, 1e30, !!int 007]"),
    [
      0,
      -0,
      0.1,
      3.1,
      5,
      9007199254740991,
      2 ** 64,
      1e30,
      7,
    ],
  );
});

Deno.test("yaml: __proto__ is a plain key", async () => {
  const value = await valueOf("__proto__: {polluted: true}\nconstructor: 1\n");
  assert.deepEqual(Object.keys(value as object), ["__proto__", "constructor"]);
  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

Deno.test("yaml: says where things are", async () => {
  const { at } = await parseYaml(
    "limits:\n  turns: 10\nlist:\n  - a\n  - b: long text\nempty:\nsame: &x {k: v}\nalso: *x\n",
    { file: "a.yaml" },
  );
  assert.deepEqual(at(["limits", "turns"]), { file: "a.yaml", line: 2, column: 10, length: 2 });
  assert.deepEqual(at(["limits", "turns"], "key"), { file: "a.yaml", line: 2, column: 3, length: 5 });
  assert.deepEqual(at(["list", 1, "b"]), { file: "a.yaml", line: 5, column: 8, length: 9 });
  assert.deepEqual(at(["list", 0], "key"), { file: "a.yaml", line: 4, column: 5, length: 1 });
  assert.deepEqual(at(["empty"], "key"), { file: "a.yaml", line: 6, column: 1, length: 5 });
  assert.equal(at(["empty"])?.line, 6);
  assert.deepEqual(at(["also", "k"]), { file: "a.yaml", line: 7, column: 14, length: 1 });
  assert.deepEqual(at([]), { file: "a.yaml", line: 1, column: 1, length: 7 });
  assert.equal(at(["limits", "nothing"]), undefined);
  assert.equal(at(["list", 7]), undefined);
});

Deno.test("yaml: every problem has a place and says what to do", async () => {
  const cases: readonly (readonly [string, string])[] = [
    ["a: 1\nb: 2\na: 3\n", 'a.yaml:3:1: The key "a" is written twice (first on line 1)'],
    ["a: 1\n\tb: 2\n", "a.yaml:2:1: Found a tab in the indentation, expected blanks"],
    ["a: [1,\n  2\n", "a.yaml:2:4: Found the end of a list or mapping in brackets too early"],
    ["a: b: c\n", 'a.yaml:1:4: Found a second ":" on the line, expected one value'],
    ["a: 'b\n", "a.yaml:1:6: Found the end of the file inside quotes"],
    [
      "a:\n  - x\n b: 1\n",
      "a.yaml:3:1: Found a line that is indented differently, expected the column of its neighbours",
    ],
    ["a: @b\n", "a.yaml:1:4: Cannot read YAML: plain value cannot start with reserved character @"],
    ['a: "\\q"\n', "a.yaml:1:5: Cannot read YAML: invalid escape sequence \\q"],
    ["a: !secret x\n", "a.yaml:1:4: Cannot read YAML: unresolved tag: !secret"],
    ["a: 1\n---\nb: 2\n", "a.yaml:2:1: Found a second YAML document, expected one"],
    ["? [a]\n: 1\n", "a.yaml:1:3: Found a key that is not text, expected text"],
    ["a: *b\n", 'a.yaml:1:4: Cannot read the alias "*b": no "&b" comes before it'],
    ["a: &x {b: *x}\n", 'a.yaml:1:11: Cannot read the alias "*x": it would hold itself'],
    ["- a\nb: 1\n", "a.yaml:2:1: Found more after the end of a value"],
  ];
  for (const [text, message] of cases) {
    assert.equal(await messageOf(text), message, JSON.stringify(text));
    for (const problem of await problemsOf(text)) {
      assert.equal(problem.source, text);
      assert.ok(problem.hint !== undefined && problem.hint.length > 10, `no hint: ${message}`);
    }
  }
});

Deno.test("yaml: independent problems are told together", async () => {
  assert.equal(
    await messageOf("a: 1\na: 2\nb: {c: 1, c: 2}\nd: *nothing\n"),
    [
      'a.yaml:2:1: The key "a" is written twice (first on line 1)',
      'a.yaml:3:11: The key "c" is written twice (first on line 3)',
      'a.yaml:4:4: Cannot read the alias "*nothing": no "&nothing" comes before it',
    ].join("\n"),
  );
});

Deno.test("yaml: aliases and depth are bounded", async () => {
  assert.deepEqual(await valueOf("a: &x [1, 2]\nb: [*x, *x]\n"), { a: [1, 2], b: [[1, 2], [1, 2]] });
  const laughs = Array.from(
    { length: 30 },
    (_, i) =>
      i === 0
        ? "a0: &a0 [x, x, x, x, x, x, x, x, x]"
        : `a${i}: &a${i} [${Array(9).fill(`*a${i - 1}`).join(", ")}]`,
  );
  const start = performance.now();
  assert.match(
    await messageOf(laughs.join("\n")),
    /^a\.yaml:\d+:\d+: Cannot read the alias "\*a3": the aliases of this file would stand for more than 10000 values$/,
  );
  assert.ok(performance.now() - start < 5000);
  assert.match(
    await messageOf("- ".repeat(250) + "x"),
    /Found more than 200 levels of YAML inside each other/,
  );
  assert.match(
    await messageOf("[".repeat(20_000)),
    /^a\.yaml:1:\d+: Found too many levels of YAML inside each other$/,
  );
});

Deno.test("yaml: any JSON text is read as JSON.parse reads it", async () => {
  const json = fc.json({ stringUnit: fc.constantFrom(..."abc \t\"'\\:#-?!&*é\u{1F600}") });
  await fc.assert(fc.asyncProperty(json, async (text) => {
    const outcome = await parseYaml(text).then(({ value }) => ({ value }), (error: unknown) => ({ error }));
    if ("error" in outcome) {
      // A key longer than 1024 characters, or one that is written twice, is all that YAML refuses of JSON.
      assert.match(String(outcome.error), /written twice|1024/);
      return;
    }
    assert.deepEqual(normal(outcome.value), normal(JSON.parse(text)));
  }));
});

/** -0 and 0 are one number in JSON text. */
function normal(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

Deno.test("yaml: no text gives anything but a value or problems with a place", async () => {
  const part = fc.constantFrom(
    "a",
    ": ",
    "- ",
    "\n",
    "  ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "&x ",
    "*x",
    "!t ",
    "'",
    '"',
    "|\n",
    ">",
    "#",
    "---\n",
    "\t",
    "%",
    "? ",
    "~",
    "\\",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 25 }), async (parts) => {
      const text = parts.join("");
      const outcome = await parseYaml(text).then(() => undefined, (error: unknown) => error);
      if (outcome === undefined) return;
      assert.ok(outcome instanceof ProblemsError, `${JSON.stringify(text)}: ${outcome}`);
      for (const { span } of outcome.problems) {
        assert.ok(
          span !== undefined && span.line >= 1 && span.line <= text.split("\n").length,
          JSON.stringify(text),
        );
      }
    }),
    { numRuns: 2000 },
  );
});

// Which build of the package is loaded: the one of ES modules, and any other where there is none.

Deno.test("YAML is read by ES modules, which load six times as fast as CommonJS", async () => {
  const { default: modules } = await import(new URL("../browser/index.js", import.meta.resolve("yaml")).href);
  assert.equal(await yamlLibrary(), modules);
});

Deno.test("a package that has no folder for them is taken as it is", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const library = pathToFileURL(join(PROJECT_ROOT, "lib", "parse", "yaml", "library.ts")).href;
    const write = (name: string, text: string) => Deno.writeTextFile(join(folder, name), text);
    await write("deno.json", JSON.stringify({ imports: { yaml: "./another_yaml.js" } }));
    await write("another_yaml.js", "export const parse = () => 'read by another';\n");
    await write(
      "main.ts",
      `import { yamlLibrary } from ${
        JSON.stringify(library)
      };\nconsole.log((await yamlLibrary()).parse(""));\n`,
    );
    const { code, stdout, stderr } = await runProgram([Deno.execPath(), "run", "--no-check", "main.ts"], {
      cwd: folder,
    });
    assert.deepEqual([code, stdout.trim()], [0, "read by another"], stderr);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
