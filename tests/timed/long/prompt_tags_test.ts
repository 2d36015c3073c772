import fc from "fast-check";
import assert from "node:assert/strict";
import { ParseError, type Parser, PromptError, TagParser, tags } from "../../../mod.ts";
import { anyText } from "../../_any_text.ts";

interface TagCase {
  readonly name: string;
  readonly input: { readonly parser: Readonly<Record<string, unknown>>; readonly text: string };
  readonly expected?: unknown;
  readonly error?: string;
  readonly errorKind?: string;
  readonly code?: string;
}

const CASES: readonly TagCase[] = JSON.parse(
  await Deno.readTextFile(new URL("../../spec/prompts/tags.json", import.meta.url)),
);

class ConfidenceParser extends TagParser<never, "confidence"> {
  readonly most = 1;

  constructor() {
    super({ requiredXmlTags: ["confidence"] });
  }

  override parse(text: string) {
    const result = super.parse(text);
    const confidence = Number(result.xmlTags.confidence[0]);
    if (!(confidence >= 0 && confidence <= this.most)) {
      throw new ParseError(
        `<confidence> must be between 0 and 1, got ${result.xmlTags.confidence[0]}`,
      );
    }
    return { ...result, confidence };
  }
}

const refined = tags({ requiredXmlTags: ["n"] }).refine(({ xmlTags }) => {
  const n = Number(xmlTags.n[0]);
  if (Number.isNaN(n)) throw new ParseError(`<n> must be a number, got "${xmlTags.n[0]}"`);
  return { n };
});

function parserOf({ parser }: TagCase["input"]): Parser {
  switch (parser.$parser) {
    case "confidence":
      return new ConfidenceParser();
    case "refined":
      return refined;
    case "words":
      return { parse: (text) => text.split(" ") };
    default:
      return tags(parser);
  }
}

Deno.test("tags: the cases", async () => {
  assert.ok(CASES.length >= 96);
  for (const { name, input, expected, error, errorKind, code } of CASES) {
    const outcome = await attempt(() => parserOf(input).parse(input.text));
    if (error === undefined) {
      assert.deepEqual(outcome.value, expected, name);
      assert.equal(JSON.stringify(outcome.value), JSON.stringify(expected), `${name}: the order of the keys`);
    } else {
      assert.equal(outcome.error?.name, errorKind, name);
      assert.equal(outcome.error?.message, error, name);
      if (code !== undefined) {
        assert.equal(outcome.error instanceof PromptError && outcome.error.code, code, name);
      }
    }
  }
});

async function attempt(
  parse: () => unknown,
): Promise<{ readonly value?: unknown; readonly error?: Error }> {
  try {
    return { value: await parse() };
  } catch (error) {
    if (error instanceof Error) return { error };
    throw error;
  }
}

Deno.test("tags: every issue of a ParseError has the place that it would fill", () => {
  const parser = tags({ requiredXmlTags: ["a"], requiredMdTags: ["py"] });
  assert.throws(() => parser.parse(""), (error) => {
    assert.ok(error instanceof ParseError);
    assert.deepEqual(error.issues.map(({ path }) => path), [["xmlTags", "a"], ["mdTags", "py"]]);
    assert.equal(
      error.message,
      ["Parsing errors:", ...error.issues.map(({ message }) => message)].join("\n"),
    );
    return true;
  });
});

Deno.test("tags: a missing tag is told where it is declared first", () => {
  assert.throws(() => tags({ xmlTags: ["a", "b"], requiredXmlTags: ["b", "a"] }).parse(""), {
    message: "Parsing errors:\nMissing required tag <a>: provide it as <a>...</a>\n" +
      "Missing required tag <b>: provide it as <b>...</b>",
  });
});

Deno.test("tags: a specification that is none", () => {
  const wrong: readonly (readonly [unknown, string])[] = [
    [{ xml_tags: ["a"] }, 'tags: unknown key "xml_tags"'],
    [{ xmlTags: "a" }, 'tags: xmlTags must be a list of tag names, found "a"'],
    [{ mdTags: null }, "tags: mdTags must be a list of tag names, found null"],
    [{ mdTags: ["a`b"] }, 'tags: bad tag name "a`b" in mdTags'],
    [{ requiredMdTags: ["a\nb"] }, 'tags: bad tag name "a\\nb" in requiredMdTags'],
    [{ requiredXmlTags: ["a", "<b>"] }, 'tags: bad tag name "<b>" in requiredXmlTags'],
    [{ signalTags: ["a\u00a0b"] }, 'tags: bad tag name "a\u00a0b" in signalTags'],
    [{ signalTags: [7] }, "tags: bad tag name 7 in signalTags"],
    [null, 'tags: expected an object such as { requiredXmlTags: ["answer"] }, found null'],
    [["a"], 'tags: expected an object such as { requiredXmlTags: ["answer"] }, found an array'],
  ];
  for (const [spec, message] of wrong) {
    assert.throws(() => tags(spec as Record<never, never>), { name: "PromptError", code: "define", message });
  }
  assert.deepEqual(tags({ xmlTags: undefined } as Record<never, never>).parse("").xmlTags, {});
  assert.throws(() => tags({}).refine(undefined as unknown as () => 1), {
    name: "PromptError",
    message: "tags: refine needs a function (result) => value, found undefined",
  });
});

