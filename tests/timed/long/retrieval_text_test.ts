// What is read of documents, and how they are cut into passages (conversations.md 2.8): as a search that finds everything has them.
import fc from "fast-check";
import assert from "node:assert/strict";
import { type Embedder, memoryFiles, openCollection, ProblemsError } from "../../../mod.ts";
import { testPdf } from "../../_pdf.ts";
import { tries } from "../../_thorough.ts";

type DocumentType = "text" | "paper" | "book" | "slides";

interface How {
  readonly file?: string;
  readonly type?: DocumentType;
  /** Pages that are left out. */
  readonly exclude?: readonly number[];
}

/** To whom all texts mean the same. */
const SAME: Embedder = {
  id: "fake/same",
  embed: (texts) => Promise.resolve(texts.map(() => Float32Array.of(1))),
};
const EVERYTHING = { limit: 100_000, secondary: true };

function opened(
  content: string | Uint8Array,
  { file = "a.txt", type = "text", exclude = [] }: How,
  embeddings: Embedder | false,
) {
  const document = JSON.stringify({ id: "d", file, type, ...(exclude.length > 0 && { exclude }) });
  const files = memoryFiles({
    [file]: content,
    "c.collection.yml": `version: "0.1"\ndocuments:\n  - ${document}\n`,
  });
  return openCollection("c.collection.yml", { world: { root: "/project", files }, embeddings });
}

/** All passages of a document, in their order; of equal ones the first. */
async function passages(content: string | Uint8Array, how: How = {}): Promise<readonly string[]> {
  using collection = await opened(content, how, SAME);
  return (await collection.search("?", EVERYTHING)).map(({ text }) => text);
}

/** How many passages are found by words, of their text and of the headings above them. */
async function found(content: string | Uint8Array, query: string, how: How = {}): Promise<number> {
  using collection = await opened(content, how, false);
  return (await collection.search(query, EVERYTHING)).length;
}

