import assert from "node:assert/strict";
import fc from "fast-check";
import { type AnyGadget, type Json, loadCatalog, SourceError } from "../mod.ts";

const folder = await Deno.makeTempDir();
const gadget = await (await loadCatalog({ root: folder })).maybeFind("Json")?.load() as AnyGadget;
await Deno.remove(folder);

/** What the built-in `Json` picks of a value. */
async function select(value: Json, path: string): Promise<readonly Json[]> {
  const whole = typeof value === "string" ? JSON.stringify(value) : value;
  return await gadget.run?.({ value: whole, path } as never, {} as never) as readonly Json[];
}

async function problemOf(path: string): Promise<string> {
  const error: unknown = await select({}, path).then(() => assert.fail(`${path} was read`), (error) => error);
  assert.ok(error instanceof Error);
  return error.message;
}

/** A value, and what each path selects of it. */
interface Example {
  readonly section: string;
  readonly value: Json;
  readonly paths: Readonly<Record<string, readonly Json[]>>;
}

const REFERENCE = {
  category: "reference",
  author: "Nigel Rees",
  title: "Sayings of the Century",
  price: 8.95,
};
const SWORD = { category: "fiction", author: "Evelyn Waugh", title: "Sword of Honour", price: 12.99 };
const MOBY = {
  category: "fiction",
  author: "Herman Melville",
  title: "Moby Dick",
  isbn: "0-553-21311-3",
  price: 8.99,
};
const RINGS = {
  category: "fiction",
  author: "J. R. R. Tolkien",
  title: "The Lord of the Rings",
  isbn: "0-395-19395-8",
  price: 22.99,
};
const BOOKS = [REFERENCE, SWORD, MOBY, RINGS];
const BICYCLE = { color: "red", price: 399 };
const STORE = { book: BOOKS, bicycle: BICYCLE };
const AUTHORS = BOOKS.map(({ author }) => author);
const LETTERS = ["a", "b", "c", "d", "e", "f", "g"];
const MIXED = [3, 5, 1, 2, 4, 6, { b: "j" }, { b: "k" }, { b: {} }, { b: "kilo" }];
const OBJECT = { p: 1, q: 2, r: 3, s: 5, t: { u: 6 } };
const TAIL: Json = [{ j: 4 }, { k: 6 }];

