import assert from "node:assert/strict";
import fc from "fast-check";
import { parseDocument } from "../../../mod.ts";
import { LiveDocument } from "../../../lib/document/live_document.ts";
import type { MergeMode } from "../../../lib/parse/document/operation.ts";
import { live, put } from "../../_live_document.ts";
import { NaiveDocument } from "../../_naive_document.ts";

const title = fc.constantFrom("A", "b", "C c", "a-2", "\u00dc", "B {id=x}", "D {id=y-2}", "D");
const heading = fc.tuple(fc.integer({ min: 1, max: 4 }), title).map(([level, text]) =>
  `${"#".repeat(level)} ${text}`
);
const block = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(heading, fc.constantFrom("", "\nbody", "\nbody\n\nmore  ")).map((each) =>
      each.join("")
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom("@shell\nprompt: x", "@llm\nprompt: y") },
  { weight: 1, arbitrary: fc.constantFrom("text", "- a\n- b", "    code") },
);
const gap = fc.constantFrom("\n\n", "\n\n\n\n", "\n \t\n");
const documentText = fc.tuple(
  fc.constantFrom("", "\uFEFF", "\n\n", "---\na: 1\n---\n\n"),
  fc.array(fc.tuple(block, gap).map((each) => each.join("")), { minLength: 3, maxLength: 14, size: "max" }),
  fc.constantFrom("@shell\nprompt: z", "@shell\nprompt: z\n", "@llm\n\n# End\n"),
  fc.boolean(),
).map(([start, blocks, end, isCrlf]) => {
  const text = start + blocks.join("") + end;
  return isCrlf ? text.replaceAll("\n", "\r\n") : text;
});
const resultText = fc.oneof(
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 9, arbitrary: fc.array(block, { minLength: 1, maxLength: 5, size: "max" }) },
).map((blocks) => blocks.join("\n\n"));
const insertion = fc.record({
  operation: fc.nat(),
  target: fc.option(fc.nat()),
  isSection: fc.boolean(),
  mode: fc.constantFrom<MergeMode>("append", "append", "prepend", "replace", "replace", "replace"),
  header: fc.option(heading, { freq: 1 }),
  text: resultText,
});

function checkLinks(document: LiveDocument): void {
  const nodes = [...document.nodes()];
  for (const [at, node] of nodes.entries()) {
    assert.equal(document.next(node), nodes[at + 1]);
    assert.equal(document.previous(node), nodes[at - 1]);
    assert.equal(node.isGone, false);
  }
  const ids = nodes.flatMap(({ id }) => id === undefined ? [] : [id.toLowerCase()]);
  assert.equal(new Set(ids).size, ids.length);
}

Deno.test("document tree, random: an untouched document is printed as it was", () => {
  fc.assert(fc.property(documentText, (text) => {
    const document = live(text);
    assert.equal(document.print(), text);
    checkLinks(document);
  }));
});

Deno.test("document tree, random: insertions do what the slow model does", () => {
  const references = fc.array(
    fc.constantFrom("a", "b", "c-c", "x", "y", "y-2", "d", "a-2", "a/b", "b/a", "a/a/d", "x/d"),
    { maxLength: 6, size: "max" },
  );
  fc.assert(
    fc.property(
      documentText,
      fc.array(insertion, { minLength: 4, maxLength: 12, size: "max" }),
      references,
      (text, insertions, wanted) => {
        const document = live(text);
        const naive = new NaiveDocument(document);
        for (const each of insertions) {
          const operations = naive.order.filter(({ content }) => content.kind === "operation");
          const operation = operations[each.operation % Math.max(1, operations.length)];
          if (operation === undefined) return;
          const blocks = naive.order.filter(({ id }) => id !== undefined);
          const node = each.target === null ? undefined : blocks[each.target % Math.max(1, blocks.length)];
          const { mode, isSection } = each;
          const to = node === undefined ? {} : { to: `${node.id}${isSection ? "/*" : ""}` };
          const header = each.header === null ? {} : { header: each.header };
          const { nodes } = put(document, each.text, { operation, mode, ...header, ...to });
          naive.insert(nodes, {
            operation,
            mode,
            hasWrapper: each.header !== null,
            ...(node === undefined ? {} : { to: { node, isSection } }),
          });
          checkLinks(document);
          assert.deepEqual(
            [...document.nodes()].map(({ serial }) => serial),
            naive.order.map(({ serial }) => serial),
          );
          for (const each of naive.order) assert.equal(document.section(each), naive.parents.get(each));
          for (const reference of wanted) {
            const found = naive.find(reference);
            assert.equal(document.maybeFind(reference), found, reference);
            if (found === undefined) continue;
            const section = naive.section(found).filter(({ content }) => content.kind !== "operation");
            assert.deepEqual(document.select([`${reference}/*`]), section);
          }
        }
      },
    ),
    { numRuns: 1500 },
  );
});