async function failure(content: string | Uint8Array, how: How = {}): Promise<string> {
  const error = await opened(content, how, false).then(
    () => assert.fail("it was read"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof ProblemsError, String(error));
  return error.message.replace(/^c\.collection\.yml:3:\d+: [^:]*: /, "");
}

const words = (count: number, word = "word") =>
  Array.from({ length: count }, (_, index) => `${word}${index}`).join(" ");

/** Of this length, and like no other one with another number. */
const sentence = (length: number, n = 0) => `S${n}${"a".repeat(length - 2 - `${n}`.length)}.`;

/** Three passages: those behind the first one are found by a heading above them. */
const LONG = Array.from({ length: 8 }, (_, n) => sentence(300, n)).join(" ");

Deno.test("Markdown: front matter is left out, and what stands in a fence or a comment is no heading", async () => {
  const markdown = (text: string) => passages(text, { file: "a.md" });
  assert.deepEqual(await markdown("---\ntitle: x\n---\n\n# One {id=one}\n\ntext\n"), [
    "# One {id=one}\n\ntext",
  ]);
  assert.deepEqual(await markdown("---\nnot closed\n"), ["---\nnot closed"]);
  assert.deepEqual(await markdown(""), []);
  const headings = ["# Heading {id=one}", "## Heading ##", "- item\n\n# Heading", "## Heading\r"];
  for (const text of headings) {
    assert.equal(await found(`${text}\n\n${LONG}\n`, "heading", { file: "a.md" }), 3, text);
  }
  const none = [
    "```sh\n# heading\n```",
    "<!--\n# heading\n-->",
    "#heading",
    "- ```sh\n  # heading\n  ```",
    "<pre>\n\n# heading\n</pre>",
  ];
  for (const text of none) {
    assert.equal(await found(`${text}\n\n${LONG}\n`, "heading", { file: "a.md" }), 1, text);
  }
});

Deno.test("Markdown slides: between rules, or below the headings of the first two levels", async () => {
  const slides = (text: string) => passages(text, { file: "a.md", type: "slides" });
  assert.deepEqual(await slides("---\nmarp: true\n---\n# A\n\n---\n\nB\nC\n---\nD\n\n---\n"), [
    "# A",
    "A\n\nB\nC\n---\nD", // below its heading
  ]);
  assert.deepEqual(await slides("before\n# A\n## B\n### C\ntext\n"), [
    "before",
    "# A",
    "A\n\n## B\n### C\ntext",
  ]);
  assert.deepEqual(await slides("\n# A\n# B\n"), ["# A", "# B"]);
});

Deno.test("plain text: form feeds part pages; books and papers have headings by their numbers and words", async () => {
  const paper = (head: string, word: string, type: DocumentType = "paper") =>
    found(`${head}\n${LONG}\n`, word, { type });
  for (
    const [head, word] of [["Abstract", "abstract"], ["1 Introduction", "introduction"], [
      "1.2 Related work",
      "related",
    ], ["Appendix A", "appendix"]] as const
  ) {
    assert.ok(await paper(head, word) >= 3, head);
    assert.equal(await paper(head, word, "text"), 1, head);
  }
  assert.equal(await paper("2 bikes were lost.", "bikes"), 1);
  assert.equal(await paper("3 Apples, pears,", "apples"), 1);
  assert.deepEqual(await passages("One.\fTwo.\fThree.", { type: "slides", exclude: [2] }), [
    "One.",
    "Three.",
  ]);
});

Deno.test("HTML: what a reader sees, with its headings", async () => {
  const html =
    "<title>T</title><h1>Bikes</h1><p>Red &amp; <b>blue</b>.<script>no</script></p><h2>Locks</h2><ul><li>One</ul>";
  const [text = "", ...more] = await passages(html, { file: "a.HTML" });
  assert.deepEqual(more, []);
  assert.match(text, /^# Bikes\n\nRed & blue\.\n\n## Locks\n\n- One$/);
  const long = `<h1>Heading</h1><p>${LONG}</p>`;
  assert.equal(await found(long, "heading", { file: "a.html" }), 3);
});

Deno.test("what is no text is refused with what to do", async () => {
  assert.match(
    await failure(new Uint8Array([0x61, 0xff])),
    /^Cannot read "a\.txt": it is not UTF-8 .* save it as one of them$/,
  );
  assert.match(
    await failure(new Uint8Array([0x61, 0, 0x62]), { file: "a.docx" }),
    /NUL characters.*Markdown, HTML or PDF/,
  );
});

/** Lines of a PDF that are three passages or so. */
const PDF_LINES = Array.from({ length: 30 }, (_, n) => sentence(80, n));

Deno.test("PDF: pages, paragraphs, headings by their size, words that were cut", async () => {
  const pdf = testPdf([
    [
      { text: "1 Bikes", size: 16 },
      "The (red) bike is fahr-",
      "bereit. Größe XL.",
      { text: "Another paragraph.", room: 2.5 },
      { text: "1.1 Locks", size: 13, room: 2 },
      "A lock.",
    ],
    ["Page two \\ has more."],
  ]);
  assert.deepEqual(await passages(pdf, { file: "a.pdf" }), [
    "1 Bikes\nThe (red) bike is fahrbereit.\nGröße XL.\n\nAnother paragraph.\n\n1.1 Locks\nA lock.\n\nPage two \\ has more.",
  ]);
  assert.deepEqual(await passages(pdf, { file: "a.pdf", exclude: [1] }), ["Page two \\ has more."]);
  assert.deepEqual(await passages(testPdf([["A PDF by its first bytes."]]), { file: "upload" }), [
    "A PDF by its first bytes.",
  ]);
  const large = (size: number) =>
    found(testPdf([[{ text: "Heading", size }, ...PDF_LINES]]), "heading", { file: "a.pdf" });
  assert.ok(await large(16) >= 3);
  assert.equal(await large(10), 1);
});

Deno.test("PDF: headings of one size are known by their numbers in a book", async () => {
  const pdf = testPdf([["1 Bikes", ...PDF_LINES]]);
  assert.ok(await found(pdf, "bikes", { file: "a.pdf", type: "book" }) >= 3);
  assert.equal(await found(pdf, "bikes", { file: "a.pdf" }), 1);
});

Deno.test("PDF: a broken one, an encrypted one and one of pictures say what to do", async () => {
  const how = { file: "docs/a.pdf" };
  assert.equal(
    await failure(testPdf([["x"]], { encrypted: true }), how),
    'Cannot read "docs/a.pdf": it is protected with a password: save it without one',
  );
  for (const broken of ["%PDF-1.4 junk", "", "no PDF at all", testPdf([["x"]]).slice(0, 120)]) {
    assert.match(
      await failure(broken, how),
      /^Cannot read "docs\/a\.pdf": it is no PDF, or a broken one \(.*\): open it in a viewer and save it anew$/,
    );
  }
  assert.equal(
    await failure(testPdf([[], []]), how),
    'Cannot read "docs/a.pdf": it has no text, only pictures: run text recognition (OCR) on it first',
  );
});

Deno.test("PDF: any bytes are read or refused, and nothing is left behind", async () => {
  const read = async (content: Uint8Array): Promise<void> => {
    const texts = await passages(content, { file: "a.pdf" }).catch((error) => error);
    assert.ok(texts instanceof ProblemsError || Array.isArray(texts), String(texts));
  };
  const good = testPdf([["Some text.", { text: "Large", size: 18 }], ["More of it."]]);
  const damage = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(damage, async (damage) => {
      const damaged = good.slice();
      for (const [at, byte] of damage) damaged[at] = byte;
      await read(damaged);
    }),
    { numRuns: 300 }, // about one of a hundred rejects a promise that pdf.js forgets
  );
  // A page that pdf.js looks up ahead and never asks for again.
  const text = new TextDecoder("latin1").decode(testPdf([["One."], ["Two."], ["Three."]]));
  const wrong = text.replace("/Count 3", "/Count_3").replace("6 0 obj", "6 0Jobj");
  await read(Uint8Array.from(wrong, (char) => char.charCodeAt(0)));
});

Deno.test("sentences end a passage, and not after abbreviations, numbers, initials and before small letters", async () => {
  const between = (text: string) => passages(`S${"a".repeat(550)} ${text} ${"b".repeat(550)}.`);
  const ends = ["It rains. We stay", "stay! Do we", "Do we? Yes", "um 5 Uhr. Gut"];
  for (const text of ends) assert.equal((await between(text)).length, 2, text);
  assert.deepEqual((await between("今日は。明日"))[0]?.slice(-4), "今日は。");
  const goesOn = ["Am 3. April", "kommt Dr. Maier", "Maier, z. B. um", "See e.g. this", "“Is it?” she said"];
  for (const text of goesOn) assert.equal((await between(text)).length, 1, text);
});

Deno.test("chunks of text: whole paragraphs up to about 1,000 characters, whole sentences of a longer one", async () => {
  const [a, b, c] = [600, 300, 500].map((length) => sentence(length));
  assert.deepEqual(await passages(`${a}\n\n${b}\n \n${c}\n`), [`${a}\n\n${b}`, c]);
  const chunks = await passages(LONG);
  assert.deepEqual(chunks.map((chunk) => chunk.length), [902, 902, 601]);
  for (const chunk of chunks) assert.match(chunk, /^S.*\.$/);
  const lengths = async (text: string) => (await passages(text)).map((chunk) => chunk.length);
  assert.deepEqual(await lengths(sentence(1400)), [1400]);
  const endless = await passages(words(600));
  assert.ok(endless.every((chunk) => chunk.length <= 1250 && /^word.*\d$/.test(chunk)));
  assert.deepEqual(await lengths("x".repeat(1000) + "y".repeat(1000) + "z".repeat(500)), [1000, 1000, 500]);
});

Deno.test("chunks of text: a heading begins a new one, with those above it as its context", async () => {
  const [red, blue, more, old] = [sentence(400), sentence(800, 1), sentence(800, 2), sentence(300, 3)];
  const text = `# Bikes\n\n## Red\n\n${red}\n\n## Blue\n\n${blue}\n\n${more}\n\n### Old\n\n${old}\n`;
  const how = { file: "a.md" };
  assert.deepEqual(await passages(text, how), [
    `# Bikes\n\n## Red\n\n${red}`,
    `Bikes\n\n## Blue\n\n${blue}`,
    `Bikes > Blue\n\n${more}`,
    `Bikes > Blue\n\n### Old\n\n${old}`,
  ]);
  const counts = await Promise.all(["bikes", "red", "blue", "old"].map((word) => found(text, word, how)));
  assert.deepEqual(counts, [4, 1, 3, 1]);
});

Deno.test("chunks of text: small sections go together", async () => {
  const small = "# A\n\nOne.\n\n# B\n\nTwo.\n\n# C\n\nThree.\n";
  assert.deepEqual(await passages(small, { file: "a.md" }), [small.trim()]);
  const before = `# A\n\n## B\n\n${sentence(990)}\n`;
  assert.deepEqual(await passages(before, { file: "a.md" }), [before.trim()]);
});

Deno.test("chunks of a book: page by page, each with the end of the one before", async () => {
  const page = (name: string) =>
    Array.from({ length: 9 }, (_, index) => `${name}${index} ${sentence(140)}`).join(" ");
  const chunks = await passages(`${page("A")}\f${page("B")}\f2 Two\n\n${page("C")}`, { type: "book" });
  assert.deepEqual(chunks.map((text) => text.slice(0, 2)), ["A0", "A5", "A8", "B5", "2 ", "2 "]);
  assert.match(chunks[5] ?? "", /^2 Two\n\nC5/);
  assert.ok(chunks[2]?.includes("\n\nB0"), "what is repeated is of the page before");
});

Deno.test("chunks of a book: nothing is repeated across a page that is left out", async () => {
  const text = "One. Two.\fThree.\fFour.";
  assert.deepEqual(await passages(text, { type: "book", exclude: [2] }), ["One. Two.", "Four."]);
  assert.deepEqual(await passages(text, { type: "book" }), [
    "One. Two.",
    "One. Two.\n\nThree.",
    "Three.\n\nFour.",
  ]);
  assert.deepEqual(await passages(text, { exclude: [2] }), ["One. Two.", "Four."]);
});

Deno.test("chunks of slides: one a slide, however short", async () => {
  const [long, more] = [words(200), words(100)];
  assert.deepEqual(await passages(`A\n\f\f${long}\n\n${more}\fB`, { type: "slides" }), [
    "A",
    `${long}\n\n${more}`,
    "B",
  ]);
  assert.ok((await passages(words(900), { type: "slides" })).length > 1, "but a whole page of prose is none");
});

const line = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "# A",
    "## B",
    "### C",
    "```",
    "---",
    "\f",
    "1 Intro",
    "\r",
    "Dr. X. Y? Z!",
    "<!-- x -->",
    "-->",
  ),
  fc.string({ maxLength: 60, unit: "grapheme" }),
  fc.lorem({ maxCount: 60 }),
  fc.integer({ min: 900, max: 3300 }).map((length) => "q".repeat(length)),
);
const anyText = fc.array(line, { maxLength: 30 }).map((lines) => lines.join("\n"));
const anyType = fc.constantFrom<DocumentType>("text", "paper", "book", "slides");