/** The examples of RFC 9535; where it leaves the order open, that of the value. */
const EXAMPLES: readonly Example[] = [
  {
    section: "1.5",
    value: { store: STORE },
    paths: {
      "$.store.book[*].author": AUTHORS,
      "$..author": AUTHORS,
      "$.store.*": [BOOKS, BICYCLE],
      "$.store..price": [8.95, 12.99, 8.99, 22.99, 399],
      "$..book[2]": [MOBY],
      "$..book[2].author": ["Herman Melville"],
      "$..book[2].publisher": [],
      "$..book[-1]": [RINGS],
      "$..book[0,1]": [REFERENCE, SWORD],
      "$..book[:2]": [REFERENCE, SWORD],
      "$..book[?@.isbn]": [MOBY, RINGS],
      "$..book[?@.price<10]": [REFERENCE, MOBY],
      "$..*": [STORE, BOOKS, BICYCLE, ...BOOKS, ...BOOKS.flatMap((book) => Object.values(book)), "red", 399],
    },
  },
  { section: "2.2.3", value: { k: "v" }, paths: { "$": [{ k: "v" }] } },
  {
    section: "2.3.1.3",
    value: { o: { "j j": { "k.k": 3 } }, "'": { "@": 2 } },
    paths: {
      "$.o['j j']": [{ "k.k": 3 }],
      "$.o['j j']['k.k']": [3],
      '$.o["j j"]["k.k"]': [3],
      '$["\'"]["@"]': [2],
      "$['\\'']['\\u0040']": [2],
    },
  },
  {
    section: "2.3.2.3",
    value: { o: { j: 1, k: 2 }, a: [5, 3] },
    paths: {
      "$[*]": [{ j: 1, k: 2 }, [5, 3]],
      "$.o[*]": [1, 2],
      "$.o[*, *]": [1, 2, 1, 2],
      "$.a[*]": [5, 3],
    },
  },
  {
    section: "2.3.3.3",
    value: ["a", "b"],
    paths: { "$[1]": ["b"], "$[-2]": ["a"], "$[2]": [], "$[-3]": [] },
  },
  {
    section: "2.3.4.3",
    value: LETTERS,
    paths: {
      "$[1:3]": ["b", "c"],
      "$[5:]": ["f", "g"],
      "$[1:5:2]": ["b", "d"],
      "$[5:1:-2]": ["f", "d"],
      "$[::-1]": LETTERS.toReversed(),
      "$[::0]": [],
      "$[-3:-1]": ["e", "f"],
      "$[-100:100]": LETTERS,
      "$[100:-100:-3]": ["g", "d", "a"],
      "$[ 1 : 3 : 1 ]": ["b", "c"],
    },
  },
  {
    section: "2.3.5.3",
    value: { a: MIXED, o: OBJECT, e: "f" },
    paths: {
      "$.a[?@.b == 'kilo']": [{ b: "kilo" }],
      "$.a[?(@.b == 'kilo')]": [{ b: "kilo" }],
      "$.a[?@>3.5]": [5, 4, 6],
      "$.a[?@.b]": [{ b: "j" }, { b: "k" }, { b: {} }, { b: "kilo" }],
      "$[?@.*]": [MIXED, OBJECT],
      "$[?@[?@.b]]": [MIXED],
      "$.o[?@<3, ?@<3]": [1, 2, 1, 2],
      '$.a[?@<2 || @.b == "k"]': [1, { b: "k" }],
      '$.a[?match(@.b, "[jk]")]': [{ b: "j" }, { b: "k" }],
      '$.a[?search(@.b, "[jk]")]': [{ b: "j" }, { b: "k" }, { b: "kilo" }],
      "$.o[?@>1 && @<4]": [2, 3],
      "$.o[?@.u || @.x]": [{ u: 6 }],
      "$.a[?@.b == $.x]": [3, 5, 1, 2, 4, 6],
      "$.a[?@ == @]": MIXED,
      // Beyond the table: more than two operators in a row, and the precedence of 2.3.5.1.
      "$.a[?@ > 1 && @ < 6 && @ != 4 && @ != 3]": [5, 2],
      "$.a[?@ == 1 || @ == 2 && @ == 3]": [1],
      "$.a[?(@ == 1 || @ == 2) && @ == 2]": [2],
      "$.a[?!(@ > 1) && !@.b]": [1],
      "$.a[?!match(@.b, 'j|k') && @.b]": [{ b: {} }, { b: "kilo" }],
    },
  },
  {
    section: "2.4",
    value: { list: [1, 2, 3], text: "\u{1f600}é", object: { a: 1, b: 2 }, number: 12, empty: null },
    paths: {
      "$[?length(@) == 3]": [[1, 2, 3]],
      "$[?length(@) == 2]": ["\u{1f600}é", { a: 1, b: 2 }],
      "$[?count(@.*) > 2]": [[1, 2, 3]],
      "$[?value(@..b) == 2]": [{ a: 1, b: 2 }],
      "$[?length(value(@.*)) == length(@.nothing)]": [
        [1, 2, 3],
        "\u{1f600}é",
        { a: 1, b: 2 },
        12,
        null,
      ],
    },
  },
  {
    section: "2.5.1.3",
    value: LETTERS,
    paths: { "$[0, 3]": ["a", "d"], "$[0:2, 5]": ["a", "b", "f"], "$[0, 0]": ["a", "a"] },
  },
  {
    section: "2.5.2.3",
    value: { o: { j: 1, k: 2 }, a: [5, 3, TAIL] },
    paths: {
      "$..j": [1, 4],
      "$..[0]": [5, { j: 4 }],
      "$..o": [{ j: 1, k: 2 }],
      "$.o..[*, *]": [1, 2, 1, 2],
      "$.a..[0, 1]": [5, 3, { j: 4 }, { k: 6 }],
      "$..[*]": [{ j: 1, k: 2 }, [5, 3, TAIL], 1, 2, 5, 3, TAIL, { j: 4 }, { k: 6 }, 4, 6],
    },
  },
  {
    section: "2.6.1",
    value: { a: null, b: [null], c: [{}], null: 1 },
    paths: {
      "$.a": [null],
      "$.a[0]": [],
      "$.a.d": [],
      "$.b[0]": [null],
      "$.b[*]": [null],
      "$.b[?@]": [null],
      "$.b[?@==null]": [null],
      "$.c[?@.d==null]": [],
      "$.null": [1],
    },
  },
];

for (const { section, value, paths } of EXAMPLES) {
  Deno.test(`json path: the examples of RFC 9535, ${section}`, async () => {
    for (const [path, expected] of Object.entries(paths)) {
      assert.deepEqual(await select(value, path), expected, path);
    }
  });
}

