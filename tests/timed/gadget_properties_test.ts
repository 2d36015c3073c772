// What no door shows of the built-in gadgets: properties of the small languages they read, how long those take, and what they do with a
// clock, a network and files that a test holds in its hand.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { type AnyGadget, type Http, memoryFiles, systemClock, virtualClock, type World } from "../../mod.ts";
import { compileGlob } from "../../gadgets/_glob.ts";
import { applyEdits } from "../../gadgets/edit_file.ts";
import fetchUrl from "../../gadgets/fetch_url.ts";
import nowGadget from "../../gadgets/now.ts";
import { compilePattern } from "../../gadgets/search/pattern.ts";
import searchText from "../../gadgets/search/search_text.ts";
import sqlQuery from "../../gadgets/sql/sql_query.ts";
import waitGadget from "../../gadgets/wait.ts";
import { jsonProblem } from "../../lib/core/json_fault.ts";
import { htmlText } from "../../lib/parse/html_text.ts";

/** A world in which only what a test gives can be used. */
function worldWith(parts: Partial<World>): World {
  const refuse = (what: string) => () => {
    throw new Error(`the test world has no ${what}`);
  };
  return {
    root: "/project",
    files: memoryFiles({}),
    shell: { run: refuse("shell") },
    http: { fetch: refuse("http"), open: refuse("http") },
    user: { canAnswer: false, ask: () => Promise.reject(new Error("nobody")) },
    clock: systemClock,
    policy: { permit: () => undefined },
    wallTime: () => 0,
    ...parts,
  };
}

interface Given {
  readonly signal?: AbortSignal;
  readonly progress?: (done: number, total?: number) => void;
}

async function run(gadget: AnyGadget, input: Record<string, unknown>, given: Given = {}): Promise<unknown> {
  const context = {
    signal: new AbortController().signal,
    invocationId: "x",
    dependencies: {},
    call: { gadgetName: gadget.name, invocationId: "x", parameters: {} },
    log: () => {},
    progress: () => {},
    ...given,
  };
  return await gadget.run?.(input as never, context);
}

async function failure(work: Promise<unknown>): Promise<string> {
  const outcome = await work.then((value) => ({ value }), (error: unknown) => ({ error }));
  assert.ok("error" in outcome, `expected an error, got ${JSON.stringify(outcome)}`);
  assert.ok(outcome.error instanceof Error);
  return outcome.error.message;
}

Deno.test("EditFile: edits give what splitting and joining gives, and name the lines that changed", () => {
  const letters = fc.array(fc.constantFrom("a", "b", "\n"), { maxLength: 40 }).map((parts) => parts.join(""));
  const short = fc.array(fc.constantFrom("a", "b", "\n"), { minLength: 1, maxLength: 3 }).map((parts) =>
    parts.join("")
  );
  fc.assert(
    fc.property(letters, short, letters, (text, old, replacement) => {
      fc.pre(text.includes(old));
      const { text: now, replacements, lines } = applyEdits(text, [{ old, new: replacement, all: true }]);
      assert.equal(now, text.split(old).join(replacement));
      assert.equal(replacements, text.split(old).length - 1);
      const linesIn = (text: string) => text.replace(/\n$/, "").split("\n");
      assert.ok(lines.every(({ from, to }) => 1 <= from && from <= to && to <= linesIn(now).length));
      // Outside of the lines it names, nothing is new: the rest of the lines is there before, in order.
      const rest = linesIn(now).filter((_, index) =>
        !lines.some(({ from, to }) => from <= index + 1 && index + 1 <= to)
      );
      let at = 0;
      for (const line of rest) {
        at = linesIn(text).indexOf(line, at) + 1;
        assert.ok(at > 0, `line ${JSON.stringify(line)} is new`);
      }
    }),
    { numRuns: 3000 },
  );
});

