import { isRecord, ParseError, type ParseIssue, PromptError } from "../core/core.ts";
import type { FieldPath } from "../parse/yaml/front_matter.ts";
import { shown } from "../schema/issue.ts";
import type { ParseCtx, Parser } from "./prompt.ts";
import { type Refuse, throwFirst } from "./prompt_problem.ts";

/**
 * A parser that takes tags, code blocks and signals out of an answer, and refuses an answer without the required ones (prompts.md 3).
 *
 * ```ts
 * import { ParseError, tags } from "orrery";
 *
 * const review = tags({ requiredXmlTags: ["answer"], mdTags: ["ts"], signalTags: ["DONE"] });
 * const { xmlTags, mdTags, signalTags } = review.parse("<answer>42</answer> <DONE>");
 * console.log(xmlTags.answer[0], mdTags.ts.length, signalTags.DONE); // => 42 0 true
 *
 * const score = tags({ requiredXmlTags: ["score"] }).refine(({ xmlTags }) => {
 *   const score = Number(xmlTags.score[0]);
 *   if (Number.isNaN(score)) throw new ParseError(`<score> must be a number, got ${xmlTags.score[0]}`);
 *   return { score };
 * });
 * console.log(await score.parse("<score>0.5</score>")); // => { score: 0.5 }
 * ```
 *
 * @throws {PromptError} `define` for a key or a tag name that is none.
 */
export function tags<
  const X extends string = never,
  const Q extends string = never,
  const M extends string = never,
  const N extends string = never,
  const S extends string = never,
>(spec: TagSpec<X, Q, M, N, S>): TagParser<X, Q, M, N, S> {
  return new TagParser(spec);
}

/** The tags that an answer has, or has to have (prompts.md 3). Names are taken literally. */
export interface TagSpec<
  X extends string,
  Q extends string,
  M extends string,
  N extends string,
  S extends string,
> {
  /** Elements `<t>…</t>`, extracted where they are. */
  readonly xmlTags?: readonly X[];
  /** Elements without which an answer is refused. */
  readonly requiredXmlTags?: readonly Q[];
  /** Code blocks by the word behind their opening fence, extracted where they are. */
  readonly mdTags?: readonly M[];
  /** Code blocks without which an answer is refused. */
  readonly requiredMdTags?: readonly N[];
  /** `<t>` alone: is it there? */
  readonly signalTags?: readonly S[];
}

/** What an answer has of the tags of a `TagSpec`: a key for each of them, with an empty list where there is none. */
export interface TagResult<
  X extends string,
  Q extends string,
  M extends string,
  N extends string,
  S extends string,
> {
  /** The answer as it came. */
  raw: string;
  /** The text inside each element, as it is. */
  xmlTags: { [K in X | Q]: K extends Q ? [string, ...string[]] : string[] };
  /** The text of each block, trimmed. */
  mdTags: { [K in M | N]: K extends N ? [string, ...string[]] : string[] };
  signalTags: { [K in S]: boolean };
}

/** A checked `TagSpec`: every list is there, each name in it once, and the required tags are declared, too. */
export interface TagLists {
  readonly xmlTags: readonly string[];
  readonly requiredXmlTags: readonly string[];
  readonly mdTags: readonly string[];
  readonly requiredMdTags: readonly string[];
  readonly signalTags: readonly string[];
}

/** Reads a `TagSpec` that came from anywhere, a file included. */
export function tagLists(spec: unknown, refuse: Refuse = throwFirst): TagLists {
  const wrong = (at: FieldPath, message: string) =>
    refuse(["tags", ...at], new PromptError(`tags: ${message}`, { code: "define" }));
  if (!isRecord(spec)) {
    wrong([], `expected an object such as { requiredXmlTags: ["answer"] }, found ${shown(spec)}`);
    return tagLists({});
  }
  for (const key of Object.keys(spec)) {
    if (!KEYS.includes(key)) wrong([key], `unknown key ${JSON.stringify(key)}`);
  }
  const [xml, requiredXml, md, requiredMd, signals] = KEYS.map((key) => {
    const { [key]: list = [] } = spec;
    if (!Array.isArray(list)) wrong([key], `${key} must be a list of tag names, found ${shown(list)}`);
    const names: readonly unknown[] = Array.isArray(list) ? list : [];
    return names.filter((name, index): name is string => {
      const isFine = typeof name === "string" && TAG_NAME.test(name);
      const found = typeof name === "string" ? JSON.stringify(name) : shown(name);
      if (!isFine) wrong([key, index], `bad tag name ${found} in ${key}`);
      return isFine;
    });
  });
  return Object.freeze({
    xmlTags: unique(xml, requiredXml),
    requiredXmlTags: unique(requiredXml),
    mdTags: unique(md, requiredMd),
    requiredMdTags: unique(requiredMd),
    signalTags: unique(signals),
  });
}