/** A passage is no longer, without the headings above it. */
const LONGEST = 3000;

Deno.test("chunks: nothing but blanks is lost, bounds are kept, and the same text gives the same", async () => {
  await fc.assert(
    fc.asyncProperty(anyText, anyType, fc.boolean(), async (text, type, isMarkdown) => {
      const how = { type, file: isMarkdown ? "a.md" : "a.txt" };
      const shown = text.replaceAll("\r\n", "\n").replaceAll("\f", "\n\n");
      const chunks = await passages(text, how);
      const seen = new Uint8Array(shown.length);
      for (const whole of chunks) {
        const chunk = shown.includes(whole) ? whole : whole.slice(whole.indexOf("\n\n") + 2);
        const pageEnds = chunk.split("\n\n").length - 1; // each was one character
        assert.ok(chunk.length > 0 && chunk.length - pageEnds <= LONGEST, `${chunk.length}`);
        assert.equal(chunk, chunk.trim());
        assert.ok(chunk.isWellFormed() || !text.isWellFormed(), "no character is cut in two");
        let at = shown.indexOf(chunk);
        assert.ok(at >= 0, whole);
        for (; at >= 0; at = shown.indexOf(chunk, at + 1)) {
          seen.fill(1, at, at + chunk.length);
        }
      }
      // A front matter is left out, and so are the rules between slides.
      const start = isMarkdown ? /^---\n(?:[^]*?\n)??---[ \t]*(?:\n|$)/.exec(shown)?.[0].length ?? 0 : 0;
      const isRule = (char: string): boolean => isMarkdown && type === "slides" && char === "-";
      for (let at = start; at < shown.length; at++) {
        const char = shown.charAt(at);
        assert.ok(
          seen[at] === 1 || /\s/.test(char) || isRule(char),
          `${JSON.stringify(char)} at ${at} is lost`,
        );
      }
      assert.deepEqual(await passages(text, how), chunks);
    }),
    { numRuns: tries(200, 500) },
  );
});

