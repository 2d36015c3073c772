import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { openCollection } from "../mod.ts";
import type { IndexedDocument, NewDocument } from "../lib/retrieval/indexed_document.ts";
import { PassageIndex } from "../lib/retrieval/passage_index.ts";
import { memoryCollection } from "./_collections.ts";
import { runProgram } from "./_run.ts";

const EVERYTHING = { limit: 100, secondary: true };

function newDocument(
  key: string,
  texts: readonly string[],
  rest: Partial<IndexedDocument> = {},
): NewDocument {
  const passages = texts.map((text, index) => ({ text, titles: key, page: 1, start: index, end: index + 1 }));
  return { key, role: "primary", id: key, name: key, passages, ...rest };
}

function known({ passages: _, ...document }: NewDocument): IndexedDocument {
  return document;
}

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-retrieval-" }));
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** In memory and in a file all is alike. */
function onBoth(name: string, test: (path: string) => void): void {
  Deno.test(`${name}: in memory`, () => test(":memory:"));
  Deno.test(`${name}: in a file`, () => inFolder((folder) => Promise.resolve(test(join(folder, "i.db")))));
}

const found = (index: PassageIndex, question: string, role: "primary" | "secondary" = "primary") =>
  index.find(question, { role, limit: 10 }).map(({ row }) => index.passage(row)?.text);

onBoth("an index holds the documents that it was given last", (path) => {
  using index = new PassageIndex(path);
  const [a, b, c] = [
    newDocument("a", ["red wheel", "blue wheel"]),
    newDocument("b", ["green wheel"], { role: "secondary", link: "https://example.com" }),
    newDocument("c", ["yellow wheel"]),
  ] as const;
  assert.deepEqual(index.replace([a, b]), []);
  assert.deepEqual([...index.keys()].sort(), ["a", "b"]);
  assert.deepEqual(found(index, "wheel"), ["red wheel", "blue wheel"]);
  assert.deepEqual(found(index, "wheel", "secondary"), ["green wheel"]);
  const [row] = index.find("green", { role: "secondary", limit: 1 });
  const expected = { document: "b", name: "b", link: "https://example.com", text: "green wheel" };
  assert.deepEqual(index.passage(row?.row ?? 0), expected);

  assert.deepEqual(index.replace([known(a), known(c)]), ["c"], "c would have to be given");
  assert.deepEqual(found(index, "wheel", "secondary"), ["green wheel"], "and nothing was changed");
  assert.deepEqual(index.replace([c, known({ ...a, role: "secondary" })]), []);
  assert.deepEqual(found(index, "wheel"), ["yellow wheel"]);
  assert.deepEqual(
    found(index, "wheel", "secondary"),
    ["red wheel", "blue wheel"],
    "the role is another one",
  );
  assert.equal(index.passage(row?.row ?? 0), undefined);
  index.replace([]);
  assert.deepEqual(found(index, "wheel"), []);
});

onBoth("an index: equal passages come in the order of the collection, whenever they were put in", (path) => {
  using index = new PassageIndex(path);
  const documents = ["a", "b", "c"].map((key) => newDocument(key, ["wheel one", "wheel two"], { name: "n" }));
  const order = () =>
    index.find("wheel", { role: "primary", limit: 10 }).map(({ row }) => index.passage(row)?.document);
  index.replace([documents[2], documents[0]].filter((each) => each !== undefined));
  index.replace(documents);
  assert.deepEqual(order(), ["a", "a", "b", "b", "c", "c"]);
  index.replace(documents.toReversed().map(known));
  assert.deepEqual(order(), ["c", "c", "b", "b", "a", "a"]);
});

