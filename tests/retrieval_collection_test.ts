import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import { openCollection, type OpenCollectionOptions } from "orrery";
import { FileError, memoryFiles, PermissionRefused, ProblemsError } from "../mod.ts";
import { memoryCollection } from "./_collections.ts";
import { testPdf } from "./_pdf.ts";

const EVERYTHING = { limit: 100, secondary: true };

type Files = Readonly<Record<string, string | Uint8Array>>;

const open = (file: string, files: Files, options: Omit<OpenCollectionOptions, "world"> = {}) =>
  openCollection(file, { ...options, world: { root: "/project", files: memoryFiles(files) } });

async function problemsOf(opening: Promise<unknown>): Promise<readonly string[]> {
  const error = await opening.then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof ProblemsError, String(error));
  return error.message.split("\n");
}

const COLLECTION = (...documents: string[]) =>
  `version: "0.1"\ndocuments:\n${documents.map((each) => `  - ${each}\n`).join("")}`;

const names = async (opening: ReturnType<typeof open>, query = "wheel") => {
  using collection = await opening;
  return (await collection.search(query, EVERYTHING)).map(({ name }) => name).sort();
};

Deno.test("a collection: text, Markdown, HTML and PDF, each document by its name, else its id", async () => {
  const files = {
    "docs/c.collection.yml": COLLECTION(
      "{ id: text, file: a.txt }",
      "{ id: markdown, file: ../b.md, metadata: { name: Mark, link: https://example.com/b } }",
      "{ id: html, file: /project/docs/c.html }",
      "{ id: pdf, file: d.pdf, type: slides, exclude: [1] }",
    ),
    "docs/a.txt": "A text about a wheel.",
    "b.md": "---\nhidden: wheel wheel\n---\n# Wheel\n\n## Sub\n\nMarked.\n",
    "docs/c.html": "<h1>Page</h1><p>A wheel &amp; more</p>",
    "docs/d.pdf": testPdf([["A first wheel."], ["A second wheel."], ["No more."]]),
  };
  using collection = await open("docs/c.collection.yml", files);
  const found = await collection.search("wheel", EVERYTHING);
  assert.deepEqual(
    found.map(({ score: _, ...rest }) => rest).sort((a, b) => a.document < b.document ? -1 : 1),
    [
      { document: "html", name: "html", text: "# Page\n\nA wheel & more" },
      {
        document: "markdown",
        name: "Mark",
        link: "https://example.com/b",
        text: "# Wheel\n\n## Sub\n\nMarked.",
      },
      { document: "pdf", name: "pdf", text: "A second wheel." },
      { document: "text", name: "text", text: "A text about a wheel." },
    ],
  );
  const scores = found.map(({ score }) => score);
  assert.deepEqual(scores, scores.toSorted((a, b) => b - a), "best first");
  assert.deepEqual(await collection.search("hidden", EVERYTHING), []);
});

Deno.test("a collection: limits, blank questions, and the signal", async () => {
  using collection = await memoryCollection({ "a.txt": "wheel", "b.txt": "wheels", "c.txt": "Wheel!" });
  assert.equal((await collection.search("wheel", { limit: 2, secondary: true })).length, 2);
  for (const query of ["", " \n", "?!", "*"]) {
    assert.deepEqual(await collection.search(query, EVERYTHING), []);
  }
  assert.deepEqual(await collection.search("wheel", { limit: 0, secondary: true }), []);
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(collection.search("wheel", { ...EVERYTHING, signal }), /enough/);
  const opening = memoryCollection({ "a.txt": "wheel" }, { signal });
  await assert.rejects(opening, /enough/);
});

