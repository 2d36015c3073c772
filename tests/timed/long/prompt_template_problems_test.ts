import assert from "node:assert/strict";
import fc from "fast-check";
import { parseTemplate } from "../../../lib/parse/template.ts";
import { TemplateError } from "../../../lib/parse/template_error.ts";
import { templateProblems } from "../../../lib/parse/template_problems.ts";

const shown = (source: string) =>
  templateProblems(source).problems.map(({ line, column, message }) =>
    `${line}:${column} ${message.slice(0, 24)}`
  );

Deno.test("template problems: each mistake is told, and none that follows from another", () => {
  assert.deepEqual(shown("{a} {{b}} fine"), []);
  assert.deepEqual(shown("a }\n {b} {c d}\n{e!z} {f:.2d} {"), [
    '1:3 single "}": write "}}" f',
    '2:6 bad placeholder "{c d}":',
    '3:1 bad conversion "!z" in "',
    '3:7 bad format spec ":.2d" i',
    '3:15 unclosed "{": write "{{"',
  ]);
  assert.deepEqual(shown('{"a": {"b": {name}}}'), [
    '1:1 bad placeholder "{\\"a\\":',
    '1:7 bad placeholder "{\\"b\\":',
  ]);
  assert.deepEqual(shown("{ x }} and {y}"), ['1:1 bad placeholder "{ x }":']);
  assert.deepEqual(shown("{a:{b c}}"), ['1:4 bad placeholder "{b c}":']);
  assert.deepEqual(shown("{ {a} {b c}"), ['1:1 unclosed "{": write "{{"', '1:7 bad placeholder "{b c}":']);
});

Deno.test("template problems: the first is the one that parseTemplate throws, and without one it throws none", () => {
  const piece = fc.constantFrom(
    "{",
    "}",
    "{{",
    "}}",
    "{a}",
    "a",
    " ",
    "!z",
    ":d",
    ":.2d",
    ".",
    "[b]",
    "\n",
    '"',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join("")), (source) => {
      const { problems, fields } = templateProblems(source);
      const places = problems.map(({ line, column }) => `${line}:${column}`);
      assert.equal(new Set(places).size, places.length);
      try {
        const { vars } = parseTemplate(source);
        assert.deepEqual(problems, []);
        for (const { access } of fields) assert.ok(vars.includes(access.name));
      } catch (thrown) {
        assert.ok(thrown instanceof TemplateError);
        const [first] = problems;
        assert.deepEqual([first?.line, first?.column, first?.message], [
          thrown.line,
          thrown.column,
          thrown.message,
        ]);
      }
    }),
    { numRuns: 2000 },
  );
});

Deno.test("template problems: a text of wrong braces takes no longer than its length allows", () => {
  const start = performance.now();
  assert.equal(templateProblems("{ ".repeat(500_000)).problems.length, 20);
  assert.equal(templateProblems("} ".repeat(500_000)).problems.length, 20);
  assert.equal(templateProblems(`${"{a} ".repeat(200_000)}}`).problems.length, 1);
  assert.ok(performance.now() - start < 3000);
});