Deno.test("tags: names that objects have anyway are own keys", () => {
  const { xmlTags, mdTags, signalTags } = tags({
    xmlTags: ["__proto__", "toString"],
    mdTags: ["__proto__"],
    signalTags: ["__proto__", "valueOf"],
  }).parse("<__proto__>1</__proto__> ```__proto__ x``` <valueOf>");
  assert.deepEqual(Object.entries(xmlTags), [["__proto__", ["1"]], ["toString", []]]);
  assert.deepEqual(Object.entries(mdTags), [["__proto__", ["x"]]]);
  assert.deepEqual(Object.entries(signalTags), [["__proto__", true], ["valueOf", true]]);
  assert.equal(Object.getPrototypeOf(xmlTags), Object.prototype);
});

Deno.test("tags: what a parser says of itself", () => {
  const parser = tags({
    xmlTags: ["r"],
    requiredXmlTags: ["a", "a"],
    mdTags: ["py"],
    signalTags: ["S", "S"],
  });
  const lists = {
    xmlTags: ["r", "a"],
    requiredXmlTags: ["a"],
    mdTags: ["py"],
    requiredMdTags: [],
    signalTags: ["S"],
  };
  assert.deepEqual(parser.describe(), lists);
  assert.deepEqual(parser.refine(() => 1).describe?.(), { refine: lists });
  const confidence = new ConfidenceParser();
  assert.deepEqual(confidence.describe(), tags({ requiredXmlTags: ["confidence"] }).describe());
});

Deno.test("tags: a parser cannot be changed, and does not see later changes of its lists", () => {
  const names = ["a"];
  const parser = tags({ requiredXmlTags: names });
  names.push("b");
  assert.deepEqual(parser.parse("<a>1</a>").xmlTags, { a: ["1"] });
  assert.ok(Object.isFrozen(parser) && Object.isFrozen(parser.refine(() => 1)));
  assert.throws(() => (parser.describe() as { xmlTags: string[] }).xmlTags.push("c"), TypeError);
  const first = parser.parse("<a>1</a>");
  first.xmlTags.a?.push("2");
  assert.deepEqual(parser.parse("<a>1</a>").xmlTags.a, ["1"]);
});

Deno.test("tags: refine of a subclass goes on with what the subclass gives; it may be async", async () => {
  const parser = new ConfidenceParser().refine(async (result, ctx) => {
    await Promise.resolve();
    return { keys: Object.keys(result), ctx };
  });
  const ctx = { prompt: undefined, signal: new AbortController().signal } as unknown as Parameters<
    Parser["parse"]
  >[1];
  assert.deepEqual(await parser.parse("<confidence>1</confidence>", ctx), {
    keys: ["raw", "xmlTags", "mdTags", "signalTags", "confidence"],
    ctx,
  });
  assert.throws(() => parser.parse("<confidence>2</confidence>"), {
    name: "ParseError",
    message: "<confidence> must be between 0 and 1, got 2",
  });
});

/** The outermost blocks of each of these names, as `tags` finds them. */
const blocksOf = (text: string, names: readonly string[]) => tags({ mdTags: names }).parse(text).mdTags;

Deno.test("tags: white space of every kind ends the word of a fence and closes it", () => {
  for (const space of [" ", "\t", "\v", "\f", "\u00a0", "\u1680", "\u2003", "\u2028", "\u3000", "\ufeff"]) {
    assert.deepEqual(blocksOf(`\`\`\`py${space}x\`\`\`${space}`, ["py"]), { py: ["x"] });
  }
});

Deno.test("tags: a longer run inside closes with the block that holds it", () => {
  const text = "```md a ````py b ``` c ```py d``` e";
  assert.deepEqual(blocksOf(text, ["md", "py"]), { md: ["a ````py b"], py: ["d"] });
  assert.deepEqual(blocksOf("````a b ``` c ```` d", ["a"]), { a: ["b ``` c"] });
});

