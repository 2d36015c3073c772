import fc from "fast-check";
import assert from "node:assert/strict";
import { type AnyPrompt, definePrompt, PromptError, type Renderer } from "../../../mod.ts";
import renderCases from "../../spec/prompts/render.json" with { type: "json" };
import { anyText } from "../../_any_text.ts";

type Args = Readonly<Record<string, unknown>>;

const cases: readonly RenderCase[] = JSON.parse(JSON.stringify(renderCases));

const promptOf = (template: string): AnyPrompt => definePrompt({ template });
const render = (template: string, args: Args = {}): string => promptOf(template)(args);

/** What a prompt says of a template or of values that it cannot take. */
function refused(code: PromptError["code"], work: () => unknown): string {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof PromptError && error.code === code, String(error));
    return error.message;
  }
  return assert.fail("it was taken");
}

/** `L:C: message` of a template that cannot be read. */
function wrongTemplate(source: string): string {
  const [, told = ""] = /^template (.*)$/s.exec(refused("template", () => promptOf(source))) ?? [];
  return told;
}

/** The message of a rendering that fails. */
function wrongRendering(template: string, args: unknown): string {
  const prompt = promptOf(template);
  return refused("render", () => Reflect.apply(prompt.render, undefined, [args]));
}

Deno.test("what a template may not hold is told with its place", () => {
  const bad = (text: string): string =>
    `bad placeholder ${
      JSON.stringify(text)
    }: expected {name}, {a.b} or {a[k]}; write "{{" and "}}" for literal braces`;
  const unclosed = `unclosed "{": write "{{" for a literal brace`;
  const single = `single "}": write "}}" for a literal brace`;
  const wrong: readonly (readonly [template: string, expected: string])[] = [
    ["{", `1:1: ${unclosed}`],
    ["{{{{{", `1:5: ${unclosed}`],
    ["{a:>{w}", `1:1: ${unclosed}`],
    ["one\n\n two {a", `3:6: ${unclosed}`],
    ["a\rb {", `1:5: ${unclosed}`], // a lone CR ends no line
    ["}", `1:1: ${single}`],
    ["}}}", `1:3: ${single}`],
    ["{a}}", `1:4: ${single}`],
    ["{a}\n🎉}", `2:2: ${single}`],
    ["{a }", `1:1: ${bad("{a }")}`],
    ["{ a}", `1:1: ${bad("{ a}")}`],
    ["{a.}", `1:1: ${bad("{a.}")}`],
    ["{.a}", `1:1: ${bad("{.a}")}`],
    ["{a..b}", `1:1: ${bad("{a..b}")}`],
    ["{a[b]c}", `1:1: ${bad("{a[b]c}")}`],
    ["{a[[b]]}", `1:1: ${bad("{a[[b]]}")}`],
    ["{:>5}", `1:1: ${bad("{:>5}")}`],
    ["{!s}", `1:1: ${bad("{!s}")}`],
    ["{a\n}", `1:1: ${bad("{a\n}")}`],
    ["{😀}", `1:1: ${bad("{😀}")}`],
    ["ok {{x}} {a:>{}}", `1:14: ${bad("{}")}`],
    ["{a:>{w!s}}", `1:5: ${bad("{w!s}")}`],
    ["{a:>{w:3}}", `1:5: ${bad("{w:3}")}`],
    ["{a:{{w}}}", `1:4: ${bad("{{w}}")}`],
    [`{${" 🎉".repeat(30)}}`, `1:1: ${bad(`{${" 🎉".repeat(30)}`.slice(0, 1 + 19 * 3 + 1))}`],
    ["{a!z}", `1:1: bad conversion "!z" in "{a!z}": use !s or !j`],
    ["{a!ss:>3}", `1:1: bad conversion "!ss" in "{a!ss:>3}": use !s or !j`],
    ["{a!s{b}}", `1:1: bad conversion "!s{b}" in "{a!s{b}}": use !s or !j`],
    ["x\n{a:zz}", `2:1: bad format spec ":zz" in "{a:zz}"`],
    ["{a:>5n}", `1:1: bad format spec ":>5n" in "{a:>5n}"`],
    ["{a:z.1f}", `1:1: bad format spec ":z.1f" in "{a:z.1f}"`],
    ["{a:.2d}", `1:1: bad format spec ":.2d" in "{a:.2d}"`],
    ["{a:,x}", `1:1: bad format spec ":,x" in "{a:,x}"`],
    ["{a:+s}", `1:1: bad format spec ":+s" in "{a:+s}"`],
    ["{a:1000000000}", `1:1: bad format spec ":1000000000" in "{a:1000000000}"`],
    ["{a:.1000000f}", `1:1: bad format spec ":.1000000f" in "{a:.1000000f}"`],
  ];
  for (const [template, expected] of wrong) assert.equal(wrongTemplate(template), expected, template);
});

Deno.test("a template says its variables, which do not change", () => {
  const { vars } = promptOf("a {{b}} {c.d[e f]!j:>{w.x}} {c}{{");
  assert.deepEqual(vars, ["c", "w"]);
  assert.ok(Object.isFrozen(vars));
  assert.deepEqual(promptOf("").vars, []);
});

Deno.test("what cannot be rendered is told with the field as it was written", () => {
  const self: { inside?: unknown } = {};
  self.inside = [self];
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  const wrong: readonly (readonly [template: string, args: unknown, expected: string])[] = [
    ["{b} {a:{w}}", {}, "missing variables: b, a, w"],
    ["{a}", Object.create({ a: 1 }), "missing variables: a"],
    ["{length}", "text", "arguments must be an object"],
    ["{a.b.c!s:>3}", { a: { b: {} } }, `{a.b.c!s:>3}: no "c" in {a.b.c}`],
    ["{a.b.c}", { a: { b: null } }, `{a.b.c}: no "c" in {a.b.c}`],
    ["{a.b}", { a: null }, `{a.b}: no "b" in {a.b}`],
    ["{a.b}", { a: { b: undefined } }, `{a.b}: no "b" in {a.b}`],
    ["{a[0]}", { a: [] }, `{a[0]}: no "0" in {a[0]}`],
    ["{a.push}", { a: [] }, `{a.push}: no "push" in {a.push}`],
    ["{a.size}", { a: new Map() }, `{a.size}: no "size" in {a.size}`],
    ["{s:>{o.w}}", { s: "", o: {} }, `{s:>{o.w}}: no "w" in {o.w}`],
    ['{a[say "x"]}', { a: {} }, `{a[say "x"]}: no "say \\"x\\"" in {a[say "x"]}`],
    ["{a:{f}}", { a: 1, f: ">5 " }, `{a:{f}}: bad format spec ":>5 "`],
    ["{a:{f}}", { a: 1, f: "9".repeat(1_000_000) }, `{a:{f}}: bad format spec ":${"9".repeat(39)}"`],
    ["{a:d}", { a: null }, `{a:d}: format spec ":d" needs a number, got null`],
    ["{a:+}", { a: [1] }, `{a:+}: format spec ":+" needs a number, got array`],
    ["{a:#}", { a: {} }, `{a:#}: format spec ":#" needs a number, got object`],
    ["{a:=4}", { a: true }, `{a:=4}: format spec ":=4" needs a number, got boolean`],
    ["{a!s:d}", { a: 1 }, `{a!s:d}: format spec ":d" needs a number, got string`],
    [`{a:">+4}`, { a: [] }, `{a:">+4}: format spec ":\\">+4" needs a number, got array`],
    ["{a:s}", { a: 1n }, `{a:s}: format spec ":s" needs a string, got bigint`],
    ["{a:x}", { a: 0.5 }, `{a:x}: format code "x" needs an integer, got 0.5`],
    ["{a:d}", { a: NaN }, `{a:d}: format code "d" needs an integer, got NaN`],
    ["{a}", { a: Symbol("x") }, "{a}: a symbol cannot be rendered"],
    ["{a!j}", { a: () => 1 }, "{a!j}: a function cannot be rendered"],
    ["{a:>9}", { a: () => 1 }, "{a:>9}: a function cannot be rendered"],
    ["{a}", { a: new Date(NaN) }, "{a}: an invalid date cannot be rendered"],
    ["{a!j}", { a: new Date(NaN) }, "{a!j}: an invalid date cannot be rendered"],
    ["{a.b!r}", { a: { b: new Date(NaN) } }, "{a.b!r}: an invalid date cannot be rendered"],
    ["{a!a}", { a: new Date(NaN) }, "{a!a}: an invalid date cannot be rendered"],
    ["{a:d}", { a: -0.04 }, '{a:d}: format code "d" needs an integer, got -0.04'],
    ["{a:#x}", { a: -Infinity }, '{a:#x}: format code "x" needs an integer, got -Infinity'],
    ["{a}", { a: self }, "{a}: a value that contains itself cannot be rendered"],
    ["{a}", { a: deep }, "{a}: a value of more than 1000 levels cannot be rendered"],
    [
      "{a.x}",
      {
        a: {
          get x() {
            throw new TypeError("out of order");
          },
        },
      },
      '{a.x}: cannot read "x": out of order',
    ],
  ];
  for (const [template, args, expected] of wrong) {
    assert.equal(wrongRendering(template, args), expected, template);
  }
});

Deno.test("values are displayed", () => {
  const shared = [1];
  const shown: readonly (readonly [value: unknown, text: string])[] = [
    ['{as} "it" is', `{as} "it" is`],
    [-0, "0"],
    [1e21, "1e+21"],
    [-Infinity, "-Infinity"],
    [12345678901234567890n, "12345678901234567890"],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    [
      [new Date(0), new Date(NaN), undefined, () => 1, Symbol(), NaN, -0, 9n, "\n"],
      `["1970-01-01T00:00:00.000Z",null,null,null,null,null,0,9,"\\n"]`,
    ],
    [{ a: undefined, b: () => 1, c: Symbol(), d: null }, `{"d":null}`],
    [
      new Map<unknown, unknown>([["2", "b"], ["1", new Set([[]])], [3, null], [true, 1n]]),
      `{"2":"b","1":[[]],"3":null,"true":1}`,
    ],
    [{ list: shared, again: shared }, `{"list":[1],"again":[1]}`],
    [new URL("http://127.0.0.1/x"), `"http://127.0.0.1/x"`],
    [{ toJSON: (key: string) => ({ key }) }, `{"key":""}`],
    [{ inside: { toJSON: (key: string) => ({ key }) } }, `{"inside":{"key":"inside"}}`],
    [[Object("x"), Object(1), Object(false)], `["x",1,false]`],
    [JSON.parse(`{"__proto__":1}`), `{"__proto__":1}`],
  ];
  for (const [value, text] of shown) assert.equal(render("{value}", { value }), text);
});

Deno.test("entries of maps are found before properties, and nothing that is inherited", () => {
  const map = new Map<unknown, unknown>([["length", "entry"], [1, "one"], ["2", null], ["u", undefined]]);
  assert.equal(render("{m.length} {m[1]} {m.2}", { m: map }), "entry one null");
  assert.equal(wrongRendering("{m.u}", { m: map }), `{m.u}: no "u" in {m.u}`);
  assert.equal(wrongRendering("{m[01]}", { m: map }), `{m[01]}: no "01" in {m[01]}`);
  assert.equal(render("{s.length}{s[0]}{o[a:b!c d.e]}", { s: "xy", o: { "a:b!c d.e": 1 } }), "2x1");
  assert.equal(render("{o[a\nb]}", { o: { "a\nb": 1 } }), "1");
});

Deno.test("numbers take the form of their spec", () => {
  const forms: readonly (readonly [spec: string, value: number | bigint, text: string | RegExp])[] = [
    ["", 1e-7, "1e-07"],
    [">8", true as unknown as number, "    true"],
    ["f", 1e21, "1000000000000000000000.000000"],
    [".3f", 123456789012345678901n, "123456789012345678901.000"],
    [".110f", 0.5, `0.5${"0".repeat(109)}`],
    [".0%", 12345678901234567890n, "1234567890123456789000%"],
    [".3e", 12345678901234567890n, "1.235e+19"],
    [".0e", 95n, "1e+02"],
    ["e", 0n, "0.000000e+00"],
    ["g", 9999994, "9.99999e+06"],
    ["g", 9999995, "1e+07"],
    ["g", 999999.5, "1e+06"],
    ["g", 0.0001, "0.0001"],
    ["g", 0.00001, "1e-05"],
    ["G", 1e-10, "1E-10"],
    [".0g", 25, "3e+01"],
    [".4", 1200n, "1200"],
    [".99999999999999", 5e-324, /^4\.940656\d{740,}e-324$/],
    [".99999999999999", -1.5, "-1.5"],
    [".99999999999999", 3n, "3"],
    ["d", -0, "0"],
    ["+", -0, "+0"],
    [".1f", -0, "-0.0"],
    [".1f", -0.04, "-0.0"],
    ["06.1f", -0, "-000.0"],
    ["+g", -0, "-0"],
    [".3", -0, "-0"],
    [".0%", -0, "-0%"],
    ["E", -0, "-0.000000E+00"],
    [".1f", 0n, "0.0"],
    ["+.1f", -0.01, "-0.0"],
    ["+", 0, "+0"],
    ["d", 2 ** 60, "1152921504606846976"],
    ["#010x", -255, "-0x00000ff"],
    ["#_b", 1023n, "0b11_1111_1111"],
    ["#o", 8, "0o10"],
    ["_X", 2n ** 64n - 1n, "FFFF_FFFF_FFFF_FFFF"],
    [",.2f", -1234567.005, "-1,234,567.00"],
    ["08,", 1234, "0,001,234"],
    ["09,", 1234, "0,001,234"],
    ["07,", 1234, "001,234"],
    ["012_x", 0xbeefn, "00_0000_beef"],
    ["*=+8d", 5, "+******5"],
    ["*<06d", 5, "5*****"],
    ["<06d", 5, "500000"],
    ["🎉^4d", 5, "🎉5🎉🎉"],
    ["08", Infinity, "Infinity"],
    ["010,", -Infinity, " -Infinity"],
    ["+.1f", NaN, "+NaN"],
    ["%", NaN, "NaN%"],
  ];
  for (const [spec, value, text] of forms) {
    const found = render(`{n:${spec}}`, { n: value });
    if (text instanceof RegExp) assert.match(found, text);
    else assert.equal(found, text, `${spec} of ${value}`);
  }
});

Deno.test("text is cut and filled by code points", () => {
  assert.equal(render("[{s:-^6.2}]", { s: "🎉🎉🎉" }), "[--🎉🎉--]");
  assert.equal(render("[{s:>05}{s:.0}{s:.99999999999}]", { s: "ab" }), "[000abab]");
  assert.equal(render("[{d:.10}]", { d: new Date(0) }), "[1970-01-01]");
  assert.equal(render("[{o!a:.4s}]", { o: "é" }), `["\\u0]`);
  assert.equal(render("{s:{f}{w}{g}}", { s: "x", f: "*^", w: 3, g: "" }), "*x*");
});

Deno.test("the cases of the specification", async (t) => {
  for (const { name, input, expected, ...failure } of cases) {
    await t.step(name, () => {
      const call = (): string => {
        const prompt = definePrompt({ path: "t", template: input.template, ...rendererOf(input) });
        if (expected !== undefined) assert.deepEqual(prompt.vars, expected.vars);
        return input.noArgs ? prompt() : (prompt as Renderable)(fromJson(input.args));
      };
      if (expected !== undefined) return assert.equal(call(), expected.text);
      assert.throws(call, (error) => {
        assert.ok(error instanceof PromptError, String(error));
        assert.ok(error.message.includes(failure.error ?? "?"), error.message);
        assert.equal(error.code, failure.code);
        return true;
      });
    });
  }
});

interface RenderCase {
  readonly name: string;
  readonly input: {
    readonly template: string;
    readonly args?: unknown;
    readonly noArgs?: boolean;
    readonly renderer?: string;
  };
  readonly expected?: { readonly text: string; readonly vars: readonly string[] };
  readonly error?: string;
  readonly code?: string;
}

type Renderable = (args: unknown) => string;

const DOLLAR = /\$(\w+)/g;
const RENDERERS: Readonly<Record<string, Renderer>> = {
  upper: { render: (template, args) => (template + JSON.stringify(args)).toUpperCase() },
  dollar: {
    render: (template, args) => template.replace(DOLLAR, (_, word: string) => String(args[word])),
    vars: (template) => [...template.matchAll(DOLLAR)].map(([, word = ""]) => word),
  },
  number: { render: () => 5 as unknown as string },
};

function rendererOf({ renderer = "" }: RenderCase["input"]): { readonly renderer?: Renderer } {
  const found = RENDERERS[renderer];
  return found === undefined ? {} : { renderer: found };
}

const SPECIAL: Readonly<Record<string, (value: never) => unknown>> = {
  $date: (iso: string) => new Date(iso),
  $bigint: BigInt,
  $map: (entries: [unknown, unknown][]) => new Map(entries),
  $set: (items: unknown[]) => new Set(items),
  $number: Number,
  $undefined: () => undefined,
  $function: () => () => 1,
};

/** The value that a case writes as JSON. */
function fromJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(fromJson);
  const [[key, inside] = ["", undefined]] = Object.entries(value);
  const special = SPECIAL[key];
  if (special !== undefined) return special(fromJson(inside) as never);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fromJson(item)]));
}

