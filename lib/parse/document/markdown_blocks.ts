// What of a text is inside of a code fence or of raw HTML (documents.md 2.6). That depends on the quotes and list items around a line,
// and on whether a paragraph goes on in it, so that the blocks of CommonMark are followed line by line; a tab stands for the blanks up
// to the next multiple of four. Another thing than there, on purpose: a heading may have any number of `#`; a paragraph of nothing but
// link definitions is a paragraph; and a comment that begins within a line hides everything to its end, whatever is around it.

import { DocumentLines } from "./lines.ts";

/** A fence or raw HTML. */
export interface RawRegion {
  /** The line that it begins in, from 0. */
  readonly line: number;
  /** `fence`, `comment`, or how it begins, as in `<pre>`. */
  readonly kind: string;
  /** The line that would close it. */
  readonly closing: string;
}

interface Region extends RawRegion {
  /** The offset behind its end in a line, looked for from another one; -1: it goes on. Absent: it goes on to an empty line. */
  readonly endIn?: (text: string, from: number) => number;
}

/** What is left to read of a line. */
interface Rest {
  readonly line: number;
  readonly text: string;
  readonly at: number;
}

/** Follows the lines of a text, from any that begins a block. */
export class MarkdownBlocks {
  readonly #lines: DocumentLines;
  /** What is around, the outermost first: the columns that the lines of an item are indented by, or 0 for a quote. */
  readonly #around: number[] = [];
  /** Where in it the quotes are. */
  readonly #quotes: number[] = [];
  /** Whether the innermost item has nothing in it yet: an empty line ends it then. */
  #isItemEmpty = false;
  #leaf: "paragraph" | Region | undefined;
  /** The line that a comment begins within, while it is open. */
  #comment: number | undefined;

  constructor(lines: DocumentLines) {
    this.#lines = lines;
  }

  /** Whether a line below an empty one would be raw, if it is not indented. */
  get isRaw(): boolean {
    return this.#comment !== undefined || (typeof this.#leaf === "object" && this.#around.length === 0);
  }