// The types: what follows would not compile if they were others.
Deno.test("tags: the types say what is there", async () => {
  const { xmlTags, mdTags, signalTags } = tags({
    xmlTags: ["why"],
    requiredXmlTags: ["answer"],
    mdTags: ["ts"],
    requiredMdTags: ["py"],
    signalTags: ["DONE"],
  }).parse("<answer>1</answer> ```py x```");
  const answer: string = xmlTags.answer[0];
  const code: string = mdTags.py[0];
  const why: string | undefined = xmlTags.why[0];
  const done: boolean = signalTags.DONE;
  assert.deepEqual([answer, code, why, mdTags.ts, done], ["1", "x", undefined, [], false]);
  // @ts-expect-error: an element that is not required may be missing
  const _maybe: string = xmlTags.why[0];
  // @ts-expect-error: no such tag
  assert.equal(xmlTags.other, undefined);
  // @ts-expect-error: no such signal
  assert.equal(signalTags.done, undefined);
  const n: number = (await refined.parse("<n>3</n>")).n;
  assert.equal(n, 3);
  const names: string[] = ["a"];
  const open: string[] | undefined = tags({ xmlTags: names }).parse("<a>1</a>").xmlTags.a;
  assert.deepEqual(open, ["1"]);
});

/** Texts of what matters here, in every order. */
const tagText = fc.array(
  fc.oneof(
    fc.constantFrom("<a>", "</a>", "<b>", "</b>", "<ab>", "<a", "a>", "<", ">", "/", "</", "<a >", "x"),
    fc.constantFrom("\n", "\r\n", " ", "py", "md", "é", "\u2003"),
    fc.integer({ min: 1, max: 6 }).map((count) => "`".repeat(count)),
  ),
  { maxLength: 40 },
).map((parts) => parts.join(""));

Deno.test("tags: elements and signals are what a plain reading finds", () => {
  const names = ["a", "b", "ab"] as const;
  const [contents, opened] = [tags({ xmlTags: names }), tags({ signalTags: names })];
  fc.assert(
    fc.property(tagText, (text) => {
      const { xmlTags } = contents.parse(text);
      const { signalTags } = opened.parse(text);
      for (const name of names) {
        const found = [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, "gs"))];
        assert.deepEqual(xmlTags[name], found.map(([, content]) => content));
        assert.equal(signalTags[name], text.includes(`<${name}>`));
      }
    }),
    { numRuns: 3000 },
  );
});

/** The rules as they are written, without a thought of time. */
function plainFences(text: string): readonly { readonly tag: string; readonly content: string }[] {
  const fences: { tag: string; content: string }[] = [];
  let open: { ticks: number; tag: string; start: number }[] = [];
  for (const run of text.matchAll(/`{3,}/g)) {
    const after = text.slice(run.index + run[0].length);
    const ticks = run[0].length;
    if (/^(?:\s|<|$)/.test(after)) {
      const index = open.findLastIndex((block) => block.ticks <= ticks);
      const block = open[index];
      if (block === undefined) continue;
      open = open.slice(0, index);
      const inside = text.slice(block.start, run.index);
      const content = (inside.includes("\n") ? inside.replace(/^.*?\n/s, "") : inside).trim();
      if (open.length === 0) fences.push({ tag: block.tag, content });
    } else {
      const tag = /^[^\s`<]*/.exec(after)?.[0] ?? "";
      open = [...open, { ticks, tag, start: run.index + ticks + tag.length }];
    }
  }
  return fences;
}

Deno.test("tags: blocks are what a plain reading finds", () => {
  fc.assert(
    fc.property(tagText, (text) => {
      const plain = plainFences(text);
      const names = [...new Set(["py", "md", ...plain.map(({ tag }) => tag)])].filter((tag) =>
        /^[\p{L}]+$/u.test(tag)
      );
      const blocks = blocksOf(text, names);
      for (const name of names) {
        const found = plain.filter(({ tag }) => tag === name).map(({ content }) => content);
        assert.deepEqual(blocks[name], found);
      }
    }),
    { numRuns: 5000 },
  );
});

Deno.test("tags: any text is parsed, or refused for what it lacks", () => {
  const parser = tags({ requiredXmlTags: ["a"], requiredMdTags: ["py"], signalTags: ["b"] });
  fc.assert(
    fc.property(fc.oneof(tagText, anyText()), (text) => {
      const lacks = [
        ...(/<a>.*?<\/a>/s.test(text) ? [] : ["a"]),
        ...(plainFences(text).some(({ tag }) => tag === "py") ? [] : ["py"]),
      ];
      try {
        const { raw } = parser.parse(text);
        assert.deepEqual([raw, lacks], [text, []]);
      } catch (error) {
        assert.ok(error instanceof ParseError);
        assert.deepEqual(error.issues.map(({ path }) => path[1]), lacks);
      }
    }),
    { numRuns: 2000 },
  );
});

Deno.test("tags: time grows with the text, whatever is left open", () => {
  const parser = tags({ xmlTags: ["a"], mdTags: ["a"] });
  const shapes = ["<a>", "<", "```a ", "````a ```  ", "</a>", "<aaaaaaaa", "`"];
  for (const shape of shapes) {
    const text = shape.repeat(Math.ceil(1e6 / shape.length));
    const start = performance.now();
    parser.parse(text);
    const ms = performance.now() - start;
    assert.ok(ms < 2000, `${JSON.stringify(shape)}: 1 MB took ${ms} ms`);
  }
});