// Properties

const pieces = fc.array(
  fc.constantFrom(
    "{",
    "}",
    "{{",
    "}}",
    "{a}",
    "a",
    "é",
    "🎉",
    ".",
    "[",
    "]",
    "!",
    "s",
    ":",
    ">",
    "5",
    "\n",
    "\r\n",
    " ",
  ),
  { maxLength: 24 },
).map((parts) => parts.join(""));

const escapeBraces = (text: string): string => text.replace(/[{}]/g, "$&$&");

Deno.test("property: text with its braces doubled renders to that text", () => {
  fc.assert(
    fc.property(fc.oneof(anyText(), pieces), (text) => {
      assert.deepEqual(promptOf(escapeBraces(text)).vars, []);
      assert.equal(render(escapeBraces(text)), text);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("property: any text is read, or there is an error at one of its braces", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.oneof(anyText(), pieces), (text) => {
      try {
        promptOf(text);
        read++;
      } catch (error) {
        assert.ok(error instanceof PromptError, String(error));
        const [, row, column] = /^template (\d+):(\d+): /.exec(error.message) ?? assert.fail(error.message);
        const line = text.split("\n")[Number(row) - 1] ?? assert.fail(`no line ${row}`);
        assert.match(Array.from(line)[Number(column) - 1] ?? "", /[{}]/);
      }
    }),
    { numRuns: 5000 },
  );
  assert.ok(read > 500, `${read} were read`);
});

Deno.test("property: what a value holds is never read as a template", () => {
  const name = fc.constantFrom("a", "b_1", "név", "__proto__", "constructor", "0");
  const part = fc.oneof(pieces.map((text) => ({ text })), name.map((variable) => ({ variable })));
  fc.assert(
    fc.property(fc.array(part), fc.func(pieces), (parts, valueOf) => {
      const template = parts.map((p) => "text" in p ? escapeBraces(p.text) : `{${p.variable}}`).join("");
      const names = [...new Set(parts.flatMap((p) => "variable" in p ? [p.variable] : []))];
      const args = Object.fromEntries(names.map((n) => [n, valueOf(n)]));
      assert.deepEqual(promptOf(template).vars, names);
      assert.equal(
        render(template, args),
        parts.map((p) => "text" in p ? p.text : valueOf(p.variable)).join(""),
      );
      if (names.length > 0) {
        assert.equal(wrongRendering(template, {}), `missing variables: ${names.join(", ")}`);
      }
    }),
    { numRuns: 1000 },
  );
});

Deno.test("property: a width is kept, whatever it is filled with", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.nat(40),
      fc.constantFrom("", "<", ">", "^", "*<", "🎉^", "}>".slice(1), "0>"),
      (text, width, align) => {
        const out = render("{s:{a}{w}}", { s: text, a: align, w: width });
        assert.equal(Array.from(out).length, Math.max(width, Array.from(text).length));
        assert.ok(out.includes(text));
      },
    ),
  );
});