Deno.test("texts and their chunks: linear", async () => {
  const shapes: readonly ((size: number) => string)[] = [
    (size) => "word ".repeat(size / 5),
    (size) => "x".repeat(size),
    (size) => ".".repeat(size),
    (size) => "\n".repeat(size),
    (size) => " ".repeat(size),
    (size) => "# a\n".repeat(size / 4),
    (size) => "a\f".repeat(size / 2),
    (size) => "\n \t".repeat(size / 3) + "x",
    (size) => "Some. ".repeat(size / 6),
    (size) => "1 Intro\n\n".repeat(size / 9),
    (size) => "```\n".repeat(size / 4),
    (size) => '."'.repeat(size / 2),
  ];
  const timed = async (text: string) => {
    const start = performance.now();
    for (const how of [{ type: "text", file: "a.md" }, { type: "book", file: "a.txt" }] as const) {
      (await opened(text, how, false))[Symbol.dispose]();
    }
    return performance.now() - start;
  };
  for (const [index, shape] of shapes.entries()) {
    const best = async (size: number) => Math.min(await timed(shape(size)), await timed(shape(size)));
    const small = Math.max(5, await best(20_000));
    const large = await best(160_000);
    assert.ok(
      large < small * 8 * 5,
      `shape ${index}: ${small.toFixed(1)} ms, then ${large.toFixed(1)} ms for 8 times as much`,
    );
  }
});
