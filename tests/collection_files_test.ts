import assert from "node:assert/strict";
import fc from "fast-check";
import { ProblemsError } from "../mod.ts";
import { errorFrame } from "../lib/render/error_frame.ts";
import { readCollectionFile } from "../lib/parse/files/collection.ts";
import { readModuleFile } from "../lib/parse/files/module.ts";

const FILE = "docs/help.collection.yml";
const MODULE = "docs/m.module.yml";

async function problemsOf(reading: Promise<unknown>): Promise<readonly string[]> {
  const error = await reading.then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof ProblemsError, String(error));
  return error.problems.map((problem) => `${problem.span?.line}:${problem.span?.column} ${problem.message}`);
}

Deno.test("a collection file: documents with their defaults", async () => {
  const text = `version: "0.1"
documents:
  - { id: a, file: a.md }
  - id: b
    file: ../b.pdf
    type: book
    metadata: { name: The book, link: https://example.com/b }
    exclude: [1, 2]
`;
  const { file, documents } = await readCollectionFile(text, FILE);
  assert.equal(file, FILE);
  const plain = documents.map(({ problem: _, ...rest }) => rest);
  assert.deepEqual(plain, [
    { id: "a", file: "a.md", type: "text", name: "a", exclude: [] },
    {
      id: "b",
      file: "../b.pdf",
      type: "book",
      name: "The book",
      link: "https://example.com/b",
      exclude: [1, 2],
    },
  ]);
  const [first, second] = documents;
  assert.equal(first?.problem("is gone").place, `${FILE}:3:20`);
  assert.equal(second?.problem("is gone").message, "documents[1].file: is gone");
  assert.equal(second?.problem("no such page", { page: 2 }).place, `${FILE}:8:18`);
});

Deno.test("a collection file: all problems at once, with their places", async () => {
  const text = `version: 0.1
documents:
  - id: a
    fil: x.md
    type: txt
    exclude: [0, 2, x, 1.5]
  - id: a
    file: " "
    metadata: { nme: 1, link: 3 }
  - 7
docs: 3
`;
  assert.deepEqual(await problemsOf(readCollectionFile(text, FILE)), [
    '1:10 version: must be the text "0.1"; put it in quotes',
    '3:5 documents[0]: "file" is required in a document',
    '4:5 documents[0]: unknown key "fil" in a document (did you mean "file"?)',
    '5:11 documents[0].type: must be one of "text", "book", "paper", "slides"; found "txt" (did you mean "text"?)',
    "6:15 documents[0].exclude[0]: must be the number of a page, 1 or more; found 0",
    "6:21 documents[0].exclude[2]: must be the number of a page, 1 or more; found text",
    "6:24 documents[0].exclude[3]: must be the number of a page, 1 or more; found 1.5",
    '7:9 documents[1].id: document id "a" is already used at documents[0]',
    "8:11 documents[1].file: must not be empty",
    '9:17 documents[1].metadata: unknown key "nme" in "metadata" (did you mean "name"?)',
    "9:31 documents[1].metadata.link: must be text, found a number",
    "10:5 documents[2]: must be a mapping, found a number",
    '11:1 file: unknown key "docs" in the file',
  ]);
});

Deno.test("a collection file: what is no mapping, empty, of another version, or no YAML", async () => {
  const first = async (text: string) => (await problemsOf(readCollectionFile(text, FILE)))[0];
  assert.equal(await first(""), '1:1 file: is empty; it needs "version" and "documents"');
  assert.equal(await first("- a"), "1:1 file: must be a mapping, found a list");
  assert.equal(await first('version: "2"\ndocuments: []'), '1:10 version: must be the text "0.1", found "2"');
  assert.equal(await first("documents: []"), '1:1 file: "version" is required in the file');
  assert.equal(
    await first('version: "0.1"\ndocuments: { a: b }'),
    "2:12 documents: must be a list, found a mapping",
  );
  assert.match(await first('version: "0.1"\ndocuments: [') ?? "", /^2:\d+ /);
});

