// What of a text is raw, line by line, as the reference parser of CommonMark has it.

import assert from "node:assert/strict";
import { join } from "node:path";
import { Parser } from "commonmark";
import fc from "fast-check";
import { DocumentLines } from "../lib/parse/document/lines.ts";
import { documentNodes } from "../lib/parse/document/nodes.ts";
import { MarkdownBlocks } from "../lib/parse/document/markdown_blocks.ts";
import { PROJECT_ROOT } from "./_run.ts";

/** What is asked of a node of the reference parser, which says nothing of its types. */
interface MarkdownNode {
  readonly type: string;
  readonly sourcepos: readonly [readonly [number, number], readonly [number, number]];
  readonly parent: MarkdownNode | null;
  readonly _isFenced: boolean;
}

interface Marks {
  /** A sign for each line: `#` for one of a fence or of raw HTML. */
  readonly raw: string;
  /** The lines of the headings that a document can have: with `#` and a title, at the left edge, below an empty line. From 1. */
  readonly headings: readonly number[];
}

function theirMarks(text: string): Marks {
  const lines = text.split("\n");
  const raw = lines.map(() => ".");
  const headings: number[] = [];
  const walker = new Parser().parse(text).walker();
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const node: MarkdownNode = step.node;
    if (!step.entering || !["heading", "html_block", "code_block"].includes(node.type)) continue;
    const [[first, column], [last]] = node.sourcepos;
    if (node.type === "heading") {
      const isOurs = column === 1 && node.parent?.type === "document" &&
        /^#+ [ \t]*[^ \t]/.test(lines[first - 1] ?? "") &&
        (first === 1 || /^[ \t]*$/.test(lines[first - 2] ?? ""));
      if (isOurs) headings.push(first);
    } else if (node.type === "html_block" || node._isFenced) raw.fill("#", first - 1, last);
  }
  return { raw: raw.join(""), headings };
}

function ourMarks(text: string): Marks {
  const lines = new DocumentLines(text);
  const blocks = new MarkdownBlocks(lines);
  const raw = text.split("\n").map((_, at) => at < lines.count && blocks.read(at) ? "#" : ".");
  const { nodes } = documentNodes(lines, { frontMatter: false, operations: false });
  return {
    raw: raw.join(""),
    headings: nodes.flatMap(({ kind, line }) => kind === "heading" ? [line] : []),
  };
}

function assertAlike(text: string): void {
  assert.deepEqual(ourMarks(text), theirMarks(text), JSON.stringify(text));
}

/** By the number of the example in the specification of CommonMark (0.31.2) that it is like. */
const EXAMPLES: Readonly<Record<string, string>> = JSON.parse(
  Deno.readTextFileSync(join(PROJECT_ROOT, "tests/spec/markdown/blocks.json")),
);

Deno.test("markdown: fences, raw HTML and headings are where the reference parser has them", async (t) => {
  assert.equal(Object.keys(EXAMPLES).length, 83);
  for (const [number, text] of Object.entries(EXAMPLES)) {
    await t.step(number, () => {
      for (const before of ["", "text\n", "- item\n\n", "> quote\n"]) {
        for (const behind of ["", "\n", "\n\n# Next\n", "\n\n> x\n\n# Next"]) {
          assertAlike(before + text + behind);
        }
      }
      const lines = text.split("\n");
      for (const mark of ["- ", "12. ", "> ", "> - ", "- > ", "-\t"]) {
        const inside = mark.replaceAll(/[^>\t]/g, " ");
        const nested = lines.map((line, at) => (at === 0 ? mark : inside) + line).join("\n");
        assertAlike(`${nested}\n\n# Next\n`);
        assertAlike(`${mark}${text}\n\n# Next\n`);
      }
    });
  }
});

const PIECES = [
  ...[
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\n\n",
    " ",
    "  ",
    "   ",
    "    ",
    "\t",
    "- ",
    "* ",
    "1. ",
    "2) ",
    "10. ",
    "-",
    "1.",
    "> ",
    ">",
  ],
  ...[
    "```",
    "````",
    "~~~",
    "```sh",
    "``",
    "# A",
    "## B",
    "#",
    "\n# C\n",
    "\n\n# D\n\n",
    "---",
    "- - -",
    "===",
    "text",
    "a b",
    "\\",
  ],
  ...[
    "<pre>",
    "</pre>",
    "<script>",
    "</style>",
    "<div>",
    "</p>",
    "<a>",
    "<b c='d'>",
    "</b>",
    "<?",
    "?>",
    "<!X",
    ">",
    "<![CDATA[",
    "]]>",
  ],
];

