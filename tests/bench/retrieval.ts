// A large collection: indexed from its files for the first time and again, and asked.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openCollection } from "../../lib/service/program/collection.ts";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const FILES = 100;
const PASSAGES = 10_000;
const QUERIES = 60;
const SAMPLES = 3;
/** What each question asks for besides words that say nothing. */
const WORDS_ASKED = 6;
/** So many of a language's most common words, about half of each text, say nothing: as those of English and German, which do not count. */
const STOP_WORDS = 100;

/** The rows of the table. */
export async function benchRetrieval(): Promise<readonly Row[]> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-bench-" });
  const [first, again, asked, worst, near]: number[][] = [[], [], [], [], []];
  try {
    const random = randomNumbers(7);
    const words = vocabulary(20_000, random);
    const file = await writeLibrary(folder, () => common(words, random));
    for (let i = 0; i < SAMPLES; i++) {
      await Deno.remove(join(folder, ".orrery"), { recursive: true }).catch(() => undefined);
      first?.push(await timed(async () => (await openCollection(file))[Symbol.dispose]()));
      again?.push(await timed(async () => (await openCollection(file))[Symbol.dispose]()));
    }
    using collection = await openCollection(file);
    const count = await passagesIn(folder);
    if (count < PASSAGES) throw new Error(`${count} passages were indexed, expected ${PASSAGES} or more`);
    const telling = words.slice(STOP_WORDS);
    for (let i = 0; i < QUERIES; i++) {
      for (const [list, times] of [[telling, asked], [words, worst]] as const) {
        const question = `How do I ${
          Array.from({ length: WORDS_ASKED }, () => common(list, random)).join(" ")
        }?`;
        times?.push(await timed(() => collection.search(question, { limit: 4, secondary: true })));
      }
    }
    using meaning = await openCollection(file, { embeddings: noise() });
    for (let i = 0; i < QUERIES; i++) {
      near?.push(await timed(() => meaning.search(common(words, random), { limit: 4, secondary: true })));
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  const row = (what: string, times: readonly number[] = [], limit?: number): Row => ({
    what,
    value: median(times),
    unit: "ms",
    ...(limit === undefined ? {} : { limit }),
  });
  return [
    row("10,000 passages in 100 files, indexed", first, 10_000),
    row("the same, unchanged", again),
    row(`a question of ${WORDS_ASKED} words to 10,000 passages`, asked, 20),
    row("the same, of words that stand in most passages too", worst),
    row("a question with 10,000 vectors of 256 numbers besides", near),
  ];
}

async function passagesIn(folder: string): Promise<number> {
  for await (const { name } of Deno.readDir(join(folder, ".orrery"))) {
    if (!/^orrery\.db-retrieval-[0-9a-f]+$/.test(name)) continue;
    const database = new DatabaseSync(join(folder, ".orrery", name), { readOnly: true });
    const row = database.prepare("SELECT count(*) AS count FROM passages").get();
    database.close();
    return Number(row?.count);
  }
  return 0;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The same numbers each time: a linear congruence (Numerical Recipes). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

/** Words of two to four syllables, so that some are the beginnings of others. */
function vocabulary(count: number, random: () => number): readonly string[] {
  const one = (letters: string) => letters.charAt(Math.floor(random() * letters.length));
  const words = new Set<string>();
  while (words.size < count) {
    const length = 2 + Math.floor(random() * 3);
    words.add(Array.from({ length }, () => one("bdfghklmnprstvwz") + one("aeiou")).join(""));
  }
  return [...words];
}

/** Some words are common and most are rare, as in any language: the nth one is there about 1/n as often as the first (Zipf). */
function common(words: readonly string[], random: () => number): string {
  return words[Math.min(words.length - 1, Math.floor(words.length ** random()) - 1)] ?? "";
}

/** Markdown files with sections that are a passage each. */
async function writeLibrary(folder: string, word: () => string): Promise<string> {
  const sentence = () => `${Array.from({ length: 12 }, word).join(" ")}.`;
  const section = (n: number) =>
    `## ${word()} ${word()} ${n}\n\n${Array.from({ length: 10 }, sentence).join(" ")}\n`;
  const documents: string[] = [];
  for (let n = 0; n < FILES; n++) {
    const sections = Array.from({ length: PASSAGES / FILES }, (_, index) => section(index));
    await Deno.writeTextFile(join(folder, `d${n}.md`), sections.join("\n"));
    documents.push(`  - { id: d${n}, file: d${n}.md }\n`);
  }
  const file = join(folder, "library.collection.yml");
  await Deno.writeTextFile(file, `version: "0.1"\ndocuments:\n${documents.join("")}`);
  return file;
}

/** Vectors that mean nothing: what they cost is measured. */
function noise() {
  const random = randomNumbers(3);
  return {
    id: "bench/noise",
    embed: (texts: readonly string[]) =>
      Promise.resolve(texts.map(() => Float32Array.from({ length: 256 }, () => random() - 0.5))),
  };
}