/** The meaning of `*`, `?`, `**` and plain letters, by trying everything. */
function matchesSlowly(glob: string, path: string): boolean {
  if (glob === "") return path === "";
  if (glob.startsWith("**/")) {
    const ends = [0, ...Array.from(path.matchAll(/\//g), ({ index }) => index + 1)];
    return ends.some((end) => matchesSlowly(glob.slice(3), path.slice(end)));
  }
  if (glob.startsWith("*")) {
    return matchesSlowly(glob.slice(1), path) ||
      (path !== "" && path[0] !== "/" && matchesSlowly(glob, path.slice(1)));
  }
  if (path === "" || (glob[0] === "?" ? path[0] === "/" : glob[0] !== path[0])) return false;
  return matchesSlowly(glob.slice(1), path.slice(1));
}

Deno.test("globs: the same as trying everything", () => {
  const part = fc.array(fc.constantFrom("a", "b", "*", "?"), { minLength: 1, maxLength: 4 }).map((signs) =>
    signs.join("").replaceAll(/\*+/g, "*")
  );
  const globs = fc.array(fc.oneof(part, fc.constant("**")), { minLength: 2, maxLength: 4 }).map((parts) =>
    parts.join("/")
  )
    .filter((glob) => !glob.endsWith("**"));
  const paths = fc.array(fc.constantFrom("a", "b", "/"), { minLength: 1, maxLength: 8 }).map((signs) =>
    signs.join("")
  );
  fc.assert(
    fc.property(
      globs,
      paths,
      (glob, path) => assert.equal(compileGlob(glob)(path), matchesSlowly(glob, path)),
    ),
    {
      numRuns: 2000,
    },
  );
});

Deno.test("globs: linear, whatever the glob", () => {
  const started = performance.now();
  assert.equal(compileGlob(`${"*a".repeat(50)}b/x`)("a".repeat(100_000)), false);
  assert.ok(performance.now() - started < 2000);
});

Deno.test("patterns: the same lines and columns as JavaScript's own engine", () => {
  const atom = fc.constantFrom(
    ..."abc_ .",
    "[ab]",
    "[^a]",
    "\\w",
    "\\W",
    "\\b",
    "\\B",
    "^",
    "$",
    "\\d",
    "\\s",
    "(?:a|b|)",
    "\\.",
    "é",
    "\\x41",
    "[]",
    "[^]",
  );
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4 },
      atom,
      fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => a + b),
      fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `(?:${a}|${b})`),
      fc.tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{0,2}?", "*?", "+?", "{0}"))
        .map(([a, sign]) => `(${a})${sign}`),
    ),
  }));
  const line = fc.array(fc.constantFrom(..."abcA_ .1éÉ"), { maxLength: 12 }).map((signs) => signs.join(""));
  fc.assert(
    fc.property(
      pattern,
      fc.array(line, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (source, lines, ignoreCase) => {
        const text = lines.join("\n") + "\n";
        const own = new RegExp(source, ignoreCase ? "i" : "");
        const pattern = compilePattern(source, { ignoreCase });
        const expected = lines.flatMap((line, index) => {
          const match = own.exec(line);
          return match === null ? [] : [`${index}:${match.index}`];
        });
        const found: string[] = [];
        for (let from = 0; from < text.length;) {
          const match = pattern.maybeFind(text, from);
          if (match === undefined) break;
          found.push(`${text.slice(0, match.lineStart).split("\n").length - 1}:${match.column}`);
          from = match.lineEnd + 1;
        }
        assert.deepEqual(found, expected);
      },
    ),
    { numRuns: 3000 },
  );
});

const PAGE = "https://example.com/docs/page";

const read = (html: string) => htmlText(html, { baseUrl: "https://example.com/a/b" }).text;

Deno.test("HTML as text: whatever comes, it ends, and words come through", () => {
  const parts = fc.constantFrom(
    "<",
    ">",
    "</",
    "<p>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "'",
    '"',
    "=",
    "a",
    " ",
    "\n",
    "&amp;",
    "&#",
    "<a href=",
    "<pre>",
    "<svg>",
    "</svg>",
    "<li>",
    "<td>",
  );
  fc.assert(fc.property(fc.array(parts, { maxLength: 30 }), (html) => {
    const text = read(html.join(""));
    assert.ok(text.length <= 40 * html.length, "no page becomes much longer");
    assert.equal(text, text.trimEnd());
  }));
  fc.assert(fc.property(fc.array(fc.constantFrom("a", "b", " ", "\n"), { maxLength: 20 }), (words) => {
    // Plain text comes through, with its blanks made one.
    assert.equal(read(words.join("")), words.join("").replaceAll(/\s+/g, " ").trim());
    assert.equal(read(`x<script>${words.join("")}</script>y`), "xy");
  }));
});

