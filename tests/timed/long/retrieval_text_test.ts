import fc from "fast-check";
import assert from "node:assert/strict";
import { FileError } from "../../../mod.ts";
import { DOCUMENT_TYPES, type DocumentType } from "../../../lib/parse/files/collection.ts";
import type { DocumentText } from "../../../lib/retrieval/document_text.ts";
import { pdfLines } from "../../../lib/retrieval/pdf_text.ts";
import { plainText } from "../../../lib/retrieval/plain_text.ts";
import { markdownText, readDocument } from "../../../lib/retrieval/read_document.ts";
import { LONGEST_CHUNK, sentences, textChunks } from "../../../lib/retrieval/index_documents.ts";
import { testPdf } from "../../_pdf.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

const chunkTexts = (document: DocumentText, type: DocumentType = "text") =>
  textChunks(document, type).map(({ start, end }) => document.text.slice(start, end));

const titles = ({ headings }: DocumentText) => headings.map(({ level, title }) => `${level} ${title}`);

const words = (count: number, word = "word") =>
  Array.from({ length: count }, (_, index) => `${word}${index}`).join(" ");

const sentence = (length: number) => `S${"a".repeat(length - 2)}.`;

Deno.test("Markdown: front matter is left out, and what stands in a fence or a comment is no heading", () => {
  const text =
    "---\ntitle: x\n---\n\n# One {id=one}\n\n```sh\n# no\n```\n<!--\n# no\n-->\n\n## Two ##\r\ntext\n#no\n";
  const document = markdownText(text, "text");
  assert.deepEqual(titles(document), ["1 One", "2 Two"]);
  const item = "# A\n\n- ```sh\n  # no\n  ```\n\n# B\n\n<pre>\n\n# no\n</pre>\n# C\n";
  assert.deepEqual(titles(markdownText(item, "text")), ["1 A", "1 B", "1 C"]);
  assert.equal(document.text, text);
  assert.deepEqual(document.pages, [{ number: 1, start: text.indexOf("\n# One"), end: text.length }]);
  assert.deepEqual(markdownText("---\nnot closed\n", "text").pages, [{ number: 1, start: 0, end: 15 }]);
  assert.deepEqual(markdownText("", "text"), {
    text: "",
    pages: [{ number: 1, start: 0, end: 0 }],
    headings: [],
  });
});

Deno.test("Markdown slides: between rules, or below the headings of the first two levels", () => {
  const pages = (text: string) =>
    markdownText(text, "slides").pages.map(({ start, end }) => text.slice(start, end).trim());
  assert.deepEqual(pages("---\nmarp: true\n---\n# A\n\n---\n\nB\nC\n---\nD\n\n---\n"), [
    "# A",
    "B\nC\n---\nD",
    "",
  ]);
  assert.deepEqual(pages("before\n# A\n## B\n### C\ntext\n"), ["before", "# A", "## B\n### C\ntext"]);
  assert.deepEqual(pages("\n# A\n# B\n"), ["# A", "# B"]);
});

Deno.test("plain text: form feeds part pages; books and papers have headings by their numbers and words", () => {
  const text =
    "Abstract\nWe rode.\n\n1 Introduction\nIt rained.\n\n1.2 Related work\nMore.\n\n2 bikes were lost.\n\f" +
    "Appendix A\nTables.\n\n3 Apples, pears,\n";
  const paper = plainText(text, "paper");
  assert.deepEqual(titles(paper), ["1 Abstract", "1 1 Introduction", "2 1.2 Related work", "1 Appendix A"]);
  assert.deepEqual(paper.pages.map(({ number }) => number), [1, 2]);
  for (const { start, end, title } of paper.headings) assert.equal(text.slice(start, end), title);
  assert.deepEqual(plainText(text, "text").headings, []);
});