const KEYS: readonly string[] = ["xmlTags", "requiredXmlTags", "mdTags", "requiredMdTags", "signalTags"];

const TAG_NAME = /^(?!\/)[^\s<>`]+$/;

function unique(first: readonly string[] = [], second: readonly string[] = []): readonly string[] {
  return Object.freeze([...new Set([...first, ...second])]);
}

/**
 * The parser that `tags` gives; extend it to check more than tags.
 *
 * ```ts
 * import { ParseError, TagParser } from "orrery";
 *
 * class VerdictParser extends TagParser<never, "verdict"> {
 *   constructor() {
 *     super({ requiredXmlTags: ["verdict"] });
 *   }
 *
 *   override parse(text: string) {
 *     const result = super.parse(text);
 *     const verdict = result.xmlTags.verdict[0];
 *     if (verdict !== "yes" && verdict !== "no") throw new ParseError(`<verdict> must be yes or no, got ${verdict}`);
 *     return { ...result, isYes: verdict === "yes" };
 *   }
 * }
 * console.log(new VerdictParser().parse("<verdict>yes</verdict>").isYes); // => true
 * ```
 */
export class TagParser<
  const X extends string = never,
  const Q extends string = never,
  const M extends string = never,
  const N extends string = never,
  const S extends string = never,
> implements Parser<TagResult<X, Q, M, N, S>> {
  readonly #lists: TagLists;

  /** @throws {PromptError} `define` for a key or a tag name that is none. */
  constructor(spec: TagSpec<X, Q, M, N, S>) {
    this.#lists = tagLists(spec);
    if (new.target === TagParser) Object.freeze(this); // a subclass may have fields of its own
  }

  /** @throws {ParseError} with every required tag that is missing. */
  parse(text: string, _ctx?: ParseCtx): TagResult<X, Q, M, N, S> {
    const { xmlTags, mdTags, signalTags } = this.#lists;
    const { contents, opened } = scanTags(text, [...xmlTags, ...signalTags]);
    const elements = new Map(xmlTags.map((name) => [name, contents.get(name) ?? []]));
    const blocks = blocksOf(text, mdTags);
    const issues = this.#missing(elements, blocks);
    if (issues.length > 0) {
      throw new ParseError(["Parsing errors:", ...issues.map(({ message }) => message)].join("\n"), issues);
    }
    const result: unknown = {
      raw: text,
      xmlTags: Object.fromEntries(elements),
      mdTags: Object.fromEntries(blocks),
      signalTags: Object.fromEntries(signalTags.map((name) => [name, opened.has(name)])),
    };
    return result as TagResult<X, Q, M, N, S>; // its keys are the names of the specification
  }

  /**
   * A parser that goes on with the result: what `change` gives is what the turn gives, and a `ParseError` that it throws is told to the
   * model.
   */
  refine<O>(change: (result: TagResult<X, Q, M, N, S>, ctx?: ParseCtx) => O | Promise<O>): Parser<O> {
    if (typeof change !== "function") {
      throw new PromptError(`tags: refine needs a function (result) => value, found ${shown(change)}`, {
        code: "define",
      });
    }
    return Object.freeze({
      parse: (text: string, ctx?: ParseCtx) => change(this.parse(text, ctx), ctx),
      describe: () => ({ refine: this.describe() }),
    });
  }

  /** The five lists, the required tags among the declared ones. */
  describe(): unknown {
    return this.#lists;
  }

  #missing(
    elements: ReadonlyMap<string, readonly string[]>,
    blocks: ReadonlyMap<string, readonly string[]>,
  ): readonly ParseIssue[] {
    const requiredXml = new Set(this.#lists.requiredXmlTags);
    const requiredMd = new Set(this.#lists.requiredMdTags);
    return [
      ...[...elements].filter(([name, found]) => requiredXml.has(name) && found.length === 0).map((
        [name],
      ) => ({
        path: ["xmlTags", name],
        message: `Missing required tag <${name}>: provide it as <${name}>...</${name}>`,
      })),
      ...[...blocks].filter(([name, found]) => requiredMd.has(name) && found.length === 0).map(([name]) => ({
        path: ["mdTags", name],
        message: `Missing required code block ${name}: provide it as \`\`\`${name} ... \`\`\``,
      })),
    ];
  }
}

function blocksOf(text: string, names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const blocks = new Map<string, string[]>(names.map((name) => [name, []]));
  if (names.length === 0) return blocks;
  for (const { tag, content } of outermostFences(text)) blocks.get(tag)?.push(content);
  return blocks;
}

/** What a text has of the tags that were looked for. */
interface TagScan {
  /** The contents of each element that is closed, by its name. */
  readonly contents: ReadonlyMap<string, readonly string[]>;
  /** The names of all opening tags. */
  readonly opened: ReadonlySet<string>;
}

interface Element {
  readonly contents: string[];
  /** Where the content of the open element begins; -1 when none is open. */
  start: number;
}

