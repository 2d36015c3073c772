import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { type Collection, memoryFiles, openCollection } from "../mod.ts";
import { memoryCollection } from "./_collections.ts";
import { PROJECT_ROOT } from "./_run.ts";

interface Question {
  readonly question: string;
  readonly document: string;
}

const SPEC = join(PROJECT_ROOT, "tests", "spec", "retrieval");

async function spec<Data>(name: string): Promise<Data> {
  return JSON.parse(await Deno.readTextFile(join(SPEC, name)));
}

/** The files of an example, in memory: nothing is written beside them. */
async function exampleCollection(file: string): Promise<Collection & Disposable> {
  const folder = dirname(join(PROJECT_ROOT, file));
  const files: Record<string, string> = {
    "c.collection.yml": await Deno.readTextFile(join(PROJECT_ROOT, file)),
  };
  for await (const { name } of Deno.readDir(join(folder, "handbook"))) {
    files[`handbook/${name}`] = await Deno.readTextFile(join(folder, "handbook", name));
  }
  return await openCollection("c.collection.yml", { world: { root: "/project", files: memoryFiles(files) } });
}

/** How many questions have the right page first, and among the first three. */
async function ranks(collection: Collection, questions: readonly Question[]) {
  const places: { question: string; place: number; found: readonly string[] }[] = [];
  for (const { question, document } of questions) {
    const passages = await collection.search(question, { limit: 20, secondary: true });
    const found = [...new Set(passages.map(({ document }) => document))];
    places.push({ question, place: found.indexOf(document), found: found.slice(0, 3) });
  }
  return {
    first: places.filter(({ place }) => place === 0).length,
    notInThree: places.filter(({ place }) => place < 0 || place > 2),
  };
}

Deno.test("the handbook: the right page is first for nine questions of ten, and among the first three for all", async () => {
  const { collection: file, questions } = await spec<{ collection: string; questions: Question[] }>(
    "handbook.json",
  );
  assert.equal(questions.length, 20);
  using collection = await exampleCollection(file);
  const { first, notInThree } = await ranks(collection, questions);
  assert.deepEqual(notInThree, []);
  assert.ok(first >= 0.9 * questions.length, `the right page is first for ${first} of ${questions.length}`);
});

Deno.test("German: the right page is first for three questions of four, and among the first three for all", async () => {
  const { documents, questions } = await spec<{ documents: Record<string, string>; questions: Question[] }>(
    "german.json",
  );
  const files = Object.fromEntries(Object.entries(documents).map(([id, text]) => [`${id}.md`, text]));
  using collection = await memoryCollection(files);
  const { first, notInThree } = await ranks(collection, questions);
  assert.deepEqual(notInThree, []);
  assert.ok(first >= 0.75 * questions.length, `the right page is first for ${first} of ${questions.length}`);
});

Deno.test("words: case, accents, endings and the beginnings of longer words do not keep a passage away", async () => {
  using collection = await memoryCollection({
    "a.txt": "Die Fahrräder stehen im Kautionsraum der Häuser.",
    "b.txt": "Running costs are naïve estimates.",
    "c.txt": "Nothing of that.",
  });
  const found = async (query: string) =>
    (await collection.search(query, { limit: 4, secondary: true })).map(({ document }) => document);
  for (const query of ["FAHRRAD", "fahrrader", "Kaution", "Haus hauser", "Fahrrads?"]) {
    assert.deepEqual(await found(query), ["a"], query);
  }
  for (const query of ["run", "cost", "NAIVE", "estimating"]) {
    assert.deepEqual(await found(query), ["b"], query);
  }
  assert.deepEqual(await found("xyzzy"), []);
  assert.deepEqual(await found("of that"), ["c"], "stop words count where there are no others");
});

Deno.test("titles count more than text, and a document's name is one", async () => {
  using collection = await memoryCollection({
    "a.md": "# Tyres\n\nHow they are changed.\n",
    "b.md": "# Wheels\n\nWheels have tyres around them, of course.\n",
    "gears.md": "Chains and cogs.\n",
  });
  const [tyre] = await collection.search("tyres", { limit: 1, secondary: false });
  assert.equal(tyre?.document, "a");
  const [gear] = await collection.search("gears", { limit: 1, secondary: false });
  assert.deepEqual(gear && { ...gear, score: 0 }, {
    document: "gears",
    name: "gears",
    text: "Chains and cogs.",
    score: 0,
  });
});