Deno.test("HTML as text: linear", () => {
  for (
    const part of [
      "<",
      "<a ",
      "<a href='",
      "<!--",
      "<script>",
      "&",
      "&#",
      "<p",
      "</",
      "<a =",
      "<td>",
      "<ul><li>",
      "<a href=x>",
    ]
  ) {
    const started = performance.now();
    read(part.repeat(100_000));
    const ms = performance.now() - started;
    assert.ok(ms < 2500, `${JSON.stringify(part)}: ${ms} ms`);
  }
});

Deno.test("Json: the place of a JSON error is told for exactly the texts that JSON.parse refuses", () => {
  const agrees = (text: string) => {
    let isJson = true;
    try {
      JSON.parse(text);
    } catch {
      isJson = false;
    }
    assert.equal(jsonProblem(text) === undefined, isJson, JSON.stringify(text));
  };
  const part = fc.constantFrom(
    ..."{}[]:,\"'\\ \n\t\u0001\u00a0\ud800",
    "0",
    "-",
    "1",
    "01",
    ".5",
    "1e5",
    "1.",
    "true",
    "nul",
    '"a"',
    '\\n"',
    '\\u00e9"',
    '"\\x"',
  );
  fc.assert(fc.property(fc.array(part, { maxLength: 12 }), (parts) => agrees(parts.join(""))), {
    numRuns: 5000,
  });
  fc.assert(fc.property(fc.json(), (text) => agrees(text)));
  fc.assert(fc.property(fc.json(), fc.nat(), (text, cut) => agrees(text.slice(0, cut % (text.length + 1)))));
});

Deno.test("Now: ISO text in a zone, seconds, milliseconds", async () => {
  const summer = nowGadget(worldWith({ wallTime: () => Date.UTC(2031, 6, 4, 7, 30, 1, 250) }));
  assert.equal(await run(summer, {}), "2031-07-04T07:30:01.250Z");
  assert.equal(await run(summer, { zone: "UTC" }), "2031-07-04T07:30:01.250+00:00");
  assert.equal(await run(summer, { zone: "Europe/Berlin" }), "2031-07-04T09:30:01.250+02:00");
  assert.equal(await run(summer, { zone: "America/St_Johns" }), "2031-07-04T05:00:01.250-02:30");
  assert.equal(await run(summer, { zone: "Asia/Kathmandu" }), "2031-07-04T13:15:01.250+05:45");
  assert.equal(await run(summer, { zone: "Pacific/Auckland" }), "2031-07-04T19:30:01.250+12:00");
  assert.equal(await run(summer, { format: "unix" }), Date.UTC(2031, 6, 4, 7, 30, 1) / 1000);
  assert.equal(
    await run(summer, { format: "unix-ms", zone: "Europe/Berlin" }),
    Date.UTC(2031, 6, 4, 7, 30, 1, 250),
  );
  const midnight = nowGadget(worldWith({ wallTime: () => Date.UTC(2031, 11, 31, 23, 0, 0) }));
  assert.equal(await run(midnight, { zone: "Europe/Berlin" }), "2032-01-01T00:00:00.000+01:00");
  assert.equal(
    await failure(run(summer, { zone: "Europe/Berlni", format: "unix" })),
    'Unknown time zone "Europe/Berlni": expected an IANA name such as "Europe/Berlin" or "UTC". Did you mean "Europe/Berlin"?',
  );
});