  /** What the lines that were read leave open. */
  get open(): RawRegion | undefined {
    if (this.#comment !== undefined) return { line: this.#comment, kind: "comment", closing: "-->" };
    if (typeof this.#leaf !== "object" || this.#leaf.endIn === undefined) return undefined;
    const indent = this.#around.map((width) => width === 0 ? "> " : " ".repeat(width)).join("");
    return { ...this.#leaf, closing: indent + this.#leaf.closing };
  }

  /** Reads the next line. Whether it is one of a fence, of raw HTML or of a comment. */
  read(line: number): boolean {
    const text = withoutTabs(this.#lines.content(line));
    const isPlain = this.#around.length === 0 && typeof this.#leaf !== "object" &&
      this.#comment === undefined;
    if (isPlain && PLAIN.test(text)) return this.#readText({ line, text, at: 0 }, NOTHING_AROUND);
    const { at, depth } = this.#inside(text);
    const rest = { line, text, at };
    this.#isItemEmpty = false;
    if (typeof this.#leaf === "object") {
      const isInside = depth === this.#around.length;
      if (isInside && (this.#leaf.endIn !== undefined || filledFrom(text, at) < text.length)) {
        return this.#readRaw(this.#leaf, rest);
      }
      this.#leaf = undefined;
    }
    if (this.#comment === undefined) return this.#readBlock(rest, depth);
    this.#closeTo(0);
    this.#noteComment({ ...rest, at: 0 });
    return true;
  }

  /** How much of what is around goes on in a line, and the offset behind its marks. */
  #inside(text: string): { readonly at: number; readonly depth: number } {
    let at = 0;
    let start = filledFrom(text, at);
    let quotes = 0;
    for (const [depth, width] of this.#around.entries()) {
      const isQuote = width === 0;
      if (!isQuote && start === text.length) {
        return { at, depth: this.#quotes[quotes] ?? this.#around.length - Number(this.#isItemEmpty) };
      }
      if (isQuote ? !isQuoteMark(text, at, start) : start - at < width) return { at, depth };
      if (isQuote) {
        at = behindQuoteMark(text, start);
        start = filledFrom(text, at);
        quotes++;
      } else at += width;
    }
    return { at, depth: this.#around.length };
  }

  /** Reads what begins in a line: quotes and items, and the block inside of them. */
  #readBlock({ line, text, at }: Rest, depth: number): boolean {
    let isParagraph = this.#leaf === "paragraph";
    let isItem = false;
    let noBreak = 0;
    for (;;) {
      const start = filledFrom(text, at);
      const isIndented = start - at > 3;
      if (start === text.length || (isIndented && !isParagraph)) {
        this.#isItemEmpty = isItem && start === text.length;
        return this.#endBlock(depth);
      }
      const rest = { line, text, at: start };
      if (isIndented) return this.#readText(rest, { depth, isParagraph });
      const isOwn = isParagraph && depth === this.#around.length;
      if (isOwn && matchAt(UNDERLINE, text, start) !== undefined) return this.#endBlock(depth);
      if (start >= noBreak && matchAt(BREAK, text, start) !== undefined) {
        noBreak = BREAK.lastIndex;
        if (noBreak === text.length && THREE.test(text.slice(start))) return this.#endBlock(depth);
      }
      isItem = text[start] !== ">";
      const width = isItem ? itemWidth(text, start, isOwn) : 0;
      if (width === undefined) return this.#readLeaf(rest, { depth, isParagraph, indent: start - at });
      this.#open(isItem ? start - at + width : 0, depth);
      at = isItem ? start + width : behindQuoteMark(text, start);
      depth = this.#around.length;
      isParagraph = false;
    }
  }

  #readLeaf(rest: Rest, { indent, ...place }: TextPlace & { readonly indent: number }): boolean {
    const { text, at, line } = rest;
    const run = matchAt(FENCE, text, at)?.[0];
    if (run !== undefined) {
      this.#closeTo(place.depth);
      const closing = " ".repeat(indent) + run;
      this.#leaf = { line, kind: "fence", closing, endIn: fenceEnd(run) };
      return true;
    }
    const html = htmlAt(rest, place.isParagraph);
    if (html !== undefined) {
      this.#closeTo(place.depth);
      return this.#readRaw(html, rest);
    }
    if (matchAt(HEADING, text, at) === undefined) return this.#readText(rest, place);
    this.#noteComment(rest);
    return this.#endBlock(place.depth);
  }

  /** A line of a paragraph; one that is there goes on even where marks of what is around it are missing. */
  #readText(rest: Rest, { depth, isParagraph }: TextPlace): boolean {
    if (!isParagraph) this.#closeTo(depth);
    this.#leaf = "paragraph";
    this.#noteComment(rest);
    return false;
  }

  #readRaw(region: Region, rest: Rest): boolean {
    const end = region.endIn?.(rest.text, rest.at);
    this.#leaf = end === undefined || end < 0 ? region : undefined;
    if (end !== -1) this.#noteComment({ ...rest, at: end ?? rest.at });
    return true;
  }

  #endBlock(depth: number): boolean {
    this.#closeTo(depth);
    this.#leaf = undefined;
    return false;
  }

  #open(width: number, depth: number): void {
    this.#closeTo(depth);
    if (width === 0) this.#quotes.push(depth);
    this.#around.push(width);
  }

  #closeTo(depth: number): void {
    this.#around.length = depth;
    while ((this.#quotes.at(-1) ?? -1) >= depth) this.#quotes.pop();
  }

  /** Looks whether a comment is open behind a line. Code spans are looked for within the line. */
  #noteComment({ line, text, at }: Rest): void {
    if (this.#comment !== undefined) {
      const end = text.indexOf("-->", at);
      if (end < 0) return;
      this.#comment = undefined;
      at = end + 3;
    }
    if (!text.includes("<!--", at)) return;
    const lastRuns = new Map(Array.from(text.matchAll(/`+/g), ({ 0: run, index }) => [run.length, index]));
    let ticks = 0;
    INLINE.lastIndex = at;
    for (let found = INLINE.exec(text); found !== null; found = INLINE.exec(text)) {
      const { 0: token, index } = found;
      if (token.startsWith("`")) {
        if (ticks === token.length) ticks = 0;
        else if (ticks === 0 && (lastRuns.get(token.length) ?? 0) > index) ticks = token.length;
      } else if (ticks === 0 && token === "<!--") {
        const end = text.indexOf("-->", index + 2);
        if (end < 0) {
          this.#comment = line;
          return;
        }
        INLINE.lastIndex = end + 3;
      }
    }
  }
}

interface TextPlace {
  readonly depth: number;
  /** Whether a paragraph is open that the line may go on with. */
  readonly isParagraph: boolean;
}

const NOTHING_AROUND: TextPlace = { depth: 0, isParagraph: false };

/** What most lines begin with, and no block but a paragraph. */
const PLAIN = /^[a-z]/i;
const UNDERLINE = /(?:=+|-+) *$/y;
const BREAK = /([-*_])(?: *\1)* */y;
const THREE = /^(?:[^ ] *){3}/;
const FENCE = /`{3,}(?!.*`)|~{3,}/y;
const HEADING = /#+(?: |$)/y;
const ITEM = /([-+*]|(\d{1,9})[.)])(?: +|$)/y;
/** A backslash keeps a comment from being one; of backticks it is not asked, since it may be the last of a code span. */
const INLINE = /\\[^`]|`+|<!--/g;

/** HTML that goes on to an end of its own, by how it begins. */
const HTML_ENDS: ReadonlyMap<string, string> = new Map([
  ["<!--", "-->"],
  ["<?", "?>"],
  ["<![CDATA[", "]]>"],
]);
const HTML = /<(?:!--|\?|!\[CDATA\[|![A-Za-z])/y;
const RAW_TAG = /<(script|pre|style|textarea)(?=[\s>]|$)/iy;
const RAW_END = /<\/(?:script|pre|style|textarea)>/gi;
const BLOCK_TAG = new RegExp(
  "</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|" +
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|" +
    "nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)" +
    "(?=\\s|/?>|$)",
  "iy",
);
const LONE_TAG =
  /<(?:[a-z][a-z0-9-]*(?:\s+[a-z_:][a-z0-9:._-]*(?:\s*=\s*(?:[^"'=<>`\s]+|'[^']*'|"[^"]*"))?)*\s*\/?|\/[a-z][a-z0-9-]*\s*)>\s*$/iy;

/** Raw HTML that begins at a place; a tag of any name does so only alone on its line, and not within a paragraph. */
function htmlAt({ line, text, at }: Rest, isParagraph: boolean): Region | undefined {
  if (text[at] !== "<") return undefined;
  const [, name] = matchAt(RAW_TAG, text, at) ?? [];
  if (name !== undefined) return { line, kind: `<${name}>`, closing: `</${name}>`, endIn: rawEnd };
  const [begin] = matchAt(HTML, text, at) ?? [];
  if (begin !== undefined) {
    const closing = HTML_ENDS.get(begin) ?? ">";
    const endIn = (text: string, from: number) => endOf(closing, text.indexOf(closing, from));
    return { line, kind: begin === "<!--" ? "comment" : begin, closing, endIn };
  }
  const isBlock = matchAt(BLOCK_TAG, text, at) ?? (isParagraph ? undefined : matchAt(LONE_TAG, text, at));
  return isBlock && { line, kind: "HTML", closing: "" };
}

function rawEnd(text: string, from: number): number {
  RAW_END.lastIndex = from;
  return RAW_END.test(text) ? RAW_END.lastIndex : -1;
}

function fenceEnd(run: string): (text: string, from: number) => number {
  return (text, from) => matchAt(FENCE_END, text, from)?.[1]?.startsWith(run) === true ? text.length : -1;
}

const FENCE_END = / {0,3}(`{3,}|~{3,}) *$/y;

const endOf = (mark: string, at: number): number => at < 0 ? -1 : at + mark.length;

/** The columns from the mark of a list item to what is in it. Within a paragraph only an item with something in it begins, numbered 1. */
function itemWidth(text: string, at: number, isParagraph: boolean): number | undefined {
  const [all, mark = "", number = "1"] = matchAt(ITEM, text, at) ?? [];
  if (all === undefined) return undefined;
  const isEmpty = at + all.length === text.length;
  if (isParagraph && (isEmpty || Number(number) !== 1)) return undefined;
  return isEmpty || all.length - mark.length > 4 ? mark.length + 1 : all.length;
}

const isQuoteMark = (text: string, at: number, start: number): boolean =>
  start - at < 4 && text[start] === ">";
const behindQuoteMark = (text: string, at: number): number => text[at + 1] === " " ? at + 2 : at + 1;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function filledFrom(text: string, from: number): number {
  let at = from;
  while (text[at] === " ") at++;
  return Math.min(at, text.length);
}

function withoutTabs(line: string): string {
  if (!line.includes("\t")) return line;
  let text = "";
  for (const [at, part] of line.split("\t").entries()) {
    text += at === 0 ? part : " ".repeat(4 - text.length % 4) + part;
  }
  return text;
}

/** The line, without a line end, that closes the fence, raw HTML or comment a text ends in; empty when it ends in none. Linear. */
export function closingLine(text: string): string {
  const lines = new DocumentLines(text);
  const blocks = new MarkdownBlocks(lines);
  for (let line = 0; line < lines.count; line++) blocks.read(line);
  return blocks.open?.closing ?? "";
}