const fixedText = (n: number | bigint, places: number) => render(`{n:.${places}f}`, { n });
const scientificText = (n: number | bigint, places: number) => render(`{n:.${places}e}`, { n });

Deno.test("property: digits are those of the exact value, ties away from zero", () => {
  const double = fc.double({ min: 0, max: 1e21, noNaN: true, maxExcluded: true });
  fc.assert(
    fc.property(fc.oneof(double, fc.nat(4000).map((n) => n / 16)), fc.nat(20), (value, places) => {
      const [integer = "", fraction = ""] = fixedText(value, 1100).split("."); // all of a double's digits
      const kept = BigInt(integer + fraction.slice(0, places));
      const rounded = kept + ((fraction[places] ?? "0") >= "5" ? 1n : 0n);
      assert.equal(BigInt(fixedText(value, places).replace(".", "")), rounded);
      assert.equal(
        Number(render("{n:.{p}g}", { n: value, p: places })),
        Number(value.toPrecision(places || 1)),
      );
    }),
    { numRuns: 1000 },
  );
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.nat(30), (value, places) => {
      assert.equal(fixedText(BigInt(value), places), value.toFixed(places));
      assert.equal(scientificText(BigInt(value), places), scientificText(value, places));
      const [mantissa = "", exponent] = scientificText(value / 7, 101).split("e");
      assert.equal(scientificText(value / 7, 100).split("e")[1], exponent);
      assert.ok(Math.abs(Number(`${mantissa}e${exponent}`) - value / 7) === 0);
    }),
  );
});