Deno.test("a collection: everything that cannot be read is told at once, where it is named", async () => {
  const files = {
    "c.collection.yml": COLLECTION(
      "{ id: gone, file: gone.md }",
      "{ id: sound, file: a.md }",
      "{ id: odd, file: odd.bin }",
      "{ id: locked, file: locked.pdf }",
      "{ id: short, file: short.pdf, exclude: [1, 7] }",
      "{ id: page, file: a.md, exclude: [2] }",
    ),
    "a.md": "wheel",
    "odd.bin": new Uint8Array([0xff, 0xfe]),
    "locked.pdf": testPdf([["x"]], { encrypted: true }),
    "short.pdf": testPdf([["x"], ["y"]]),
  };
  assert.deepEqual(await problemsOf(open("c.collection.yml", files)), [
    'c.collection.yml:3:23: documents[0].file: Cannot read "gone.md": no such file',
    'c.collection.yml:5:22: documents[2].file: Cannot read "odd.bin": it is not UTF-8 text: the first wrong byte is 0xFF at offset 0. ' +
    "Expected text in UTF-8, Markdown, HTML or PDF: save it as one of them",
    'c.collection.yml:6:25: documents[3].file: Cannot read "locked.pdf": it is protected with a password: save it without one',
    'c.collection.yml:7:48: documents[4].exclude[1]: there is no page 7: "short.pdf" has 2 pages',
    'c.collection.yml:8:39: documents[5].exclude[0]: there is no page 2: "a.md" has 1 page',
  ]);
  await assert.rejects(open("nowhere.collection.yml", {}), FileError);
});

const MODULE = {
  "m/bikes.module.yml": `module:
  id: bikes
  sessions:
    - { id: s1, contents: [brakes] }
    - { id: s2, contents: [] }
    - { id: s3 }
  contents:
    - id: brakes
      sources: { primary: [brakes.md, law], secondary: [old.txt, brakes.md] }
    - id: wheels
      sources: { primary: more.collection.yml, secondary: law }
`,
  "m/brakes.md": "A brake stops the wheel.",
  "m/old.txt": "An old wheel.",
  "m/more.collection.yml": COLLECTION("{ id: more, file: ../more.md, metadata: { name: More } }"),
  "more.md": "One more wheel.",
  "all.collection.yml": COLLECTION("{ id: law, file: law.md, metadata: { name: The law } }"),
  "law.md": "The law of the wheel.",
};

Deno.test("a module: the sources of a session's contents, primary and secondary", async () => {
  const of = (session?: string) =>
    open("m/bikes.module.yml", MODULE, {
      collection: "all.collection.yml",
      ...(session === undefined ? {} : { session }),
    });
  assert.deepEqual(await names(of("s1")), ["The law", "brakes.md", "old.txt"]);
  assert.deepEqual(await names(of("s2")), []);
  assert.deepEqual(await names(of("s3")), ["More", "The law", "brakes.md", "old.txt"]);
  assert.deepEqual(await names(of()), ["More", "The law", "brakes.md", "old.txt"]);
  using collection = await of("s1");
  const primary = await collection.search("wheel", { limit: 10, secondary: false });
  assert.deepEqual(primary.map(({ name }) => name).sort(), ["The law", "brakes.md"]);
});

Deno.test("a module: sessions and sources that are not there", async () => {
  assert.deepEqual(await problemsOf(open("m/bikes.module.yml", MODULE, { session: "s4" })), [
    'm/bikes.module.yml:1:1: module.sessions: there is no session "s4" (did you mean "s1"?)',
  ]);
  assert.deepEqual(await problemsOf(open("m/bikes.module.yml", MODULE)), [
    'm/bikes.module.yml:9:39: module.contents[0].sources.primary[1]: there is no document "law"; a file needs its ending, and no ' +
    "collection is configured",
    'm/bikes.module.yml:11:59: module.contents[1].sources.secondary: there is no document "law"; a file needs its ending, and no ' +
    "collection is configured",
  ]);
  const misspelt = { ...MODULE, "m/bikes.module.yml": MODULE["m/bikes.module.yml"].replaceAll("law", "lav") };
  const [first] = await problemsOf(
    open("m/bikes.module.yml", misspelt, { collection: "all.collection.yml" }),
  );
  assert.match(first ?? "", /there is no document "lav" \(did you mean "law"\?\)$/);
  const { "m/old.txt": _, ...without } = MODULE;
  assert.deepEqual(
    await problemsOf(open("m/bikes.module.yml", without, { collection: "all.collection.yml" })),
    [
      'm/bikes.module.yml:9:57: module.contents[0].sources.secondary[0]: Cannot read "old.txt": no such file',
    ],
  );
});