Deno.test("markdown: 1,000 random texts of lists, quotes, fences, HTML and headings are read alike", () => {
  const texts = (pieces: readonly string[]) =>
    fc.array(fc.constantFrom(...pieces), { minLength: 2, maxLength: 40, size: "max" }).map((all) =>
      all.join("")
    );
  fc.assert(fc.property(texts(PIECES), assertAlike), { numRuns: 1000 });
  // A comment that begins within a line is read otherwise, so that here each begins a block, and `<!X` ends in no line with one.
  const withComments = [
    ...PIECES.filter((piece) => piece !== "<!X"),
    "\n\n<!--",
    "\n\n- <!-- a",
    "\n\n> <!--",
    "-->",
  ];
  fc.assert(fc.property(texts(withComments), assertAlike), { numRuns: 1000 });
});

const marked = (text: string): string => ourMarks(text).raw;

Deno.test("markdown: on purpose otherwise: a comment that begins within a line hides all up to its end", () => {
  const cases: readonly (readonly [text: string, raw: string])[] = [
    ["Not now: <!-- off\n\n# A\n\n-->\n\n# B", ".####.."],
    ["# A <!-- off\n\n> # B\n```\n-->\n```", ".#####"],
    ["- item <!-- off\n\n# A\n--> text <!-- and\n# B\n-->", ".#####"],
    ["<div> <!-- off\n\n# A\n\n-->\n# B", "#####."],
    ["<!-- a --> <!-- b\n\n# A\n-->", "####"],
    ["a <!-- b --> c <!--> d <!---> e\n\n# A", "..."],
    ["Write `<!--` or ``a ` <!-- b`` or \\<!-- first.\n\n# A", "..."],
    ["One ` tick, <!-- off\n\n# A\n-->", ".###"],
    ["In `C:\\` <!-- off\n\n# A\n-->", ".###"],
    ["    <!-- code\n\n# A", "..."],
    ["```\n<!-- code\n```\n# A", "###."],
    ["text <!-- never closed\n\n# A", ".##"],
  ];
  for (const [text, raw] of cases) assert.equal(marked(text), raw, text);
});

Deno.test("markdown: on purpose otherwise: headings of any level end a paragraph, link definitions are one", () => {
  assert.equal(marked("text\n####### A\n<a>"), "..#");
  assert.equal(theirMarks("text\n####### A\n<a>").raw, "...");
  assert.equal(marked("[a]: /b\n===\n<a>"), "..#");
  assert.equal(theirMarks("[a]: /b\n===\n<a>").raw, "...");
});

Deno.test("markdown: what a text leaves open, and the line that closes it", () => {
  const cases: readonly (readonly [text: string, kind: string | undefined, closing?: string])[] = [
    ["1. ```sh\n   make", "fence", "   ```"],
    ["> - ~~~~\n>   make", "fence", ">   ~~~~"],
    ["- a\n\n   ```\n  make", "fence", "   ```"],
    ["a <!-- b", "comment", "-->"],
    ["- <!-- b", "comment", "  -->"],
    ["<PRE>\n\na", "<PRE>", "</PRE>"],
    ["> <?php\n> a", "<?", "> ?>"],
    ["<![CDATA[", "<![CDATA[", "]]>"],
    ["<!DOCTYPE", "<!D", ">"],
    ["- ```\n  a\n\ntext", undefined],
    ["<div>\na", undefined],
    ["```\na\n```", undefined],
  ];
  for (const [text, kind, closing] of cases) {
    const lines = new DocumentLines(text);
    const blocks = new MarkdownBlocks(lines);
    for (let line = 0; line < lines.count; line++) blocks.read(line);
    assert.equal(blocks.open?.kind, kind, text);
    assert.equal(blocks.open?.closing, closing, text);
    if (closing !== undefined) assert.equal(marked(`${text}\n${closing}\n\n# A`).at(-1), ".", text);
  }
});