Deno.test("__proto__ is a variable like any other", () => {
  assert.equal(wrongRendering("{__proto__}", {}), "missing variables: __proto__");
  assert.equal(
    wrongRendering("{a.constructor}", { a: {} }),
    `{a.constructor}: no "constructor" in {a.constructor}`,
  );
  assert.equal(render("{__proto__.x}", JSON.parse(`{"__proto__":{"x":"own"}}`)), "own");
  assert.equal(render("{a[__proto__]}", { a: JSON.parse(`{"__proto__":7}`) }), "7");
});

Deno.test("deep and wide templates take time that is linear in their length", () => {
  const templates: readonly ((size: number) => [template: string, args: Args])[] = [
    (size) => ["{{".repeat(size) + "}}".repeat(size), {}],
    (size) => ["{a}{{b}} ".repeat(size), { a: 1 }],
    (size) => [`{a${".b".repeat(size)}}`, { a: cycle }],
    (size) => [`{a[${"k".repeat(size)}]}`, { a: { ["k".repeat(size)]: 1 } }],
    (size) => [`{${"é".repeat(size)}}`, { ["é".repeat(size)]: 1 }],
    (size) => ["{a!s}".repeat(size), { a: 1 }], // looks for a colon no further than the field
    (size) => [`{s:${"{e}".repeat(size)}5}`, { s: "", e: "" }],
    (size) => [Array.from({ length: size }, (_, i) => `{v${i}}`).join(""), many(size)],
  ];
  const cycle: { b?: unknown; toJSON?: unknown } = { toJSON: () => 1 };
  cycle.b = cycle;
  const timed = (work: () => unknown): number => {
    const start = performance.now();
    work();
    return performance.now() - start;
  };
  for (const make of templates) {
    const [small, large] = [make(2_000), make(32_000)];
    const best = (sized: [string, Args]): number =>
      Math.min(...[1, 2, 3, 4, 5].map(() => timed(() => render(...sized))));
    best(small);
    const [few, all] = [best(small), best(large)];
    assert.ok(all < 100 * few + 5, `${small[0].slice(0, 20)}: ${few} ms, and ${all} ms for 16 times as much`);
  }
  for (
    const text of ["{".repeat(1e6 + 1), `${"{a:".repeat(3e5)}`, "{a".repeat(3e5), `{${"[".repeat(1e6)}}`]
  ) {
    const ms = timed(() => assert.throws(() => promptOf(text), { code: "template" }));
    assert.ok(ms < 1000, `${text.slice(0, 9)}: ${ms} ms`);
  }
});