Deno.test("HTML: what a reader sees, with its headings", async () => {
  const html =
    "<title>T</title><h1>Bikes</h1><p>Red &amp; <b>blue</b>.<script>no</script></p><h2>Locks</h2><ul><li>One</ul>";
  const document = await readDocument(bytes(html), { file: "a.HTML", type: "text" });
  assert.deepEqual(titles(document), ["1 Bikes", "2 Locks"]);
  assert.match(document.text, /Red & blue\.\n\n## Locks\n\n- One/);
  assert.doesNotMatch(document.text, /no/);
});

Deno.test("what is no text is refused with what to do", async () => {
  const failure = async (content: Uint8Array, file = "a.txt") => {
    const error = await readDocument(content, { file, type: "text" }).catch((error) => error);
    assert.ok(error instanceof FileError, String(error));
    return error.message;
  };
  assert.match(
    await failure(new Uint8Array([0x61, 0xff])),
    /^Cannot read "a\.txt": it is not UTF-8 .* save it as one of them$/,
  );
  assert.match(
    await failure(new Uint8Array([0x61, 0, 0x62]), "a.docx"),
    /NUL characters.*Markdown, HTML or PDF/,
  );
});

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
  const document = await readDocument(pdf, { file: "a.pdf", type: "text" });
  assert.equal(
    document.text,
    "1 Bikes\nThe (red) bike is fahrbereit.\nGröße XL.\n\nAnother paragraph.\n\n1.1 Locks\nA lock.\n\nPage two \\ has more.",
  );
  assert.deepEqual(titles(document), ["1 1 Bikes", "2 1.1 Locks"]);
  for (const { start, end, title } of document.headings) assert.equal(document.text.slice(start, end), title);
  assert.deepEqual(document.pages.map(({ number }) => number), [1, 2]);
  assert.equal(document.text.slice(document.pages[1]?.start), "Page two \\ has more.");
  const unnamed = await readDocument(testPdf([["A PDF by its first bytes."]]), {
    file: "upload",
    type: "text",
  });
  assert.equal(unnamed.text, "A PDF by its first bytes.");
});

Deno.test("PDF: headings of one size are known by their numbers in a book", async () => {
  const pdf = testPdf([["1 Bikes", "A bike.", { text: "2 Locks", room: 3 }, "A lock."]]);
  const of = async (type: DocumentType) => titles(await readDocument(pdf.slice(), { file: "a.pdf", type }));
  assert.deepEqual(await of("book"), ["1 1 Bikes", "1 2 Locks"]);
  assert.deepEqual(await of("text"), []);
});

Deno.test("PDF: a broken one, an encrypted one and one of pictures say what to do", async () => {
  const failure = async (content: Uint8Array) => {
    const error = await readDocument(content, { file: "docs/a.pdf", type: "text" }).catch((error) => error);
    assert.ok(error instanceof FileError, String(error));
    return error.message;
  };
  assert.equal(
    await failure(testPdf([["x"]], { encrypted: true })),
    'Cannot read "docs/a.pdf": it is protected with a password: save it without one',
  );
  for (
    const broken of [
      bytes("%PDF-1.4 junk"),
      bytes(""),
      bytes("no PDF at all"),
      testPdf([["x"]]).slice(0, 120),
    ]
  ) {
    assert.match(
      await failure(broken),
      /^Cannot read "docs\/a\.pdf": it is no PDF, or a broken one \(.*\): open it in a viewer and save it anew$/,
    );
  }
  assert.equal(
    await failure(testPdf([[], []])),
    'Cannot read "docs/a.pdf": it has no text, only pictures: run text recognition (OCR) on it first',
  );
});

Deno.test("PDF: any bytes are read or refused, and nothing is left behind", async () => {
  const good = testPdf([["Some text.", { text: "Large", size: 18 }], ["More of it."]]);
  const damage = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(damage, async (damage) => {
      const damaged = good.slice();
      for (const [at, byte] of damage) damaged[at] = byte;
      const read = await readDocument(damaged, { file: "a.pdf", type: "text" }).catch((error) => error);
      assert.ok(read instanceof FileError || typeof read.text === "string", String(read));
    }),
    { numRuns: 300 }, // about one of a hundred rejects a promise that pdf.js forgets
  );
  // A page that pdf.js looks up ahead and never asks for again.
  const text = new TextDecoder("latin1").decode(testPdf([["One."], ["Two."], ["Three."]]));
  const wrong = text.replace("/Count 3", "/Count_3").replace("6 0 obj", "6 0Jobj");
  const forgotten = Uint8Array.from(wrong, (char) => char.charCodeAt(0));
  await readDocument(forgotten, { file: "a.pdf", type: "text" }).catch((error) =>
    assert.ok(error instanceof FileError)
  );
});