/**
 * Finds elements from exactly `<t>` to the next `</t>`, and opening tags, in one walk over the text: its time does not
 * depend on the number of names, nor on what is left open.
 */
function scanTags(text: string, names: Iterable<string>): TagScan {
  const elements = new Map<string, Element>();
  let longest = 0;
  for (const name of names) {
    elements.set(name, { contents: [], start: -1 });
    longest = Math.max(longest, name.length);
  }
  const opened = new Set<string>();
  for (let at = longest === 0 ? -1 : text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
    const isClosing = text.charCodeAt(at + 1) === SLASH;
    const from = isClosing ? at + 2 : at + 1;
    const end = endOfName(text, { from, longest });
    if (text.charCodeAt(end) !== GREATER) continue;
    const name = text.slice(from, end);
    const element = elements.get(name);
    if (element === undefined) continue;
    if (!isClosing) {
      opened.add(name);
      if (element.start < 0) element.start = end + 1;
    } else if (element.start >= 0) {
      element.contents.push(text.slice(element.start, at));
      element.start = -1;
    }
  }
  return { contents: new Map([...elements].map(([name, { contents }]) => [name, contents])), opened };
}

const SLASH = 47;
const LESS = 60;
const GREATER = 62;

/** A name has neither `<` nor `>`, so no part of the text is looked at for two tags. */
function endOfName(
  text: string,
  { from, longest }: { readonly from: number; readonly longest: number },
): number {
  const last = Math.min(text.length, from + longest);
  let end = from;
  while (end < last && text.charCodeAt(end) !== LESS && text.charCodeAt(end) !== GREATER) end++;
  return end;
}

// Not the fences of CommonMark: a model writes them in the middle of a line and behind a closing tag, and a block in a block with the
// same number of backticks. What opens and what closes is told by the character behind a run of backticks alone (prompts.md 3).

/** A code block that is inside no other block. */
interface Fence {
  /** The word right behind the opening run. */
  readonly tag: string;
  /** Trimmed, without the rest of the opening line. */
  readonly content: string;
}

/** The outermost closed blocks of a text, in order; a block that is never closed hides what follows. Linear. */
function outermostFences(text: string): readonly Fence[] {
  const fences: Fence[] = [];
  const open = new OpenRuns();
  let outer = { tag: "", start: 0 };
  for (let at = text.indexOf("```"), end = 0; at >= 0; at = text.indexOf("```", end)) {
    end = endOfRun(text, at);
    const ticks = end - at;
    if (isClosing(text, end)) {
      if (open.close(ticks) && open.isEmpty) {
        fences.push({ tag: outer.tag, content: contentOf(text.slice(outer.start, at)) });
      }
    } else {
      const tagEnd = endOfTag(text, end);
      if (open.isEmpty) outer = { tag: text.slice(end, tagEnd), start: tagEnd };
      open.push(ticks);
      end = tagEnd;
    }
  }
  return fences;
}

/** The lengths of the opening runs of all open blocks, the outermost first. */
class OpenRuns {
  readonly #runs: number[] = [];
  /** The shortest run down to each block: whether any can be closed is known without a search. */
  readonly #shortest: number[] = [];

  get isEmpty(): boolean {
    return this.#runs.length === 0;
  }

  push(ticks: number): void {
    this.#runs.push(ticks);
    this.#shortest.push(Math.min(ticks, this.#shortest.at(-1) ?? ticks));
  }

  /** Closes the innermost block whose run is not longer, with the blocks inside it; false when there is none. */
  close(ticks: number): boolean {
    if ((this.#shortest.at(-1) ?? Infinity) > ticks) return false;
    let run = Infinity;
    while (run > ticks) {
      run = this.#runs.pop() ?? 0;
      this.#shortest.pop();
    }
    return true;
  }
}

const BACKTICK = 96;

function endOfRun(text: string, from: number): number {
  let end = from;
  while (text.charCodeAt(end) === BACKTICK) end++;
  return end;
}

function isClosing(text: string, at: number): boolean {
  return at === text.length || text[at] === "<" || isSpace(text.charCodeAt(at));
}

function endOfTag(text: string, from: number): number {
  let end = from;
  while (!isClosing(text, end) && text.charCodeAt(end) !== BACKTICK) end++;
  return end;
}

/** White space as `trim` has it; `code` is a UTF-16 unit. */
function isSpace(code: number): boolean {
  return code < 0xa0 ? code === 0x20 || (code >= 0x09 && code <= 0x0d) : WIDE_SPACES.has(code);
}

const WIDE_SPACES: ReadonlySet<number> = new Set(
  [0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff],
).union(new Set(Array.from({ length: 11 }, (_, index) => 0x2000 + index)));

function contentOf(text: string): string {
  const lineEnd = text.indexOf("\n");
  return (lineEnd < 0 ? text : text.slice(lineEnd)).trim();
}