/** So many primary and secondary documents that fit, each said so often. */
async function shared(primary: number, secondary: number, limit: number, isSame = false) {
  const files: Record<string, string> = {};
  const listed = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => {
      files[`${kind}${index}.txt`] = isSame ? `wheel number ${index}` : `wheel ${kind} number ${index}`;
      return `${kind}${index}.txt`;
    }).join(", ");
  files["m.module.yml"] = `module: { id: m, contents: [{ id: c, sources: { primary: [${
    listed("p", primary)
  }], secondary: [${listed("s", secondary)}] } }] }`;
  using collection = await open("m.module.yml", files);
  const found = await collection.search("wheel", { limit, secondary: true });
  const alone = await collection.search("wheel", { limit, secondary: false });
  assert.equal(alone.length, Math.min(limit, primary));
  assert.ok(alone.every(({ document }) => document.startsWith("p")));
  const count = (kind: string) => found.filter(({ document }) => document.startsWith(kind)).length;
  return { primary: count("p"), secondary: count("s"), texts: found.map(({ text }) => text) };
}

Deno.test("secondary documents: half of the places, the odd one for the primary ones, unused shares pass over", async () => {
  const of = async (primary: number, secondary: number, limit: number) => {
    const { primary: p, secondary: s } = await shared(primary, secondary, limit);
    return [p, s];
  };
  assert.deepEqual(await of(9, 9, 4), [2, 2]);
  assert.deepEqual(await of(9, 9, 5), [3, 2]);
  assert.deepEqual(await of(9, 9, 1), [1, 0]);
  assert.deepEqual(await of(1, 9, 4), [1, 3]);
  assert.deepEqual(await of(9, 1, 4), [3, 1]);
  assert.deepEqual(await of(0, 9, 4), [0, 4]);
  assert.deepEqual(await of(9, 0, 4), [4, 0]);
  await fc.assert(
    fc.asyncProperty(
      fc.nat(7),
      fc.nat(7),
      fc.integer({ min: 1, max: 9 }),
      async (primary, secondary, limit) => {
        const [p = 0, s = 0] = await of(primary, secondary, limit);
        assert.equal(p + s, Math.min(limit, primary + secondary), "no place is left empty");
        assert.ok(
          p >= Math.min(primary, Math.ceil(limit / 2)) && s >= Math.min(secondary, Math.floor(limit / 2)),
        );
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("what two documents say is told once, and the next one takes the place", async () => {
  const { texts, primary, secondary } = await shared(3, 5, 4, true);
  assert.equal(new Set(texts).size, 4);
  assert.deepEqual([primary, secondary], [2, 2]);
  using collection = await memoryCollection({
    "a.txt": "a wheel",
    "b.txt": "a wheel",
    "c.txt": "a big wheel",
  });
  const found = await collection.search("wheel", { limit: 2, secondary: true });
  assert.deepEqual(found.map(({ document }) => document), ["a", "c"]);
});

Deno.test("a project's collection may read the project and nothing else", async () => {
  const outer = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-retrieval-" }));
  try {
    const folder = join(outer, "project");
    await Deno.mkdir(join(folder, "docs"), { recursive: true });
    await Deno.writeTextFile(join(outer, "secret.md"), "a wheel");
    await Deno.writeTextFile(join(folder, "a.md"), "a wheel");
    await Deno.writeTextFile(
      join(folder, "orrery.yaml"),
      "conversations: { collection: docs/c.collection.yml }\n",
    );
    const file = join(folder, "docs", "c.collection.yml");
    await Deno.writeTextFile(file, COLLECTION("{ id: a, file: ../a.md }"));
    assert.deepEqual(await names(openCollection(file)), ["a"]);
    assert.ok((await Deno.stat(join(folder, ".orrery"))).isDirectory, "the index is in the project root");

    await Deno.writeTextFile(
      join(folder, "m.module.yml"),
      "module: { id: m, contents: [{ id: c, sources: { primary: a } }] }",
    );
    const module = new URL(`file://${join(folder, "m.module.yml")}`);
    assert.deepEqual(await names(openCollection(module)), ["a"], "ids are of the configured collection");

    await Deno.writeTextFile(file, COLLECTION("{ id: a, file: ../../secret.md }"));
    await assert.rejects(
      openCollection(file),
      (error) => error instanceof PermissionRefused && /--allow-read=/.test(error.flag),
    );
    await Deno.symlink(join(outer, "secret.md"), join(folder, "link.md"));
    await Deno.writeTextFile(file, COLLECTION("{ id: a, file: ../link.md }"));
    await assert.rejects(openCollection(file), PermissionRefused);
  } finally {
    await Deno.remove(outer, { recursive: true });
  }
});