Deno.test("PDF lines: pieces of a line are joined, a column ends a paragraph", () => {
  const item = (text: string, y: number, endsLine = false) => ({ text, y, height: 10, endsLine });
  const lines = pdfLines([
    item("One ", 700),
    item("two", 700, true),
    item("", 690, true),
    item("three", 688),
    item("", 688, true),
    item("right", 700, true),
  ]);
  assert.deepEqual(lines.map(({ text, gap }) => [text, gap]), [["One two", false], ["three", false], [
    "right",
    true,
  ]]);
});

Deno.test("sentences: not after abbreviations, numbers, initials and before small letters", () => {
  const cut = (text: string) =>
    [...sentences(text, { start: 0, end: text.length })].map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(cut("It rains. We stay! Do we? Yes …"), ["It rains.", "We stay!", "Do we?", "Yes …"]);
  assert.deepEqual(cut("Am 3. April kommt Dr. Maier, z. B. um 5 Uhr. Gut."), [
    "Am 3. April kommt Dr. Maier, z. B. um 5 Uhr.",
    "Gut.",
  ]);
  assert.deepEqual(cut("See e.g. this. “Is it?” she said. 今日は。明日。"), [
    "See e.g. this.",
    "“Is it?” she said.",
    "今日は。",
    "明日。",
    "",
  ]);
});

Deno.test("chunks of text: whole paragraphs up to about 1,000 characters, whole sentences of a longer one", () => {
  const [a, b, c] = [600, 300, 500].map(sentence);
  assert.deepEqual(chunkTexts(plainText(`${a}\n\n${b}\n \n${c}\n`, "text")), [`${a}\n\n${b}`, c]);
  const long = Array.from({ length: 8 }, () => sentence(300)).join(" ");
  const chunks = chunkTexts(plainText(long, "text"));
  assert.deepEqual(chunks.map((chunk) => chunk.length), [902, 902, 601]);
  for (const chunk of chunks) assert.match(chunk, /^S.*\.$/);
  assert.deepEqual(chunkTexts(plainText(sentence(1400), "text")).map((chunk) => chunk.length), [1400]);
  const endless = chunkTexts(plainText(words(600), "text"));
  assert.ok(endless.every((chunk) => chunk.length <= 1250 && /^word.*\d$/.test(chunk)));
  assert.deepEqual(chunkTexts(plainText("x".repeat(2500), "text")).map((chunk) => chunk.length), [
    1000,
    1000,
    500,
  ]);
});

Deno.test("chunks of text: a heading begins a new one, with those above it as its context", () => {
  const text = `# Bikes\n\n## Red\n\n${sentence(400)}\n\n## Blue\n\n${sentence(800)}\n\n${
    sentence(800)
  }\n\n### Old\n\n${sentence(300)}\n`;
  const document = markdownText(text, "text");
  const chunks = textChunks(document, "text").map(({ start, context }) => [
    text.slice(start, start + 6).trim(),
    context,
  ]);
  assert.deepEqual(chunks, [
    ["# Bike", []],
    ["## Blu", ["Bikes"]],
    ["Saaaaa", ["Bikes", "Blue"]],
    ["### Ol", ["Bikes", "Blue"]],
  ]);
});

Deno.test("chunks of text: small sections go together", () => {
  const small = "# A\n\nOne.\n\n# B\n\nTwo.\n\n# C\n\nThree.\n";
  assert.deepEqual(chunkTexts(markdownText(small, "text")), [small.trim()]);
  const before = `# A\n\n## B\n\n${sentence(990)}\n`;
  assert.deepEqual(chunkTexts(markdownText(before, "text")), [before.trim()]);
});