Deno.test("json path: the comparisons of RFC 9535, table 11", async () => {
  const value = { obj: { x: "y" }, arr: [2, 3] };
  const rows: readonly (readonly [string, boolean])[] = [
    ["$.absent1 == $.absent2", true],
    ["$.absent1 <= $.absent2", true],
    ["$.absent == 'g'", false],
    ["$.absent1 != $.absent2", false],
    ["$.absent != 'g'", true],
    ["1 <= 2", true],
    ["1 > 2", false],
    ["13 == '13'", false],
    ["'a' <= 'b'", true],
    ["'a' > 'b'", false],
    ["$.obj == $.arr", false],
    ["$.obj != $.arr", true],
    ["$.obj == $.obj", true],
    ["$.obj != $.obj", false],
    ["$.arr == $.arr", true],
    ["$.arr != $.arr", false],
    ["$.obj == 17", false],
    ["$.obj != 17", true],
    ["$.obj <= $.arr", false],
    ["$.obj < $.arr", false],
    ["$.obj <= $.obj", true],
    ["$.arr <= $.arr", true],
    ["1 <= $.arr", false],
    ["1 >= $.arr", false],
    ["1 > $.arr", false],
    ["1 < $.arr", false],
    ["true <= true", true],
    ["true > true", false],
    // Texts are ordered by code points, not by UTF-16 units.
    ["'\u{1f600}' > '\uff61'", true],
    ["'ab' < 'abc'", true],
    ["1e2 == 100.0", true],
    ["-0 == 0", true],
  ];
  for (const [test, holds] of rows) {
    assert.deepEqual(await select(value, `$[?${test}]`), holds ? [value.obj, value.arr] : [], test);
  }
});

Deno.test("json path: what is none, and where it stops being one", async () => {
  const rows: Readonly<Record<string, string>> = {
    "": 'found the end at column 1. A JSONPath begins with "$", such as $.items[0].name.',
    "a.b": 'found "a" at column 1. A JSONPath begins with "$", such as $.items[0].name.',
    " $": 'found " " at column 1. A JSONPath begins with "$", such as $.items[0].name.',
    "$.a ": 'found " " at column 4, expected ".", "[" or the end.',
    "$.[a": 'found "[" at column 3, expected a name or "*".',
    "$. a": 'found " " at column 3, expected a name or "*".',
    "$..": 'found the end at column 4, expected a name, "*" or "[".',
    "$[": 'found the end at column 3, expected a selector such as 0, 1:3, "name", * or ?@.price < 10.',
    "$[01]": 'found "1" at column 4, expected "," or "]".',
    "$[-0]": 'found "-" at column 3, expected a selector such as 0, 1:3, "name", * or ?@.price < 10.',
    "$[9007199254740992]":
      "found the number 9007199254740992 at column 3, expected one from -(2^53)+1 to 2^53-1.",
    "$['a": "found the end at column 5, expected the end of a text in '.",
    "$['\\x']": 'found "x" at column 5, expected an escape such as \\n, \\u00e9 or \\\'.',
    "$['\\ud800']": 'found "u" at column 5, expected an escape such as \\n, \\u00e9 or \\\'.',
    "$['\n']": 'found "\\n" at line 1, column 4, expected the end of a text in \'.',
    "$[?1]": 'found "]" at column 5, expected a comparison.',
    "$[?@.a = 1]": 'found "=" at column 8, expected "," or "]".',
    "$[?@.* == 1]":
      "found a query that can select several values at column 4, expected one of a single value, such as @.name[0].",
    "$[?!@.a == 1]": 'found "=" at column 9, expected "," or "]".',
    // RFC 9535, table 13.
    "$[?length(@.*) < 3]":
      "found a query that can select several values at column 11, expected one of a single value, such as @.name[0].",
    "$[?count(1) == 1]": 'found "1" at column 10, expected a query for count, such as @.items[*].',
    "$[?count(foo(@.*)) == 1]": 'found "f" at column 10, expected a query for count, such as @.items[*].',
    "$[?match(@.timezone, 'Europe/.*') == true]":
      "found match(...) where a value is needed at column 4: it is a test and stands alone.",
    "$[?value(@..color)]": "found value(...) alone at column 4, expected a comparison of its value.",
    "$[?bar(@.a)]":
      'found the function "bar", which JSONPath does not have at column 4. The functions are length, count, match, search, value.',
    "$[?lenght(@) > 1]":
      'found the function "lenght", which JSONPath does not have at column 4. Did you mean "length"?',
    "$[?match(@, @.pattern)]":
      "found a pattern of match that is not written out, expected text in quotes at column 4.",
    "$[?search(@, '(a+)+')]": "found a pattern that repeats a group, which can run without end at column 4.",
    "$[?search(@, '(')]": "found a pattern that is no regular expression at column 4.",
  };
  for (const [path, problem] of Object.entries(rows)) {
    assert.equal(await problemOf(path), `Cannot read path "${path}": ${problem}`, path);
  }
  assert.match(await problemOf(`$[?${"(".repeat(5000)}`), /found more than 100 levels/);
  assert.match(await problemOf("$[?@".repeat(5000)), /found/);
});