onBoth(
  "a large index: words that stand in most passages change no order, and fill what others leave",
  (path) => {
    using index = new PassageIndex(path);
    const texts = Array.from(
      { length: 1500 },
      (_, n) => `common ${n % 2 === 0 ? "even" : "odd"} number${n} ${n % 500 === 0 ? "rare" : ""}`,
    );
    index.replace([newDocument("a", texts)]);
    const numbers = (question: string, limit: number) =>
      index.find(question, { role: "primary", limit }).map(({ row }) =>
        /number\d+/.exec(index.passage(row)?.text ?? "")?.[0]
      );
    assert.deepEqual(numbers("common rare", 3), ["number0", "number500", "number1000"]);
    assert.deepEqual(numbers("common rare", 5).slice(0, 3), ["number0", "number500", "number1000"]);
    assert.equal(numbers("common rare", 5).length, 5);
    assert.equal(numbers("common", 7).length, 7);
    assert.deepEqual(numbers("common number77 xyzzy", 1), ["number77"]);
    assert.deepEqual(numbers("xyzzy", 3), []);
  },
);

Deno.test("an index: any text is a question, and never a query of SQLite", () => {
  using index = new PassageIndex(":memory:");
  index.replace([newDocument("a", ["the red wheel", "titles text rank"])]);
  const syntax = fc.constantFrom(
    ...[
      '"',
      "'",
      "*",
      "(",
      ")",
      "^",
      "+",
      "-",
      ":",
      "{",
      "}",
      "NEAR(",
      "AND",
      "OR",
      "NOT",
      "red",
      "titles :",
      "\0",
      ";",
      "--",
    ],
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "grapheme" }),
    fc.array(syntax, { maxLength: 8 }).map((parts) => parts.join(" ")),
    fc.array(syntax, { maxLength: 8 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (text) => {
      const rows = index.find(text, { role: "primary", limit: 10 });
      assert.ok(rows.every(({ row, score }) => index.passage(row) !== undefined && score >= 0));
    }),
    { numRuns: 2000 },
  );
  assert.deepEqual(found(index, "red NOT wheel"), ["the red wheel"], "NOT is a word");
  assert.equal(found(index, "titles:rank -wheel").length, 2, "and neither is a column, nor left out");
});

Deno.test("an index: whatever a document says, its words find it", async () => {
  const word = fc.string({ unit: fc.constantFrom(..."abcdeéäöüßç0123"), minLength: 4, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(word, { minLength: 2, maxLength: 8 }), async (words) => {
      using collection = await memoryCollection({ "a.txt": words.join(" "), "b.txt": "zzzz" });
      for (const word of words) {
        const found = await collection.search(word, EVERYTHING);
        assert.deepEqual(found.map(({ document }) => document), ["a"], word);
      }
    }),
    { numRuns: 100 },
  );
});

const COLLECTION = `version: "0.1"
documents:
  - { id: a, file: a.md, metadata: { name: First } }
  - { id: b, file: b.md }
`;

async function writeCollection(folder: string): Promise<string> {
  await Deno.writeTextFile(join(folder, "a.md"), "# Red\n\nA red wheel.\n");
  await Deno.writeTextFile(
    join(folder, "b.md"),
    `# Blue\n\nA blue wheel.\n\n# Green\n\nA green wheel. ${"Long. ".repeat(200)}\n`,
  );
  const file = join(folder, "c.collection.yml");
  await Deno.writeTextFile(file, COLLECTION);
  return file;
}

async function indexFile(folder: string): Promise<string> {
  const names = (await Array.fromAsync(Deno.readDir(join(folder, ".orrery")))).map(({ name }) => name);
  const [name = ""] = names.filter((each) => /^orrery\.db-retrieval-\w+$/.test(each));
  assert.match(name, /^orrery\.db-retrieval-[0-9a-f]{16}$/);
  return join(folder, ".orrery", name);
}

const texts = async (file: string) => {
  using collection = await openCollection(file);
  return (await collection.search("wheel", EVERYTHING)).map(({ document, name }) => `${document} ${name}`)
    .sort();
};