function many(size: number): Args {
  return Object.fromEntries(Array.from({ length: size }, (_, i) => [`v${i}`, "x"]));
}

Deno.test("a value that cannot be read is named with its place", () => {
  const broken = (name: string) =>
    Object.defineProperty({}, name, {
      enumerable: true,
      get() {
        throw new TypeError("out of order");
      },
    });
  const unlisted = new Proxy({}, {
    ownKeys() {
      throw new Error("no list");
    },
  });
  const wrong: readonly (readonly [template: string, args: unknown, message: string])[] = [
    ["Hi {a} and {b}", broken("a"), "{a}: cannot be read: out of order"],
    ["{a.b.c}", { a: { b: broken("c") } }, '{a.b.c}: cannot read "c": out of order'],
    ["{a}", { a: broken("x") }, "{a}: cannot read x: out of order"],
    ["{a}", { a: { list: [1, broken("odd key")] } }, '{a}: cannot read list[1]["odd key"]: out of order'],
    ["{a!j}", { a: new Map([["m", new Set([broken("x")])]]) }, "{a!j}: cannot read m[0].x: out of order"],
    ["{a:>9}", { a: { b: unlisted } }, "{a:>9}: cannot read b: no list"],
    ["{a}", { a: unlisted }, "{a}: cannot read the value: no list"],
    ["{n:{a.w}}", { n: 1, a: broken("w") }, '{n:{a.w}}: cannot read "w": out of order'],
    ["{a}", {
      a: {
        when: {
          toJSON() {
            throw new Error("no form");
          },
        },
      },
    }, "{a}: cannot read when: no form"],
  ];
  for (const [template, args, message] of wrong) assert.equal(wrongRendering(template, args), message);
  const prompt = definePrompt({ path: "p", template: "{a} {b}" });
  assert.throws(
    () =>
      prompt({
        b: 1,
        ...{},
        get a(): unknown {
          throw new Error("boom");
        },
      }),
    (error) =>
      error instanceof PromptError && error.code === "render" &&
      error.message === 'prompt "p": {a}: cannot be read: boom',
  );
});