Deno.test("document tree, random: what is not touched is printed byte for byte, and what is printed can be read", () => {
  fc.assert(
    fc.property(
      documentText,
      fc.array(insertion, { minLength: 1, maxLength: 6, size: "max" }),
      (text, insertions) => {
        const document = live(text);
        for (const each of insertions) {
          const operations = [...document.nodes()].filter(({ content }) => content.kind === "operation");
          const operation = operations[each.operation % Math.max(1, operations.length)];
          if (operation === undefined) return;
          const header = each.header === null ? {} : { header: each.header };
          put(document, each.text, { operation, mode: each.mode, ...header });
        }
        const printed = document.print();
        let from = 0;
        for (const { origin, content } of document.nodes()) {
          if (origin.by !== "file") continue;
          const at = printed.indexOf(content.source, from);
          assert.ok(at >= from, content.source);
          from = at + content.source.length;
        }
        const read = parseDocument(printed, { operations: false });
        const headings = (nodes: Iterable<{ readonly kind: string; readonly source: string }>) =>
          [...nodes].filter(({ kind }) => kind === "heading").length;
        assert.equal(headings(read.nodes), headings([...document.nodes()].map(({ content }) => content)));
        if (document.newline === "\r\n") assert.ok(!/[^\r]\n/.test(printed));
      },
    ),
  );
});

function headings(count: number): string {
  return Array.from({ length: count }, (_, at) => `${"#".repeat(1 + at % 3)} Title\ntext ${at % 50}\n\n`)
    .join("");
}

function medianMs(work: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return times.toSorted((a, b) => a - b)[2] ?? Infinity;
}

/** References and insertions of every kind, a fifth of the number of headings each. */
function work(tree: ReturnType<typeof parseDocument>, count: number): void {
  const busy = new LiveDocument(tree);
  const operation = [...busy.nodes()].findLast(({ content }) => content.kind === "operation");
  assert.ok(operation);
  const modes = ["append", "prepend", "replace"] as const;
  for (let at = 0; at < count / 5; at++) {
    const id = `title-${2 + (at * 7919) % (count - 2)}`;
    busy.select([id, `${id}/*`]);
    busy.maybeFind(`${id}/title`);
    put(busy, "# Sub\nx\n\n## Title\ny", {
      operation,
      header: "# Title",
      mode: modes[at % 3] ?? "append",
      to: id,
    });
    put(busy, "z", { operation, header: "# Title" });
  }
  assert.ok(busy.print().length > count);
}

Deno.test("document tree: 5,000 headings with 1,000 references and 2,000 insertions take two seconds at most", () => {
  const tree = parseDocument(`${headings(5000)}@shell\nprompt: x\n`);
  const ms = medianMs(() => work(tree, 5000));
  assert.ok(ms < 2000, `${ms} ms`);
});

Deno.test("document tree: a hundred thousand equal titles get their ids in a moment", () => {
  const start = performance.now();
  const document = live("# T\n\n".repeat(100_000));
  assert.ok(document.maybeFind("t-100000"));
  assert.ok(performance.now() - start < 5000);
});
