import assert from "node:assert/strict";
import { join } from "node:path";
import { gadgetFolder } from "./_gadgets.ts";
import { posixTest } from "./_posix_test.ts";

Deno.test("ReadFile: the text, or some lines of it", async () => {
  const numbers = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join("");
  await using world = await gadgetFolder({
    files: { "a.txt": numbers, "open.txt": "one\ntwo", "empty.txt": "", "mark.txt": "\uFEFFäß €\r\n" },
  });
  const read = (input: Record<string, unknown>) => world.call("ReadFile", input);
  assert.equal(await read({ path: "a.txt" }), numbers);
  assert.equal(await read({ path: "a.txt", from: 3, lines: 2 }), "line 3\nline 4\n");
  assert.equal(await read({ path: "a.txt", from: 10 }), "line 10\n");
  assert.equal(await read({ path: "a.txt", from: 9, lines: 100 }), "line 9\nline 10\n");
  assert.equal(await read({ path: "open.txt", from: 2, lines: 1 }), "two");
  assert.equal(await read({ path: "empty.txt" }), "");
  assert.equal(await read({ path: "empty.txt", from: 1, lines: 5 }), "");
  assert.equal(await read({ path: "mark.txt" }), "äß €\r\n");
});

Deno.test("ReadFile: says why it cannot", async () => {
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0);
  await using world = await gadgetFolder({
    files: {
      "a.txt": "one\ntwo\n",
      "one.txt": "x",
      "logo.png": png,
      "data.bin": Uint8Array.of(65, 0, 66),
      "latin.txt": Uint8Array.of(65, 0xe9, 66),
      "sub/b.txt": "b",
    },
  });
  const why = (input: Record<string, unknown>) => world.error("ReadFile", input);
  assert.equal(await why({ path: "absent.txt" }), 'Cannot read "absent.txt": no such file');
  assert.equal(
    await why({ path: "sub" }),
    'Cannot read "sub": it is a folder; ListFolder shows what is in it',
  );
  assert.equal(await why({ path: "a.txt", from: 3 }), 'Cannot read "a.txt" from line 3: it has 2 lines');
  assert.equal(await why({ path: "one.txt", from: 2 }), 'Cannot read "one.txt" from line 2: it has 1 line');
  assert.equal(
    await why({ path: "logo.png" }),
    'Cannot read "logo.png": it is not text but a PNG image (9 bytes)',
  );
  assert.equal(
    await why({ path: "data.bin" }),
    'Cannot read "data.bin": it is not text but binary (3 bytes)',
  );
  assert.match(await why({ path: "latin.txt" }), /not UTF-8 text: the first wrong byte is 0xE9 at offset 1/);
  assert.match(await why({ path: "../outside.txt" }), /Reading .* is not allowed.*--allow-read/);
  assert.match(await why({ path: "a.txt", line: 1 }), /line/);
  assert.match(await why({ path: "a.txt", from: 0 }), /from/);
});

Deno.test("ReadFile: a huge file is refused before it is read", async () => {
  await using world = await gadgetFolder({ files: { "huge.txt": "" } });
  await Deno.truncate(join(world.root, "huge.txt"), 3 * 1024 ** 3);
  assert.match(
    await world.error("ReadFile", { path: "huge.txt" }),
    /it has 3\.0 GiB, at most 64\.0 MiB are read/,
  );
});

