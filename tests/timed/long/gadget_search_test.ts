import assert from "node:assert/strict";
import { join } from "node:path";
import { type GadgetFolder, gadgetFolder, writeFiles } from "../../_gadgets.ts";

const FILES = {
  "a.ts": "export const one = 1;\nconst two = 2;\n\nexport function three() {}\n",
  "sub/b.ts": "// one\r\nimport { one } from '../a.ts';\r\n",
  "sub/c.md": "One, TWO, Straße\n",
  ".hidden/d.ts": "one",
  ".git/config": "one",
  "node_modules/x/index.js": "one",
  ".orrery/runs/1": "one",
  "data.bin": Uint8Array.of(111, 110, 101, 0),
  "latin.txt": Uint8Array.of(0xe9, 32, 111, 110, 101),
};

const search = (world: GadgetFolder, input: Record<string, unknown>) => world.call("SearchText", input);

/** `file:line:column` of each match. */
async function places(world: GadgetFolder, input: Record<string, unknown>): Promise<string[]> {
  const found = await search(world, input);
  assert.ok(
    typeof found === "object" && found !== null && "matches" in found && Array.isArray(found.matches),
  );
  return found.matches.map(({ file, line, column }) => `${file}:${line}:${column}`);
}

Deno.test("SearchText: a text in all files, in order", async () => {
  await using world = await gadgetFolder({ files: FILES });
  await Deno.symlink("a.ts", join(world.root, "link.ts"));
  assert.deepEqual(await search(world, { pattern: "one" }), {
    matches: [
      { file: ".hidden/d.ts", line: 1, column: 1, text: "one" },
      { file: "a.ts", line: 1, column: 14, text: "export const one = 1;" },
      { file: "latin.txt", line: 1, column: 3, text: "\uFFFD one" },
      { file: "sub/b.ts", line: 1, column: 4, text: "// one" },
      { file: "sub/b.ts", line: 2, column: 10, text: "import { one } from '../a.ts';" },
    ],
    files: 5,
    truncated: false,
  });
  assert.deepEqual(await places(world, { pattern: "one", path: "sub" }), ["sub/b.ts:1:4", "sub/b.ts:2:10"]);
  assert.deepEqual(await places(world, { pattern: "one", path: "sub/b.ts" }), [
    "sub/b.ts:1:4",
    "sub/b.ts:2:10",
  ]);
  assert.deepEqual(await places(world, { pattern: "one", glob: "*.md", ignoreCase: true }), ["sub/c.md:1:1"]);
  assert.deepEqual(await places(world, { pattern: "b.ts", path: "." }), []);
  assert.deepEqual(await places(world, { pattern: "STRASSE", ignoreCase: true }), []);
  assert.deepEqual(await places(world, { pattern: "straße", ignoreCase: true }), ["sub/c.md:1:11"]);
  assert.deepEqual(await places(world, { pattern: "(", path: "a.ts", ignoreCase: true }), ["a.ts:4:22"]);
});

Deno.test("SearchText: regular expressions, line by line", async () => {
  await using world = await gadgetFolder({ files: FILES });
  const found = (pattern: string, more = {}) => places(world, { pattern, regex: true, ...more });
  assert.deepEqual(await found("^export (const|function) \\w+"), ["a.ts:1:1", "a.ts:4:1"]);
  assert.deepEqual(await found("ts';$"), ["sub/b.ts:2:27"]);
  assert.deepEqual(await found("^$"), ["a.ts:3:1"]);
  assert.deepEqual(await found("\\btwo\\b", { ignoreCase: true }), ["a.ts:2:7", "sub/c.md:1:6"]);
  assert.deepEqual(await found("1;\\s*const"), []);
  assert.deepEqual(await found("\\u0074wo [^]"), ["a.ts:2:7"]);
});

