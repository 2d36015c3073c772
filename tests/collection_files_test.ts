// Files of collections and of modules: what is wrong with them is told all at once, with its places.

import assert from "node:assert/strict";
import fc from "fast-check";
import { testProject } from "./_project.ts";

/** What `orrery check` tells of these files, by file, `line:column message`. */
async function checked(
  files: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  await using project = await testProject({ "orrery.yaml": "", ...files });
  const { stderr } = await project.run(["check"]);
  const told = new Map(Object.keys(files).map((name): [string, string[]] => [name, []]));
  for (
    const [, file = "", place = "", message = ""] of stderr.matchAll(/^([^:\n]+):(\d+:\d+): error: (.*)$/gm)
  ) {
    told.get(file)?.push(`${place} ${message}`);
  }
  return told;
}

async function problemsOf(text: string, file: string): Promise<readonly string[]> {
  return (await checked({ [file]: text })).get(file) ?? [];
}

const FILE = "docs/help.collection.yml";
const MODULE = "docs/m.module.yml";

Deno.test("a collection file: its documents, and those that are not there", async () => {
  const text = `version: "0.1"
documents:
  - { id: a, file: a.md }
  - id: b
    file: ../b.md
    type: book
    metadata: { name: The book, link: https://example.com/b }
    exclude: [1, 2]
`;
  const files = { [FILE]: text, "docs/a.md": "# A\n\nText.\n", "b.md": "# B\n\nText.\n" };
  assert.deepEqual((await checked(files)).get(FILE), []);
  assert.deepEqual(await problemsOf(text, FILE), [
    '3:20 documents[0].file: Cannot look at "a.md": no such file or folder',
    '5:11 documents[1].file: Cannot look at "../b.md": no such file or folder',
  ]);
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
  assert.deepEqual(await problemsOf(text, FILE), [
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
  const wrong = [
    ["", '1:1 file: is empty; it needs "version" and "documents"'],
    ["- a", "1:1 file: must be a mapping, found a list"],
    ['version: "2"\ndocuments: []', '1:10 version: must be the text "0.1", found "2"'],
    ["documents: []", '1:1 file: "version" is required in the file'],
    ['version: "0.1"\ndocuments: { a: b }', "2:12 documents: must be a list, found a mapping"],
    ['version: "0.1"\ndocuments: [', "2:13 Found the end of a list or mapping in brackets too early"],
  ] as const;
  const files = Object.fromEntries(wrong.map(([text], index) => [`c${index}.collection.yml`, text]));
  const told = await checked(files);
  wrong.forEach(([text, problem], index) =>
    assert.equal(told.get(`c${index}.collection.yml`)?.[0], problem, text)
  );
});

Deno.test("a module file: what it says besides is its own affair; all problems at once, with their places", async () => {
  const fine = `module:
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
    - { id: c2, sources: { primary: [] } }
`;
  assert.deepEqual(await problemsOf(fine, MODULE), []);
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
  assert.deepEqual(await problemsOf(text, MODULE), [
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
  assert.deepEqual(await problemsOf("", MODULE), ['1:1 file: is empty; it needs "module"']);
  assert.deepEqual(await problemsOf("module: { id: m, n: .nan }", MODULE), [
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
  const texts = fc.sample(text, 300);
  const files = Object.fromEntries(
    texts.flatMap((text, index) => [[`c${index}.collection.yml`, text], [`m${index}.module.yml`, text]]),
  );
  let refused = 0;
  for (const [name, problems] of await checked(files)) {
    const lines = (files[name] ?? "").split("\n").length;
    for (const problem of problems) {
      refused++;
      const line = Number(problem.split(":", 1)[0]);
      assert.ok(line >= 1 && line <= lines + 1, `${problem}: ${files[name]}`);
    }
  }
  assert.ok(refused > 200, `${refused} problems`);
});