Deno.test("WriteFile: writes, replaces and adds", async () => {
  await using world = await gadgetFolder();
  const write = (input: Record<string, unknown>) => world.call("WriteFile", input);
  assert.deepEqual(await write({ path: "a/b/c.txt", content: "é\n" }), {
    path: "a/b/c.txt",
    bytes: 3,
    created: true,
  });
  assert.equal(await world.text("a/b/c.txt"), "é\n");
  assert.deepEqual(await write({ path: "a/b/c.txt", content: "x" }), {
    path: "a/b/c.txt",
    bytes: 1,
    created: false,
  });
  assert.deepEqual(await write({ path: "a/b/c.txt", content: "y\n", append: true }), {
    path: "a/b/c.txt",
    bytes: 3,
    created: false,
  });
  assert.equal(await world.text("a/b/c.txt"), "xy\n");
  assert.deepEqual(await write({ path: "new.txt", content: "z", append: true }), {
    path: "new.txt",
    bytes: 1,
    created: true,
  });
  assert.deepEqual([...Deno.readDirSync(join(world.root, "a/b"))].map(({ name }) => name), ["c.txt"]);
});

Deno.test("WriteFile: says why it cannot, and leaves the file as it was", async () => {
  await using world = await gadgetFolder({ files: { "sub/b.txt": "b", "logo.bin": Uint8Array.of(0, 1, 2) } });
  const why = (input: Record<string, unknown>) => world.error("WriteFile", input);
  assert.match(await why({ path: "sub", content: "x" }), /Cannot write "sub": it is a folder/);
  assert.match(
    await why({ path: "sub/b.txt/c.txt", content: "x" }),
    /"sub\/b\.txt\/c\.txt".*is a file, not a folder/,
  );
  assert.match(await why({ path: "../x.txt", content: "x" }), /Writing|Reading/);
  assert.match(await why({ path: "logo.bin", content: "x", append: true }), /not text but binary/);
  assert.deepEqual(await Deno.readFile(join(world.root, "logo.bin")), Uint8Array.of(0, 1, 2));

  await using readOnly = await gadgetFolder({ files: { "a.txt": "a" }, allow: {} });
  assert.match(
    await readOnly.error("WriteFile", { path: "a.txt", content: "x" }),
    /Writing "a\.txt" is not allowed: add --allow-write=a\.txt/,
  );
  assert.equal(await readOnly.text("a.txt"), "a");
});

Deno.test("WriteFile: a folder that may be written but not read", async () => {
  await using outside = await gadgetFolder();
  await using world = await gadgetFolder({ allow: { write: [outside.root] } });
  const path = join(outside.root, "x.txt");
  assert.deepEqual(await world.call("WriteFile", { path, content: "abc" }), { path, bytes: 3 });
  assert.match(
    await world.error("WriteFile", { path, content: "d", append: true }),
    /Reading .* is not allowed/,
  );
});

Deno.test("WriteFile and EditFile: calls at the same time lose nothing", async () => {
  await using world = await gadgetFolder({ files: { "log.txt": "start\n" } });
  const letters = [..."abcdefghijklmnop"];
  await Promise.all(
    letters.map((letter) =>
      world.call("WriteFile", { path: "log.txt", content: `${letter}\n`, append: true })
    ),
  );
  await Promise.all(letters.map((letter, index) =>
    // By several names of the one file.
    world.call("EditFile", {
      path: index % 2 === 0 ? "log.txt" : "./log.txt",
      old: `${letter}\n`,
      new: `<${letter}>\n`,
    })
  ));
  const lines = (await world.text("log.txt")).trim().split("\n");
  assert.deepEqual(lines.toSorted(), [...letters.map((letter) => `<${letter}>`), "start"].toSorted());
});

Deno.test("EditFile: one exact replacement, taken literally", async () => {
  await using world = await gadgetFolder({ files: { "a.ts": "const a = 1;\nconst b = 2;\nconst c = 3;\n" } });
  const edit = (input: Record<string, unknown>) => world.call("EditFile", { path: "a.ts", ...input });
  assert.deepEqual(await edit({ old: "b = 2", new: "b = '$& $1 $$ $`'" }), {
    path: "a.ts",
    replacements: 1,
    lines: [{ from: 2, to: 2 }],
  });
  assert.equal(await world.text("a.ts"), "const a = 1;\nconst b = '$& $1 $$ $`';\nconst c = 3;\n");
  assert.deepEqual(await edit({ old: "const", new: "let\n  ", all: true }), {
    path: "a.ts",
    replacements: 3,
    lines: [{ from: 1, to: 6 }],
  });
  assert.deepEqual(await edit({ old: "let\n   c = 3;\n", new: "" }), {
    path: "a.ts",
    replacements: 1,
    lines: [{ from: 4, to: 4 }],
  });
  assert.equal(await world.text("a.ts"), "let\n   a = 1;\nlet\n   b = '$& $1 $$ $`';\n");
});