Deno.test("a project keeps the index: only what has changed is put in anew, and what is gone goes", () =>
  inFolder(async (folder) => {
    const file = await writeCollection(folder);
    assert.deepEqual(await texts(file), ["a First", "b b", "b b"]);
    const path = await indexFile(folder);
    const rows = () => {
      using index = new PassageIndex(path);
      return index.find("wheel", { role: "primary", limit: 10 }).map(({ row }) =>
        `${row} ${index.passage(row)?.document}`
      ).sort();
    };
    const before = rows();
    await texts(file);
    assert.deepEqual(rows(), before, "nothing was put in again");

    await Deno.writeTextFile(join(folder, "a.md"), "A yellow wheel.\n");
    await texts(file);
    const after = rows();
    assert.deepEqual(after.filter((row) => row.endsWith("b")), before.filter((row) => row.endsWith("b")));
    assert.notDeepEqual(after, before);

    await Deno.writeTextFile(
      file,
      COLLECTION.replace("name: First", "name: Renamed, link: https://example.com/a"),
    );
    using renamed = await openCollection(file);
    const [passage] = await renamed.search("yellow", EVERYTHING);
    assert.deepEqual([passage?.name, passage?.link], ["Renamed", "https://example.com/a"]);

    await Deno.writeTextFile(file, COLLECTION.replace(/\n.*id: a.*\n/, "\n"));
    assert.deepEqual(await texts(file), ["b b", "b b"]);
    const bytes = new TextDecoder("latin1").decode(await Deno.readFile(path));
    assert.ok(!bytes.includes("yellow"), "what was removed is not in the file any more");
    assert.ok(bytes.includes("green"));
  }));

Deno.test("a project's index: a broken file, one of another version, and what is in its place", () =>
  inFolder(async (folder) => {
    const file = await writeCollection(folder);
    await texts(file);
    const path = await indexFile(folder);
    const sound = await Deno.readFile(path);
    await Deno.writeTextFile(path, "This is no database at all. ".repeat(100));
    assert.deepEqual(await texts(file), ["a First", "b b", "b b"]);
    assert.deepEqual((await Deno.readFile(path)).subarray(0, 15), sound.subarray(0, 15), "it was made anew");

    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 999; DROP TABLE texts");
    database.close();
    assert.deepEqual(await texts(file), ["a First", "b b", "b b"]);

    await Deno.writeFile(path, sound.slice(0, sound.length / 2));
    assert.deepEqual(await texts(file), ["a First", "b b", "b b"]);

    const elsewhere = join(folder, "elsewhere");
    await Deno.writeTextFile(elsewhere, "mine");
    await Deno.remove(path);
    await Deno.symlink(elsewhere, path);
    assert.deepEqual(await texts(file), ["a First", "b b", "b b"]);
    assert.equal(await Deno.readTextFile(elsewhere), "mine", "a link is not followed");
    await Deno.remove(path);
    await Deno.symlink(elsewhere, `${path}-journal`);
    assert.deepEqual(await texts(file), ["a First", "b b", "b b"]);
    assert.equal(await Deno.readTextFile(elsewhere), "mine", "nor what SQLite would write beside it");
    await Deno.remove(join(folder, ".orrery"), { recursive: true });
    await Deno.writeTextFile(join(folder, ".orrery"), "in the way");
    assert.deepEqual(await texts(file), ["a First", "b b", "b b"]);
  }));

const CHILD = new URL("./_index_child.ts", import.meta.url).pathname;

Deno.test("a project's index: several processes at once", () =>
  inFolder(async (folder) => {
    const file = await writeCollection(folder);
    const children = await Promise.all(
      Array.from({ length: 4 }, () => runProgram([Deno.execPath(), "run", "-A", "--no-check", CHILD, file])),
    );
    for (const { code, stdout, stderr } of children) {
      assert.deepEqual([code, stdout.trim()], [0, "3"], stderr);
    }
    assert.deepEqual(await texts(file), ["a First", "b b", "b b"]);
  }));

Deno.test("a project's index: a process that is killed while it puts passages in leaves nothing half", () =>
  inFolder(async (folder) => {
    const file = await writeCollection(folder);
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", CHILD, file, "stop"],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const reader = child.stdout.getReader();
    let said = "";
    while (!said.includes("begun")) {
      const { done, value } = await reader.read();
      if (done) assert.fail(`it ended: ${said}`);
      said += new TextDecoder().decode(value);
    }
    child.kill("SIGKILL");
    await reader.cancel();
    await child.status;
    const path = await indexFile(folder);
    {
      using index = new PassageIndex(path);
      assert.equal(index.keys().size, 0);
    }
    assert.deepEqual(await texts(file), ["a First", "b b", "b b"]);
  }));