Deno.test("a collection file: the command line shows a problem as file:line:column: error: path: message", async () => {
  const error = await readCollectionFile('version: "0.1"\ndocuments: 1\n', FILE).catch((error) => error);
  assert.ok(error instanceof ProblemsError && error.problems[0] !== undefined);
  const [line, , source] = errorFrame(error.problems[0]).split("\n");
  assert.equal(line, `${FILE}:2:12: error: documents: must be a list, found a number`);
  assert.match(source ?? "", /documents: 1/);
});

Deno.test("a module file: sessions, contents, sources, and what it says besides", async () => {
  const text = `module:
  id: m
  title: Bikes
  owner: { name: Ana }
  sessions:
    - { id: s1, title: One, contents: [c1] }
    - { id: s2 }
  contents:
    - id: c1
      title: Brakes
      contents: How to stop.
      sources: { primary: [brakes.md, law], secondary: history.pdf }
    - { id: c2, sources: { primary: [] } }
`;
  const module = await readModuleFile(text, MODULE);
  assert.deepEqual(module.sessions, [{ id: "s1", contents: ["c1"] }, { id: "s2" }]);
  assert.deepEqual(
    module.contents.map(({ id, primary, secondary }) => [
      id,
      primary.map(({ name }) => name),
      secondary.map(({ name }) => name),
    ]),
    [["c1", ["brakes.md", "law"], ["history.pdf"]], ["c2", [], []]],
  );
  assert.deepEqual(module.data.owner, { name: "Ana" });
  assert.equal(module.contents[0]?.secondary[0]?.problem("is gone").place, `${MODULE}:12:56`);
});

Deno.test("a module file: all problems at once, with their places", async () => {
  const text = `module:
  title: 3
  sessions:
    - { id: s1, contents: [c1, content2] }
    - { id: s1 }
    - { contents: c3 }
  contents:
    - { id: content1, sources: { primry: [] } }
    - { id: content1, sources: { primary: [1] } }
`;
  assert.deepEqual(await problemsOf(readModuleFile(text, MODULE)), [
    '1:1 module: "id" is required in "module"',
    "2:10 module.title: must be text, found a number",
    '4:28 module.sessions[0].contents[0]: there is no content "c1"',
    '4:32 module.sessions[0].contents[1]: there is no content "content2" (did you mean "content1"?)',
    '5:13 module.sessions[1].id: session id "s1" is already used at module.sessions[0]',
    '6:7 module.sessions[2]: "id" is required in a session',
    '6:19 module.sessions[2].contents: there is no content "c3"',
    '8:34 module.contents[0].sources: unknown key "primry" in "sources" (did you mean "primary"?)',
    '9:13 module.contents[1].id: content id "content1" is already used at module.contents[0]',
    "9:44 module.contents[1].sources.primary[0]: must be text, found a number",
  ]);
  assert.deepEqual(await problemsOf(readModuleFile("", MODULE)), ['1:1 file: is empty; it needs "module"']);
  assert.deepEqual(await problemsOf(readModuleFile("module: { id: m, n: .nan }", MODULE)), [
    "1:21 module.n: must hold finite numbers only",
  ]);
});

Deno.test("both files: any text is read, or refused with places inside it", async () => {
  const key = fc.constantFrom(
    "version",
    "documents",
    "module",
    "id",
    "file",
    "sessions",
    "contents",
    "sources",
    "x",
  );
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant("0.1"));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  }));
  const text = fc.oneof(fc.string(), value.map((value) => JSON.stringify(value)));
  await fc.assert(
    fc.asyncProperty(text, async (text) => {
      for (const read of [readCollectionFile, readModuleFile]) {
        const error = await read(text, "f.yml").then(() => undefined, (error: unknown) => error);
        if (error === undefined) continue;
        assert.ok(error instanceof ProblemsError, String(error));
        for (const { span } of error.problems) {
          assert.ok(span !== undefined && span.file === "f.yml");
          assert.ok(span.line >= 1 && span.line <= text.split("\n").length + 1, `${span.line}`);
        }
      }
    }),
    { numRuns: 300 },
  );
});