Deno.test("EditFile: several edits, all or none", async () => {
  await using world = await gadgetFolder({ files: { "a.txt": "one\ntwo\nthree\nfour\n" } });
  const edits = [
    { old: "four", new: "4" },
    { old: "one\n", new: "1\n1.5\n1.75\n" },
    { old: "1.5", new: "one and a half" },
  ];
  assert.deepEqual(await world.call("EditFile", { path: "a.txt", edits }), {
    path: "a.txt",
    replacements: 3,
    lines: [{ from: 1, to: 3 }, { from: 6, to: 6 }],
  });
  const after = "1\none and a half\n1.75\ntwo\nthree\n4\n";
  assert.equal(await world.text("a.txt"), after);
  const failing = [{ old: "two", new: "2" }, { old: "one\n", new: "x" }, { old: "three", new: "3" }];
  assert.match(
    await world.error("EditFile", { path: "a.txt", edits: failing }),
    /^Cannot edit "a\.txt": the text "old" of edit 2 is not in the file\. .*; nothing was changed$/,
  );
  assert.equal(await world.text("a.txt"), after);
});

Deno.test("EditFile: more than one occurrence is refused, with the lines", async () => {
  const twenty = Array.from({ length: 20 }, (_, index) => `row ${index}\n`).join("");
  await using world = await gadgetFolder({
    files: { "a.txt": "x = 1\ny = 2\nx = 1\n", "many.txt": twenty, "aaa.txt": "aaa" },
  });
  assert.equal(
    await world.error("EditFile", { path: "a.txt", old: "x = 1", new: "x = 2" }),
    'Cannot edit "a.txt": the text "old" is in the file 2 times, in lines 1, 3. Add lines around it until it is there only once, ' +
      'or pass "all": true; nothing was changed',
  );
  assert.match(
    await world.error("EditFile", { path: "many.txt", old: "row", new: "line" }),
    /more than 10 times, in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and further ones\./,
  );
  assert.match(await world.error("EditFile", { path: "aaa.txt", old: "aa", new: "b" }), /2 times/);
});

Deno.test("EditFile: a text that is not there is explained by the nearest line", async () => {
  const code =
    'function area(width, height) {\n\tconst result = width * height;\n\treturn result;\n}\n\nexport const greeting = "hello";\n';
  await using world = await gadgetFolder({ files: { "a.js": code, "blank.txt": "\n\n" } });
  const why = (old: string) => world.error("EditFile", { path: "a.js", old, new: "x" });
  assert.equal(
    await why("  const result = width * height;"),
    'Cannot edit "a.js": the text "old" is not in the file. Line 2 differs in its blanks: found "\\tconst result = width * height;", ' +
      'expected "  const result = width * height;". Read the file again and copy the text exactly; nothing was changed',
  );
  assert.match(
    await why("function area(width, height) {\n\tconst result = width * height;\n\treturn 2 * result;\n}"),
    /Lines 1 to 2 are the same, but line 3 differs: found "\\treturn result;", expected "\\treturn 2 \* result;"/,
  );
  assert.match(
    await why('export const greeting = "hallo";'),
    /The nearest is line 6: "export const greeting = \\"hello\\";"/,
  );
  assert.match(await why("zzzz qqqq"), /No line is similar to it/);
  assert.match(await why("}\n}"), /Line 4 is the same, but line 5 differs: found "", expected "}"/);
  assert.match(await why("width * height;\n\n\treturn"), /The nearest is line 2/);
  assert.match(
    await world.error("EditFile", { path: "blank.txt", old: "a", new: "b" }),
    /The file is empty/,
  );
});