Deno.test("SearchText: context, cut lines, and an end after enough matches", async () => {
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index + 1}${index % 10 === 4 ? " hit" : ""}`)
    .join("\n");
  await using world = await gadgetFolder({
    files: { "a.txt": lines, "long.txt": `${"x".repeat(1000)}needle${"y".repeat(1000)}` },
  });
  assert.deepEqual(await search(world, { pattern: "hit", context: 2, maxMatches: 2 }), {
    matches: [
      {
        file: "a.txt",
        line: 5,
        column: 8,
        text: "line 5 hit",
        before: ["line 3", "line 4"],
        after: ["line 6", "line 7"],
      },
      {
        file: "a.txt",
        line: 15,
        column: 9,
        text: "line 15 hit",
        before: ["line 13", "line 14"],
        after: ["line 16", "line 17"],
      },
    ],
    files: 1,
    truncated: true,
  });
  const exact = await search(world, { pattern: "hit", maxMatches: 5 });
  assert.ok(typeof exact === "object" && exact !== null && "truncated" in exact && exact.truncated === false);
  assert.deepEqual(await search(world, { pattern: "line 1", path: "a.txt", context: 1, maxMatches: 1 }), {
    matches: [{ file: "a.txt", line: 1, column: 1, text: "line 1", before: [], after: ["line 2"] }],
    files: 1,
    truncated: true,
  });
  assert.deepEqual(await search(world, { pattern: "needle" }), {
    matches: [{
      file: "long.txt",
      line: 1,
      column: 1001,
      text: `…${"x".repeat(80)}needle${"y".repeat(214)}…`,
    }],
    files: 2,
    truncated: false,
  });
});

Deno.test("SearchText: what a model reads is what grep prints", async () => {
  await using world = await gadgetFolder({ files: FILES });
  assert.equal(
    await world.shown("SearchText", { pattern: "two", context: 1 }),
    "a.ts-1- export const one = 1;\na.ts:2:7: const two = 2;\na.ts-3- \n[1 matching line in 5 files]",
  );
  assert.equal(
    await world.shown("SearchText", { pattern: "zzz" }),
    "[0 matching lines in 5 files]",
  );
  assert.equal(
    await world.shown("SearchText", { pattern: "one", maxMatches: 1 }),
    ".hidden/d.ts:1:1: one\n[1 matching line in 2 files so far; there are more: search for something rarer, or pass a narrower glob or " +
      "a larger maxMatches]",
  );
});

Deno.test("SearchText: says why it cannot", async () => {
  await using world = await gadgetFolder({ files: FILES });
  const why = (input: Record<string, unknown>) => world.error("SearchText", input);
  assert.equal(await why({ pattern: "x", path: "nope" }), 'Cannot look at "nope": no such file or folder');
  assert.match(
    await why({ pattern: "x", path: "/etc" }),
    /Reading "\/etc" is not allowed: add --allow-read=\/etc/,
  );
  assert.match(await why({ pattern: "a\nb" }), /"pattern" with a line break/);
  assert.match(
    await why({ pattern: "(", regex: true }),
    /Cannot read the regular expression: .*Unterminated group/,
  );
  assert.match(
    await why({ pattern: "a(?=b)", regex: true }),
    /`\(\?=`\. Look-around cannot be searched for in linear time/,
  );
  assert.match(
    await why({ pattern: "(a)\\1", regex: true }),
    /a back-reference cannot be searched for in linear time/,
  );
  assert.match(
    await why({ pattern: "(((a{99}){99}){99}){99}", regex: true }),
    /it is too big; make the numbers in \{\} smaller/,
  );
  assert.match(
    await why({ pattern: "(){1000000000}x", regex: true, path: "a.ts", maxMatches: 0 }),
    /maxMatches/,
  );
  assert.match(await why({ pattern: "x", glob: "{a" }), /Cannot read the glob/);
});

Deno.test("SearchText: a file that may not be read is told, not an end", async () => {
  await using world = await gadgetFolder({ files: FILES, deny: { read: ["sub"] } });
  const found = JSON.stringify(await search(world, { pattern: "one" }));
  assert.match(found, /"file":"a\.ts"/);
  assert.match(found, /"skipped":\[\{"file":"sub","reason":"Reading \\"sub\\" is not allowed/);
});

Deno.test("SearchText: one file that is not text says so", async () => {
  await using world = await gadgetFolder({ files: FILES });
  const skipped = [{ file: "data.bin", reason: "it is not text but binary" }];
  assert.deepEqual(await search(world, { pattern: "one", path: "data.bin" }), {
    matches: [],
    files: 0,
    truncated: false,
    skipped,
  });
});

Deno.test("SearchText: expressions that hang other engines do not", async () => {
  const evil = `${"a".repeat(200_000)}!\n`;
  await using world = await gadgetFolder({ files: { "evil.txt": evil } });
  const started = performance.now();
  for (
    const pattern of [
      "(a+)+$",
      "(a|a)*b",
      "(a|aa)+$",
      "(.*)*x",
      "(a*)*b",
      "([a-z]+)*\\d",
      ".*.*.*.*=",
      "(\\w+\\s?)*$x",
    ]
  ) {
    assert.deepEqual(await places(world, { pattern, regex: true }), [], pattern);
  }
  assert.deepEqual(await places(world, { pattern: "(a+)+!$", regex: true }), ["evil.txt:1:1"]);
  const seconds = (performance.now() - started) / 1000;
  assert.ok(seconds < 5, `${seconds} s`);
});

Deno.test("SearchText: 100 MB in seconds", async () => {
  await using world = await gadgetFolder();
  const megabytes = await makeTree(world.root);
  for (
    const input of [{ pattern: "needle 7" }, { pattern: "n[e]+dle \\d*7$", regex: true }, {
      pattern: "NEEDLE 7",
      ignoreCase: true,
    }]
  ) {
    const started = performance.now();
    const found = await places(world, { ...input, maxMatches: 1000 });
    const seconds = (performance.now() - started) / 1000;
    assert.deepEqual(found, EXPECTED_NEEDLES, JSON.stringify(input));
    console.log(`  ${JSON.stringify(input)}: ${megabytes.toFixed(0)} MB in ${seconds.toFixed(2)} s`);
    assert.ok(seconds < 15, `${seconds} s`);
  }
  console.log(`  ${await grepSeconds(world.root)}`);
});

const FOLDERS = 20;
const FILES_IN_FOLDER = 60;
const EXPECTED_NEEDLES = Array.from(
  { length: FOLDERS },
  (_, folder) => `folder${String(folder).padStart(2, "0")}/file07.txt:1001:9`,
);

/** A tree of text; the seventh file of every folder holds one line that is looked for. */
async function makeTree(root: string): Promise<number> {
  const filler = Array.from(
    { length: 1000 },
    (_, index) => `${index} const value = compute(alpha, beta); // lorem ipsum dolor sit amet, needles\n`,
  ).join("");
  let bytes = 0;
  for (let folder = 0; folder < FOLDERS; folder++) {
    const name = `folder${String(folder).padStart(2, "0")}`;
    const files = Array.from({ length: FILES_IN_FOLDER }, (_, file) => {
      const middle = file === 7 ? "the one needle 7\n" : "";
      return [`${name}/file${String(file).padStart(2, "0")}.txt`, filler + middle + filler.slice(0, 10_000)];
    });
    bytes += files.reduce((total, [, text]) => total + (text ?? "").length, 0);
    await writeFiles(root, Object.fromEntries(files));
  }
  return bytes / 1e6;
}

async function grepSeconds(root: string): Promise<string> {
  const started = performance.now();
  const grep = new Deno.Command("grep", { args: ["-rnF", "needle 7", root], stdout: "null", stderr: "null" });
  const done = await grep.output().catch(() => undefined);
  if (done?.success !== true) return "not run here: the comparison with grep, which is not installed";
  return `grep -rnF: ${((performance.now() - started) / 1000).toFixed(2)} s`;
}