Deno.test("chunks of a book: page by page, each with the end of the one before", () => {
  const page = (name: string) =>
    Array.from({ length: 9 }, (_, index) => `${name}${index} ${sentence(140)}`).join(" ");
  const text = `${page("A")}\f${page("B")}\f2 Two\n\n${page("C")}`;
  const document = plainText(text, "book");
  const chunks = textChunks(document, "book").map(({ start, end, page }) => ({
    page,
    text: text.slice(start, end),
  }));
  assert.deepEqual(chunks.map(({ page }) => page), [1, 1, 2, 2, 3, 3]);
  const starts = chunks.map(({ text }) => text.slice(0, 2));
  assert.deepEqual(starts, ["A0", "A5", "A8", "B5", "2 ", "C5"]);
  assert.ok(chunks[2]?.text.includes("\fB0"), "what is repeated is of the page before");
});

Deno.test("chunks of a book: nothing is repeated across a page that is left out", () => {
  const text = `One. Two.\fThree.\fFour.`;
  const document = plainText(text, "book");
  const pages = document.pages.filter(({ number }) => number !== 2);
  assert.deepEqual(chunkTexts({ ...document, pages }, "book"), ["One. Two.", "Four."]);
  assert.deepEqual(chunkTexts(document, "book"), ["One. Two.", "One. Two.\fThree.", "Three.\fFour."]);
  assert.deepEqual(chunkTexts({ ...document, pages }, "text"), ["One. Two.", "Four."]);
});

Deno.test("chunks of slides: one a slide, however short", () => {
  const text = `A\n\f\f${words(200)}\n\n${words(100)}\fB`;
  const document = plainText(text, "slides");
  const chunks = textChunks(document, "slides");
  assert.deepEqual(chunks.map(({ page }) => page), [1, 3, 4]);
  assert.ok(
    chunkTexts(plainText(words(900), "slides"), "slides").length > 1,
    "but a whole page of prose is none",
  );
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
const anyType = fc.constantFrom(...DOCUMENT_TYPES);

Deno.test("chunks: nothing but blanks is lost, bounds are kept, and the same text gives the same", () => {
  fc.assert(
    fc.property(anyText, anyType, fc.boolean(), (text, type, isMarkdown) => {
      const document = isMarkdown ? markdownText(text, type) : plainText(text, type);
      const chunks = textChunks(document, type);
      const seen = new Set<number>();
      let last = -1;
      for (const { start, end, page } of chunks) {
        assert.ok(start < end && end - start <= LONGEST_CHUNK, `${start}-${end}`);
        assert.ok(end > last, "each goes on behind the one before");
        last = end;
        for (let at = start; at < end; at++) seen.add(at);
        assert.equal(text.slice(start, end), text.slice(start, end).trim());
        assert.ok(document.pages.some(({ number }) => number === page));
        const [first, final] = [text.charCodeAt(start), text.charCodeAt(end - 1)];
        const isHalf = (first & 0xfc00) === 0xdc00 && (text.charCodeAt(start - 1) & 0xfc00) === 0xd800 ||
          (final & 0xfc00) === 0xd800 && (text.charCodeAt(end) & 0xfc00) === 0xdc00;
        assert.ok(!isHalf, "no character is cut in two");
      }
      for (const { start, end } of document.pages) {
        for (let at = start; at < end; at++) {
          assert.ok(
            seen.has(at) || /\s/.test(text.charAt(at)),
            `${JSON.stringify(text.charAt(at))} at ${at} is lost`,
          );
        }
      }
      assert.deepEqual(textChunks(document, type), chunks);
    }),
    { numRuns: 500 },
  );
});

Deno.test("texts and their chunks: linear", () => {
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
  const timed = (text: string) => {
    const start = performance.now();
    for (const type of ["text", "book"] as const) {
      textChunks(plainText(text, type), type);
      textChunks(markdownText(text, type), type);
    }
    return performance.now() - start;
  };
  for (const [index, shape] of shapes.entries()) {
    const best = (size: number) => Math.min(...[1, 2, 3].map(() => timed(shape(size))));
    const small = Math.max(5, best(20_000));
    const large = best(160_000);
    assert.ok(
      large < small * 8 * 5,
      `shape ${index}: ${small.toFixed(1)} ms, then ${large.toFixed(1)} ms for 8 times as much`,
    );
  }
});