Deno.test("EditFile: line breaks and byte order mark stay as they are", async () => {
  await using world = await gadgetFolder({
    files: { "crlf.txt": "\uFEFFone\r\ntwo\r\nthree\r\n", "mixed.txt": "one\r\ntwo\nthree\n" },
  });
  await world.call("EditFile", { path: "crlf.txt", old: "one\ntwo\n", new: "1\n2\n2.5\r\n" });
  assert.deepEqual(
    await Deno.readFile(join(world.root, "crlf.txt")),
    new TextEncoder().encode("\uFEFF1\r\n2\r\n2.5\r\nthree\r\n"),
  );
  await world.call("EditFile", { path: "mixed.txt", old: "two\nthree", new: "2\n3" });
  assert.equal(await world.text("mixed.txt"), "one\r\n2\n3\n");
});

Deno.test("EditFile: an input that says nothing or two things", async () => {
  await using world = await gadgetFolder({ files: { "a.txt": "a" }, allow: {} });
  const why = (input: Record<string, unknown>) => world.error("EditFile", { path: "a.txt", ...input });
  assert.match(await why({ old: "a" }), /expected "old" and "new", or a list "edits"/);
  assert.match(
    await why({ old: "a", new: "b", edits: [{ old: "a", new: "b" }] }),
    /found "edits" beside "old"/,
  );
  assert.match(await why({ old: "a", new: "a" }), /"old" and "new" are the same/);
  assert.match(await why({ old: "", new: "a" }), /old/);
  assert.match(await why({ edits: [{ old: "a", new: "b", also: 1 }] }), /edits\/0/);
  assert.match(await why({ old: "a", new: "b" }), /Writing "a\.txt" is not allowed/);
});

Deno.test("ListFolder: kinds, sizes, order, depth", async () => {
  await using world = await gadgetFolder({
    files: {
      "b.txt": "12345",
      ".hidden": "",
      "a/inner.ts": "1",
      "a/deep/x.ts": "12",
      ".git/config": "",
      "node_modules/p/index.js": "",
    },
  });
  await Deno.symlink("b.txt", join(world.root, "link.txt"));
  await Deno.symlink("/", join(world.root, "outside"));
  const list = (input: Record<string, unknown>) => world.call("ListFolder", input);
  assert.deepEqual(await list({}), {
    path: ".",
    entries: [
      { path: ".git", kind: "folder" },
      { path: ".hidden", kind: "file", size: 0 },
      { path: "a", kind: "folder" },
      { path: "b.txt", kind: "file", size: 5 },
      { path: "link.txt", kind: "file", size: 5, link: true },
      { path: "node_modules", kind: "folder" },
      { path: "outside", kind: "other", link: true },
    ],
    missing: 0,
  });
  assert.deepEqual(await list({ path: "a/", depth: 5 }), {
    path: "a/",
    entries: [
      { path: "deep", kind: "folder" },
      { path: "deep/x.ts", kind: "file", size: 2 },
      { path: "inner.ts", kind: "file", size: 1 },
    ],
    missing: 0,
  });
  const found = await list({ pattern: "*.{ts,js}" });
  assert.deepEqual(found, {
    path: ".",
    entries: [{ path: "a/deep/x.ts", kind: "file", size: 2 }, { path: "a/inner.ts", kind: "file", size: 1 }],
    missing: 0,
  });
  assert.deepEqual(await list({ pattern: "a/*.ts", depth: 1 }), { path: ".", entries: [], missing: 0 });
});