Deno.test("json path: functions take what fits them", async () => {
  for (
    const path of [
      "$[?length(@) < 3]",
      "$[?count(@.*) == 1]",
      "$[?match(@.timezone, 'Europe/.*')]",
      '$[?value(@..color) == "red"]',
    ]
  ) assert.deepEqual(await select({}, path), []);
});

Deno.test("json path: names of prototypes select nothing", async () => {
  for (const path of ["$.__proto__", "$.constructor", "$.length", "$['toString']"]) {
    assert.deepEqual(await select({}, path), [], path);
    assert.deepEqual(await select([], path), [], path);
    assert.deepEqual(await select("text", path), [], path);
  }
  assert.deepEqual(await select(JSON.parse('{"__proto__": 1}'), "$.__proto__"), [1]);
});

Deno.test("json path: a long list is no problem, and work without end is one", async () => {
  const long = Array.from({ length: 300_000 }, (_, index) => index);
  assert.deepEqual(await select(long, "$[?@ > 299998]"), [299_999]);
  assert.equal((await select({ long }, "$.long[*]")).length, 300_000);
  let deep: Json = 0;
  for (let level = 0; level < 400; level++) deep = [deep, 1];
  const row = Array.from({ length: 1000 }, (_, index) => index);
  const equal = Array.from({ length: 25 }, () => "?@ == $.copy").join();
  const tooMuch = /^Cannot use path "[^]*": it takes more than 10,000,000 steps on a value of this size$/;
  for (
    const [value, path] of [
      [deep, "$..*..*..*..*"],
      [long, "$[?count($[*]) > 1]"],
      [["a".repeat(100_000)], "$[?search(@, 'a*a*a*b')]"],
      [{ list: Array.from({ length: 500 }, () => row), copy: row }, `$.list[${equal}]`],
    ] as const
  ) await assert.rejects(select(value, path), { message: tooMuch }, path);
});

Deno.test("json path: any text is read or has a problem with its place", async () => {
  const part = fc.constantFrom(
    ..."$ @ . .. * [ ] ( ) ? ! && || == <= < , : 0 -1 1e2 'a' \"b\" a length( count( match( true null \\ ' é \u{1f600}"
      .split(" "),
    " ",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.string(), fc.array(part).map((parts) => `$${parts.join("")}`)),
      async (text) => {
        const error: unknown = await select([{ a: [1, { b: "x" }] }], text).then(
          () => undefined,
          (error) => error,
        );
        if (error === undefined) {
          return;
        }
        assert.ok(error instanceof SourceError && error.span !== undefined, String(error));
        const { line, column } = error.span;
        const found = text.split("\n")[line - 1];
        assert.ok(found !== undefined && column >= 1 && column <= found.length + 1, text);
      },
    ),
    { numRuns: 2000 },
  );
});

Deno.test("json path: the way to any value selects it alone", async () => {
  const quoted = (name: string) =>
    `'${JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue({ maxDepth: 4 }),
      fc.array(fc.nat(9), { maxLength: 4 }),
      async (made, ways) => {
        let value: Json = JSON.parse(JSON.stringify(made));
        const whole = value;
        let path = "$";
        for (const way of ways) {
          if (typeof value !== "object" || value === null) break;
          const entries: [string, Json][] = Object.entries(value);
          const entry = entries[way % Math.max(1, entries.length)];
          if (entry === undefined) break;
          path += Array.isArray(value) ? `[${entry[0]}]` : ` [${quoted(entry[0])}]`;
          value = entry[1];
        }
        assert.deepEqual(await select(whole, path), [value], path);
      },
    ),
  );
});