Deno.test("Wait: waits by the clock, tells its progress, can be aborted", async () => {
  const clock = virtualClock();
  const gadget = waitGadget(worldWith({ clock }));
  const reports: (readonly [number, number | undefined])[] = [];
  const progress = (done: number, total?: number) => void reports.push([done, total]);
  assert.equal(await clock.run(run(gadget, { seconds: 3.5 }, { progress })), 3.5);
  assert.equal(clock.now(), 3500);
  assert.deepEqual(reports, [[0, 3.5], [1, 3.5], [2, 3.5], [3, 3.5], [3.5, 3.5]]);

  reports.length = 0;
  await clock.run(run(gadget, { seconds: 3600 }, { progress }));
  assert.equal(clock.now(), 3_603_500);
  assert.equal(reports.length, 61);
  assert.ok((gadget.timeoutMs ?? 0) > 3_600_000);

  const abort = new AbortController();
  const aborted = clock.run(failure(run(gadget, { seconds: 100 }, { signal: abort.signal })));
  abort.abort(new Error("stopped"));
  assert.equal(await aborted, "stopped");
  assert.equal(await failure(run(gadget, { seconds: 3601 })), "Cannot wait 3601 seconds: expected 0 to 3600");
  assert.equal(await failure(run(gadget, { seconds: NaN })), "Cannot wait NaN seconds: expected 0 to 3600");
});

Deno.test("FetchUrl: waits no longer than it is told", async () => {
  const clock = virtualClock();
  const never: Http = {
    fetch: (_, options) =>
      new Promise((_, reject) =>
        options?.signal?.addEventListener("abort", () => reject(options.signal?.reason))
      ),
    open: () => Promise.reject(new Error("it takes whole answers only")),
  };
  const gadget = fetchUrl(worldWith({ http: never, clock }));
  assert.equal(
    await clock.run(failure(run(gadget, { url: PAGE, timeoutMs: 2500 }))),
    `Cannot fetch "${PAGE}": no answer within 2,500 ms; pass a longer "timeoutMs"`,
  );
  assert.equal(clock.now(), 2500);
  const abort = new AbortController();
  abort.abort(new Error("stopped by the test"));
  const aborted: Http = {
    fetch: (_, options) => Promise.reject(options?.signal?.reason),
    open: () => Promise.reject(new Error("it takes whole answers only")),
  };
  const other = fetchUrl(worldWith({ http: aborted }));
  assert.equal(
    await failure(run(other, { url: PAGE }, { signal: abort.signal })),
    "stopped by the test",
  );
});

Deno.test("SearchText: a search that is too costly ends by itself", async () => {
  let asked = 0;
  let seed = 1;
  const letter = () => (seed = seed * 48_271 % 0x7fffffff) % 2 === 0 ? "a" : "b";
  const text = Array.from({ length: 400_000 }, letter).join("").replace(/.{80}/g, "$&\n");
  const clock = { ...virtualClock(), now: () => asked++ * 20_000 };
  const gadget = searchText(worldWith({ files: memoryFiles({ "a.txt": text }), clock }));
  assert.match(
    await failure(run(gadget, { pattern: "(a|b)*a(a|b){60}c", regex: true })),
    /Cannot finish the search in time: the regular expression is too costly/,
  );
});

Deno.test("SearchText: an aborted call ends between files", async () => {
  const files = memoryFiles(
    Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${index}.txt`, "text\n"])),
  );
  const abort = new AbortController();
  let reads = 0;
  const readBytes: typeof files.readBytes = (path, options) => {
    if (++reads === 20) abort.abort(new Error("stopped by the test"));
    return files.readBytes(path, options);
  };
  const gadget = searchText(worldWith({ files: { ...files, readBytes } }));
  assert.equal(
    await failure(run(gadget, { pattern: "text" }, { signal: abort.signal })),
    "stopped by the test",
  );
  assert.ok(reads < 60, `${reads} files were read`);
});

Deno.test("SqlQuery: rows that never end, end in time", async () => {
  const root = await Deno.makeTempDir({ prefix: "orrery-sql-" });
  const path = join(root, "app.db");
  try {
    const database = new DatabaseSync(path);
    database.exec("CREATE TABLE users (id INTEGER PRIMARY KEY)");
    database.close();
    let time = 0;
    const files = { ...memoryFiles({ "app.db": "" }), resolve: () => Promise.resolve(path) };
    const clock = { now: () => time += 100, sleep: () => Promise.resolve() };
    const sql = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
    assert.match(
      await failure(
        run(sqlQuery(worldWith({ files, clock })), { database: "app.db", sql, maxRows: 100_000 }),
      ),
      /it did not end in time; use LIMIT, or an index/,
    );
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