Deno.test("ListFolder: says what is missing, and why it cannot", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1234 }, (_, index) => [`f${String(index).padStart(4, "0")}`, ""]),
  );
  await using world = await gadgetFolder({ files });
  const listed = await world.call("ListFolder", {});
  assert.ok(typeof listed === "object" && listed !== null && "entries" in listed && "missing" in listed);
  assert.equal(listed.missing, 234);
  assert.ok(Array.isArray(listed.entries));
  assert.deepEqual(listed.entries.at(-1), { path: "f0999", kind: "file", size: 0 });
  const why = (input: Record<string, unknown>) => world.error("ListFolder", input);
  assert.equal(await why({ path: "nope" }), 'Cannot list "nope": no such folder');
  assert.match(await why({ path: "f0001" }), /Cannot list "f0001": it is a file, not a folder/);
  assert.match(await why({ path: ".." }), /is not allowed/);
  assert.match(
    await why({ pattern: "[a" }),
    /Cannot read the glob "\[a": the "\[" at character 1 is not closed/,
  );
  assert.match(await why({ pattern: "x/{a,b" }), /the "\{" at character 3 is not closed/);
});

Deno.test("ListFolder: a folder that may not be entered is told with its problem", async () => {
  await using outer = await gadgetFolder({ files: { "secret/x.txt": "", "open/y.txt": "" } });
  await using world = await gadgetFolder({
    allow: { read: [outer.root] },
    deny: { read: [`${outer.root}/secret`] },
  });
  const listed = await world.call("ListFolder", { path: outer.root, depth: 2 });
  const shown = JSON.stringify(listed);
  assert.match(shown, /"path":"open\/y\.txt"/);
  assert.match(shown, /"path":"secret","kind":"folder","problem":"Reading [^}]*is not allowed/);
});

Deno.test("ReadFile: text that begins like a program or a picture is text", async () => {
  await using world = await gadgetFolder({
    files: { "mz.csv": "MZ;Mozambique\n", "gif.txt": "GIF89a is a format\n" },
  });
  assert.equal(await world.call("ReadFile", { path: "mz.csv" }), "MZ;Mozambique\n");
  assert.equal(await world.call("ReadFile", { path: "gif.txt" }), "GIF89a is a format\n");
});

posixTest("ListFolder: globs", async () => {
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ["*.ts", ["a.ts", "src/a.ts", ".ts"], ["a.tsx", "a.ts/b"]],
    ["src/*.ts", ["src/a.ts"], ["src/b/a.ts", "a.ts", "x/src/a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["a.ts", "srcx/a.ts"]],
    ["**/test", ["test", "a/b/test"], ["atest", "a/test/b"]],
    ["src/**", ["src/a", "src/a/b"], ["src", "a/src/b"]],
    ["./a/?.md", ["a/x.md"], ["a/xy.md", "a//.md"]],
    ["/a.md", ["a.md"], ["b/a.md"]],
    ["[!a-c]*.{ts,js}", ["d.ts", "x/d.js"], ["a.ts", "d.css"]],
    ["{src,lib}/{a,b/**}/x", ["src/a/x", "lib/b/c/x"], ["src/b", "bin/a/x"]],
    ["[]x].[^\\d]", ["].a", "x.e"], ["y.a", "x.d"]],
    ["a\\*b", ["a*b"], ["axb"]],
    ["a.b(c)+$", ["a.b(c)+$"], ["aXb(c)+$", "a.bccc"]],
    ["a**b", ["axxb"], ["a/b"]],
    ["{,x}y", ["y", "xy", "z/xy"], ["x"]],
    ["*\n*", ["a\nb"], ["ab"]],
  ];
  for (const [glob, yes, no] of cases) {
    for (const path of [...yes, ...no]) {
      await using world = await gadgetFolder({ files: { [path]: "" } });
      const listed = JSON.stringify(await world.call("ListFolder", { pattern: glob }));
      assert.equal(listed.includes('"kind":"file"'), yes.includes(path), `${glob} and ${path}`);
    }
  }
});
