import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { DatabaseSync } from "node:sqlite";
import { type Collection, memoryFiles, openCollection } from "../mod.ts";
import { memoryCollection } from "./_collections.ts";
import { runProgram } from "./_run.ts";
import { anyText } from "./_any_text.ts";
import { tries } from "./_thorough.ts";

const EVERYTHING = { limit: 100, secondary: true };

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-retrieval-" }));
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** In memory and in a project's index all is alike; files are given by their paths. */
type Opened = (files: Readonly<Record<string, string>>, file: string) => Promise<Collection & Disposable>;

function onBoth(name: string, test: (open: Opened) => Promise<void>): void {
  Deno.test(`${name}: in memory`, () =>
    test((files, file) => openCollection(file, { world: { root: "/project", files: memoryFiles(files) } })));
  Deno.test(`${name}: in a file`, () =>
    inFolder((folder) =>
      test(async (files, file) => {
        for (const [path, text] of Object.entries(files)) await Deno.writeTextFile(join(folder, path), text);
        return await openCollection(join(folder, file));
      })
    ));
}

const collectionOf = (...documents: readonly string[]): string =>
  `version: "0.1"\ndocuments:\n${documents.map((each) => `  - ${each}\n`).join("")}`;

onBoth("an index holds the documents that it was given last, each with its role", async (open) => {
  const files = {
    "a.txt": "red wheel",
    "b.txt": "green wheel",
    "c.txt": "yellow wheel",
    "all.collection.yml": collectionOf(
      "{ id: a, file: a.txt, type: slides }",
      "{ id: b, file: b.txt, type: slides, metadata: { name: B, link: https://example.com } }",
      "{ id: c, file: c.txt, type: slides }",
    ),
  };
  const found = async (primary: string, secondary: string) => {
    const sources = `{ primary: ${primary}, secondary: ${secondary} }`;
    const module = `version: "0.1"\nmodule:\n  id: m\n  contents: [{ id: s, sources: ${sources} }]\n`;
    const all = { ...files, "m.module.yml": module };
    using collection = await open(all, "m.module.yml");
    const texts = async (isSecond: boolean) =>
      (await collection.search("wheel", { limit: 100, secondary: isSecond })).map(({ text }) => text);
    const [first, both] = [await texts(false), await texts(true)];
    return [first.sort(), both.filter((each) => !first.includes(each)).sort()];
  };
  assert.deepEqual(await found("[a.txt]", "[b.txt]"), [["red wheel"], ["green wheel"]]);
  assert.deepEqual(await found("[c.txt]", "[a.txt]"), [["yellow wheel"], ["red wheel"]]);
  using collection = await open(files, "all.collection.yml");
  const [passage] = await collection.search("green", EVERYTHING);
  assert.deepEqual({ ...passage, score: 0 }, {
    document: "b",
    name: "B",
    link: "https://example.com",
    text: "green wheel",
    score: 0,
  });
});

onBoth(
  "an index: equal passages come in the order of the collection, whenever they were put in",
  async (open) => {
    const texts = Object.fromEntries(
      ["a", "b", "c"].map((id) => [`${id}.txt`, `wheel ${id}1\fwheel ${id}2`]),
    );
    const order = async (...ids: readonly string[]) => {
      const documents = ids.map((id) =>
        `{ id: ${id}, file: ${id}.txt, type: slides, metadata: { name: n } }`
      );
      using collection = await open(
        { ...texts, "c.collection.yml": collectionOf(...documents) },
        "c.collection.yml",
      );
      return (await collection.search("wheel", EVERYTHING)).map(({ text }) => text.slice(-2)).join(" ");
    };
    await order("c", "a");
    assert.equal(await order("a", "b", "c"), "a1 a2 b1 b2 c1 c2");
    assert.equal(await order("c", "b", "a"), "c1 c2 b1 b2 a1 a2");
  },
);

onBoth(
  "a large index: words that stand in most passages change no order, and fill what others leave",
  async (open) => {
    const texts = Array.from(
      { length: 1500 },
      (_, n) => `common ${n % 2 === 0 ? "even" : "odd"} number${n} ${n % 500 === 0 ? "rare" : ""}`,
    );
    const files = {
      "a.txt": texts.join("\f"),
      "c.collection.yml": collectionOf("{ id: a, file: a.txt, type: slides }"),
    };
    using collection = await open(files, "c.collection.yml");
    const numbers = async (question: string, limit: number) =>
      (await collection.search(question, { limit, secondary: true })).map(({ text }) =>
        /number\d+/.exec(text)?.[0]
      );
    assert.deepEqual(await numbers("common rare", 3), ["number0", "number500", "number1000"]);
    assert.deepEqual((await numbers("common rare", 5)).slice(0, 3), ["number0", "number500", "number1000"]);
    assert.equal((await numbers("common rare", 5)).length, 5);
    assert.equal((await numbers("common", 7)).length, 7);
    assert.deepEqual(await numbers("common number77 xyzzy", 1), ["number77"]);
    assert.deepEqual(await numbers("xyzzy", 3), []);
  },
);

Deno.test("an index: any text is a question, and never a query of SQLite", async () => {
  using collection = await memoryCollection({ "a.txt": "the red wheel", "b.txt": "titles text rank" });
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
    anyText(),
    fc.string({ unit: "grapheme" }),
    fc.array(syntax, { maxLength: 8 }).map((parts) => parts.join(" ")),
    fc.array(syntax, { maxLength: 8 }).map((parts) => parts.join("")),
  );
  await fc.assert(
    fc.asyncProperty(text, async (text) => {
      const found = await collection.search(text, EVERYTHING);
      assert.ok(found.every(({ document, score }) => ["a", "b"].includes(document) && score >= 0));
    }),
    { numRuns: tries(500, 2000) },
  );
  const documents = async (query: string) =>
    (await collection.search(query, EVERYTHING)).map(({ document }) => document).sort();
  assert.deepEqual(await documents("red NOT wheel"), ["a"], "NOT is a word");
  assert.deepEqual(
    await documents("titles:rank -wheel"),
    ["a", "b"],
    "and neither is a column, nor left out",
  );
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
      using database = new DatabaseSync(path);
      const all = database.prepare("SELECT p.n, d.id FROM passages p JOIN documents d ON d.n = p.document")
        .all();
      return all.map(({ n, id }) => `${n} ${id}`).sort();
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
      using database = new DatabaseSync(path);
      assert.deepEqual(database.prepare("SELECT * FROM documents").all(), []);
    }
    assert.deepEqual(await texts(file), ["a First", "b b", "b b"]);
  }));
