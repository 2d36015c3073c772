// JSONPath of our own (RFC 9535): the packages for it get filters wrong, or take no account of what a value from outside costs them. The
// reader below is an image of the grammar; each of its functions gives what the part that it read does with a value. All work is counted:
// a path that is harmless for most values would keep the process busy for hours with another.
import { didYouMean, isJsonObject, type Json, placeInWords, spanAt } from "../core/core.ts";

/** A JSONPath that has been read. */
export interface JsonPath {
  /**
   * All that it selects, in order; the same value twice where it is selected twice.
   *
   * @throws {Error} when that takes more than ten million steps: `it takes …`
   */
  select(value: Json): readonly Json[];
}

/**
 * Reads a JSONPath (RFC 9535). A regular expression that could run without end, and one that is not written out, are problems.
 *
 * @returns `problem` is a sentence, `found "x" at column 3, expected …`; `offset` is where, from 0
 */
export function parseJsonPath(
  text: string,
): { readonly ok: JsonPath } | { readonly problem: string; readonly offset: number } {
  try {
    const { select } = new PathReader(text).path();
    return { ok: { select: (value) => select(value, new Work(value)) } };
  } catch (error) {
    if (!(error instanceof PathProblem)) throw error;
    return { problem: error.message, offset: error.offset };
  }
}

/** About a second or two. */
const MAX_STEPS = 10_000_000;
/** Steps of a regular expression are so much shorter than ours. */
const PATTERN_STEPS = 50;
/** Filters and calls in one another; deeper ones are an attack on the stack. */
const MAX_DEPTH = 100;

/** The work on one value. */
class Work {
  readonly root: Json;
  #steps = 0;

  constructor(root: Json) {
    this.root = root;
  }

  /** @throws {Error} when it is too much */
  count(steps = 1): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) {
      throw new Error(`it takes more than ${MAX_STEPS.toLocaleString("en")} steps on a value of this size`);
    }
  }
}

type Maybe = Json | undefined;
/** What a query or a part of it selects, beginning at an item. */
type Select = (item: Json, work: Work) => readonly Json[];
type Test = (item: Json, work: Work) => boolean;
type Value = (item: Json, work: Work) => Maybe;

interface Query {
  readonly select: Select;
  /** It selects one value at most. */
  readonly isSingular: boolean;
}

/** A call of a function, which is either a test or a value. */
type Call =
  & { readonly name: string; readonly offset: number }
  & ({ readonly test: Test } | { readonly value: Value });

/** Why a text is no JSONPath. */
class PathProblem extends Error {
  /** Where, from 0. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const ADVICE = ' A JSONPath begins with "$", such as $.items[0].name.';
const NAME = /[A-Za-z_\u{80}-\u{d7ff}\u{e000}-\u{10ffff}][A-Za-z0-9_\u{80}-\u{d7ff}\u{e000}-\u{10ffff}]*/uy;
const FUNCTIONS: readonly string[] = ["length", "count", "match", "search", "value"];
const COMPARISONS = ["==", "!=", "<=", ">=", "<", ">"] as const;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["/", "/"],
  ["\\", "\\"],
]);

/** The grammar of RFC 9535, appendix A. Its methods throw `PathProblem`. */
class PathReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  path(): Query {
    if (!this.#take("$")) this.#refuse(this.#found(), 0, `.${ADVICE}`);
    const query = this.#segments(false);
    if (this.#at < this.#text.length) this.#fail('".", "[" or the end');
    return query;
  }

  #maybeQuery(): Query | undefined {
    const isRelative = this.#take("@");
    return isRelative || this.#take("$") ? this.#segments(isRelative) : undefined;
  }

  #segments(isRelative: boolean): Query {
    const segments: Query[] = [];
    while (true) {
      const start = this.#at;
      this.#skipBlanks();
      const segment = this.#maybeSegment();
      if (segment === undefined) {
        this.#at = start; // blanks that no segment follows are not the query's
        break;
      }
      segments.push(segment);
    }
    const select: Select = (item, work) =>
      segments.reduce(
        (nodes: readonly Json[], segment) => nodes.flatMap((node) => segment.select(node, work)),
        [isRelative ? item : work.root],
      );
    return { select, isSingular: segments.every(({ isSingular }) => isSingular) };
  }

  #maybeSegment(): Query | undefined {
    const isDescendant = this.#take("..");
    const selectors = this.#maybeBrackets() ?? this.#maybeShort(isDescendant);
    if (selectors === undefined) return undefined;
    const [only] = selectors;
    const select: Select = (node, work) => selectors.flatMap((selector) => selector.select(node, work));
    return {
      select: isDescendant
        ? (top, work) => descendants(top, work).flatMap((node) => select(node, work))
        : selectors.length === 1 && only !== undefined
        ? only.select
        : select,
      isSingular: !isDescendant && selectors.length === 1 && only?.isSingular === true,
    };
  }

  #maybeShort(isDescendant: boolean): readonly Query[] | undefined {
    if (!isDescendant && !this.#take(".")) return undefined;
    if (this.#take("*")) return [WILDCARD];
    return [named(this.#match(NAME) ?? this.#fail(isDescendant ? 'a name, "*" or "["' : 'a name or "*"'))];
  }

  #maybeBrackets(): readonly Query[] | undefined {
    if (!this.#take("[")) return undefined;
    const selectors: Query[] = [];
    do {
      this.#skipBlanks();
      selectors.push(this.#selector());
      this.#skipBlanks();
    } while (this.#take(","));
    if (!this.#take("]")) this.#fail('"," or "]"');
    return selectors;
  }

  #selector(): Query {
    if (this.#take("*")) return WILDCARD;
    if (this.#take("?")) {
      const test = this.#nested(() => this.#any());
      return several((node, work) => childrenOf(node).filter((child) => test(child, work)));
    }
    const name = this.#maybeText();
    if (name !== undefined) return named(name);
    return this.#maybeIndexOrSlice() ?? this.#fail('a selector such as 0, 1:3, "name", * or ?@.price < 10');
  }

  #maybeIndexOrSlice(): Query | undefined {
    const index = this.#maybeInteger();
    const behind = this.#at;
    this.#skipBlanks();
    if (this.#take(":")) return this.#slice(index);
    this.#at = behind;
    return index === undefined ? undefined : indexed(index);
  }

  #slice(start: number | undefined): Query {
    this.#skipBlanks();
    const end = this.#maybeInteger();
    this.#skipBlanks();
    let step: number | undefined;
    if (this.#take(":")) {
      this.#skipBlanks();
      step = this.#maybeInteger();
    }
    return several((node) => Array.isArray(node) ? sliceOf(node, { start, end, step: step ?? 1 }) : []);
  }

  #any(): Test {
    const tests = this.#joined("||", () => this.#all());
    return (item, work) => tests.some((test) => test(item, work));
  }

  #all(): Test {
    const tests = this.#joined("&&", () => this.#basic());
    return (item, work) => tests.every((test) => test(item, work));
  }

  /** One or more of what `read` reads, with the operator between them. */
  #joined(operator: string, read: () => Test): readonly Test[] {
    const tests: Test[] = [];
    do {
      this.#skipBlanks();
      const test = read();
      tests.push((item, work) => {
        work.count();
        return test(item, work);
      });
      this.#skipBlanks();
    } while (this.#take(operator));
    return tests;
  }

  #basic(): Test {
    if (!this.#take("!")) return this.#maybeParenthesized() ?? this.#comparisonOrTest();
    this.#skipBlanks();
    const test = this.#maybeParenthesized() ?? this.#standing();
    return (item, work) => !test(item, work);
  }

  #maybeParenthesized(): Test | undefined {
    if (!this.#take("(")) return undefined;
    const test = this.#nested(() => this.#any());
    this.#expect(")");
    return test;
  }

  /** What is a test by itself, and is not compared. */
  #standing(): Test {
    const call = this.#maybeCall();
    if (call !== undefined) return this.#testOf(call);
    return exists(this.#maybeQuery() ?? this.#fail("a test such as @.name, or one in parentheses"));
  }

  #comparisonOrTest(): Test {
    const start = this.#at;
    const literal = this.#maybeLiteral();
    const call = literal === undefined ? this.#maybeCall() : undefined;
    const query = literal === undefined && call === undefined ? this.#maybeQuery() : undefined;
    this.#skipBlanks();
    const operator = COMPARISONS.find((token) => this.#take(token));
    if (operator === undefined) {
      if (call !== undefined) return this.#testOf(call);
      if (query !== undefined) return exists(query);
      return this.#fail(literal === undefined ? "a test such as @.name or @.price < 10" : "a comparison");
    }
    const left = literal ?? (call && this.#valueOf(call)) ?? (query && this.#one(query, start));
    if (left === undefined) {
      this.#at = start;
      return this.#fail("a value in front of the comparison");
    }
    this.#skipBlanks();
    const right = this.#value();
    return (item, work) => compare(left(item, work), operator, right(item, work), work);
  }

  /** A value: written out, of a query that selects one at most, or of a function. */
  #value(): Value {
    const start = this.#at;
    const literal = this.#maybeLiteral();
    if (literal !== undefined) return literal;
    const call = this.#maybeCall();
    if (call !== undefined) return this.#valueOf(call);
    return this.#one(this.#maybeQuery() ?? this.#fail('a value such as "text", 10 or @.name'), start);
  }

  #one({ select, isSingular }: Query, offset: number): Value {
    if (isSingular) return (item, work) => select(item, work)[0];
    return this.#refuse(
      "a query that can select several values",
      offset,
      ", expected one of a single value, such as @.name[0].",
    );
  }

  #maybeLiteral(): Value | undefined {
    const text = this.#maybeText();
    if (text !== undefined) return () => text;
    const json = this.#match(/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?/iy) ??
      this.#match(/(?:true|false|null)(?![A-Za-z0-9_(])/y);
    if (json === undefined) return undefined;
    const value: Json = JSON.parse(json);
    return () => value;
  }

  #maybeCall(): Call | undefined {
    const offset = this.#at;
    const name = this.#match(/[a-z][a-z0-9_]*(?=\()/y);
    if (name === undefined) return undefined;
    if (!FUNCTIONS.includes(name)) {
      const near = didYouMean(name, FUNCTIONS) || ` The functions are ${FUNCTIONS.join(", ")}.`;
      this.#refuse(`the function "${name}", which JSONPath does not have`, offset, `.${near}`);
    }
    this.#expect("(");
    this.#skipBlanks();
    const call = this.#nested((): Call => {
      if (name === "match" || name === "search") return { name, offset, test: this.#pattern(name, offset) };
      return { name, offset, value: name === "length" ? lengthOf(this.#value()) : this.#ofNodes(name) };
    });
    this.#skipBlanks();
    this.#expect(")");
    return call;
  }

  #ofNodes(name: string): Value {
    const { select } = this.#maybeQuery() ?? this.#fail(`a query for ${name}, such as @.items[*]`);
    if (name === "count") return (item, work) => select(item, work).length;
    return (item, work) => {
      const nodes = select(item, work);
      return nodes.length === 1 ? nodes[0] : undefined;
    };
  }

  #pattern(name: string, offset: number): Test {
    const value = this.#value();
    this.#skipBlanks();
    this.#expect(",");
    this.#skipBlanks();
    const text = this.#maybeText() ??
      this.#refuse(`a pattern of ${name} that is not written out, expected text in quotes`, offset);
    const pattern = readPattern(text, { isWhole: name === "match" });
    if ("refused" in pattern) return this.#refuse(pattern.refused, offset);
    const { expression, power, ways } = pattern;
    return (item, work) => {
      const found = value(item, work);
      if (typeof found !== "string") return false;
      work.count(Math.max(1, found.length) ** power * ways / PATTERN_STEPS);
      return expression.test(found);
    };
  }

  #testOf(call: Call): Test {
    if ("test" in call) return call.test;
    return this.#refuse(`${call.name}(...) alone`, call.offset, ", expected a comparison of its value.");
  }

  #valueOf(call: Call): Value {
    if ("value" in call) return call.value;
    const rest = ": it is a test and stands alone.";
    return this.#refuse(`${call.name}(...) where a value is needed`, call.offset, rest);
  }

  /** Text in either kind of quotes. */
  #maybeText(): string | undefined {
    const quote = this.#match(/["']/y);
    if (quote === undefined) return undefined;
    let text = "";
    while (true) {
      // All but the controls below the blank, quotes, the backslash and halves of surrogate pairs.
      text += this.#match(/[ !#-&(-[\]-\u{d7ff}\u{e000}-\u{10ffff}]*/uy) ?? "";
      if (this.#take(quote)) return text;
      if (this.#take("\\")) text += this.#escaped(quote);
      else text += this.#match(/["']/y) ?? this.#fail(`the end of a text in ${quote}`);
    }
  }

  #escaped(quote: string): string {
    const character = this.#text.charAt(this.#at);
    const meant = character === quote ? quote : ESCAPES.get(character);
    if (meant !== undefined) {
      this.#at++;
      return meant;
    }
    const code = this.#match(/u(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(?!d[89a-f])[0-9a-f]{4})/iy);
    return code === undefined
      ? this.#fail(`an escape such as \\n, \\u00e9 or \\${quote}`)
      : String.fromCharCode(...code.split("\\").map((unit) => parseInt(unit.slice(1), 16)));
  }

  /** A whole number that a double holds exactly. */
  #maybeInteger(): number | undefined {
    const start = this.#at;
    const digits = this.#match(/0|-?[1-9][0-9]*/y);
    if (digits === undefined) return undefined;
    if (Number.isSafeInteger(Number(digits))) return Number(digits);
    return this.#refuse(`the number ${digits}`, start, ", expected one from -(2^53)+1 to 2^53-1.");
  }

  /** Goes behind the token where it is next. */
  #take(token: string): boolean {
    const isNext = this.#text.startsWith(token, this.#at);
    if (isNext) this.#at += token.length;
    return isNext;
  }

  /** Goes behind what a sticky expression matches; undefined where it does not. */
  #match(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  /** The four characters that are blank in a path. */
  #skipBlanks(): void {
    this.#match(/[ \t\n\r]*/y);
  }

  #expect(token: string): void {
    if (!this.#take(token)) this.#fail(`"${token}"`);
  }

  /** Reads what may hold more of its kind. */
  #nested<Part>(read: () => Part): Part {
    if (++this.#depth > MAX_DEPTH) this.#refuse(`more than ${MAX_DEPTH} levels`, this.#at);
    const part = read();
    this.#depth--;
    return part;
  }

  /** The next character as a message names it. */
  #found(): string {
    const code = this.#text.codePointAt(this.#at);
    return code === undefined ? "the end" : JSON.stringify(String.fromCodePoint(code));
  }

  #fail(expected: string): never {
    return this.#refuse(this.#found(), this.#at, `, expected ${expected}.`);
  }

  #refuse(found: string, offset: number, rest = "."): never {
    const place = placeInWords(this.#text, spanAt(this.#text, offset));
    throw new PathProblem(`found ${found} at ${place}${rest}`, offset);
  }
}

function named(name: string): Query {
  return {
    isSingular: true,
    select: (node, work) => {
      work.count();
      return isJsonObject(node) && Object.hasOwn(node, name) ? [node[name] ?? null] : [];
    },
  };
}

function indexed(index: number): Query {
  return {
    isSingular: true,
    select: (node, work) => {
      work.count();
      const item = Array.isArray(node) ? node.at(index) : undefined;
      return item === undefined ? [] : [item];
    },
  };
}

function several(select: Select): Query {
  return {
    isSingular: false,
    select: (node, work) => {
      const items = select(node, work);
      work.count(1 + items.length);
      return items;
    },
  };
}

const WILDCARD = several(childrenOf);

/** A value and all below it, each before what it holds. */
function descendants(top: Json, work: Work): readonly Json[] {
  const found: Json[] = [];
  const open = [top];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    work.count();
    found.push(node);
    for (const child of childrenOf(node).toReversed()) open.push(child);
  }
  return found;
}

function childrenOf(node: Json): readonly Json[] {
  if (Array.isArray(node)) return node;
  return isJsonObject(node) ? Object.values(node) : [];
}

/** RFC 9535, 2.3.4.2.2. */
function sliceOf(
  items: readonly Json[],
  { start, end, step }: { readonly start?: number; readonly end?: number; readonly step: number },
): readonly Json[] {
  const { length } = items;
  const within = (at: number, low: number, high: number): number =>
    Math.min(Math.max(at >= 0 ? at : length + at, low), high);
  const found: Json[] = [];
  if (step > 0) {
    const upper = within(end ?? length, 0, length);
    for (let at = within(start ?? 0, 0, length); at < upper; at += step) found.push(items[at] ?? null);
  } else if (step < 0) {
    const lower = end === undefined ? -1 : within(end, -1, length - 1);
    for (let at = within(start ?? length - 1, -1, length - 1); at > lower; at += step) {
      found.push(items[at] ?? null);
    }
  }
  return found;
}

function exists({ select }: Query): Test {
  return (item, work) => select(item, work).length > 0;
}

/** In code points, as RFC 9535 has it. */
function lengthOf(of: Value): Value {
  return (item, work) => {
    const value = of(item, work);
    if (typeof value !== "string") {
      return typeof value === "object" && value !== null ? childrenOf(value).length : undefined;
    }
    work.count(value.length / PATTERN_STEPS);
    return value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
  };
}

/** RFC 9535, 2.3.5.2.2: nothing is the same as nothing, and only two numbers or two texts have an order. */
function compare(left: Maybe, operator: typeof COMPARISONS[number], right: Maybe, work: Work): boolean {
  if (operator === "!=") return !isSame(left, right, work);
  const [a, b] = operator.startsWith(">") ? [right, left] : [left, right];
  const isLess = operator !== "==" &&
    (typeof a === "number" && typeof b === "number"
      ? a < b
      : typeof a === "string" && typeof b === "string" && compareTexts(a, b) < 0);
  return isLess || operator.endsWith("=") && isSame(a, b, work);
}

/** Below 0 when `a` comes first by code points, as RFC 9535 wants it and `<` does not have it beyond U+FFFF. */
function compareTexts(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}

/** Whether two JSON values are the same as data; undefined is nothing, which is the same as nothing only. */
function isSame(left: Maybe, right: Maybe, work: Work): boolean {
  const open: (readonly [Maybe, Maybe])[] = [[left, right]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    work.count();
    const [a, b] = pair;
    if (a === b) continue;
    if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
      for (const [at, item] of a.entries()) open.push([item, b[at]]);
    } else if (isObject(a) && isObject(b) && Object.keys(a).length === Object.keys(b).length) {
      for (const [key, item] of Object.entries(a)) {
        if (!Object.hasOwn(b, key)) return false;
        open.push([item, b[key]]);
      }
    } else return false;
  }
  return true;
}

function isObject(value: Maybe): value is { readonly [key: string]: Json } {
  return value !== undefined && isJsonObject(value);
}

// match() and search() end in JavaScript's own regular expressions, which can take longer than the universe lasts and cannot be
// stopped: a pattern that could is refused, and what is left is known to take a power of the length of a text.

const MAX_REPETITIONS = 3;

/** The pattern of `match` or `search`. */
interface Pattern {
  readonly expression: RegExp;
  /** The highest power of the length of a text that looking for it can take. */
  readonly power: number;
  /** What that is multiplied with. */
  readonly ways: number;
}

/** A pattern ready to run, or why it is not: words behind `found`. `isWhole`: all of the text has to match, as for `match`. */
function readPattern(
  pattern: string,
  { isWhole }: { readonly isWhole: boolean },
): Pattern | { readonly refused: string } {
  const shape = pattern.replaceAll(/\\./gs, "x").replaceAll(/\[[^\]]*\]/g, "x");
  if (/\)(?:[*+]|\{)/.test(shape)) {
    return { refused: "a pattern that repeats a group, which can run without end" };
  }
  const repetitions = shape.match(/[*+]|\{\d*,\d*\}/g)?.length ?? 0;
  if (repetitions > MAX_REPETITIONS) {
    return {
      refused: `a pattern with ${repetitions} open repetitions, at most ${MAX_REPETITIONS} are run`,
    };
  }
  const expression = compiled(isWhole ? `^(?:${withDots(pattern)})$` : withDots(pattern));
  if (expression === undefined) return { refused: "a pattern that is no regular expression" };
  const again = /\\[1-9k]/.test(pattern) ? 1 : 0; // what was found is looked for once more
  return {
    expression,
    power: Math.max(1, repetitions + (isWhole ? 0 : 1) + again),
    ways: waysThrough(shape),
  };
}

const PART = /\((?:\?(?:<?[=!]|:|<[^>]*>))?|[)|]|(?:[*+?]|\{[^}]*\})\??|./gs;

/** In how many ways a text can be gone through besides its open repetitions: each choice, and each "?", multiplies them. */
function waysThrough(shape: string): number {
  const levels = [{ others: 0, before: 1, part: 1 }];
  for (const [token] of shape.matchAll(PART)) {
    const level = levels.at(-1) ?? { others: 0, before: 1, part: 1 };
    const ways = level.before * level.part;
    if (token.startsWith("(")) levels.push({ others: 0, before: 1, part: 1 });
    else if (token === ")") {
      levels.pop();
      const around = levels.at(-1);
      if (around !== undefined) {
        [around.before, around.part] = [around.before * around.part, level.others + ways];
      }
    } else if (token === "|") [level.others, level.before, level.part] = [level.others + ways, 1, 1];
    else if (token.startsWith("?")) level.part++;
    else if (!/^[*+{]/.test(token)) [level.before, level.part] = [ways, 1];
  }
  const [{ others, before, part } = { others: 0, before: 1, part: 1 }] = levels;
  return Math.min(others + before * part, Number.MAX_SAFE_INTEGER);
}

/** In I-Regexp (RFC 9485, 5.3) a dot is everything but the two ends of a line. */
function withDots(pattern: string): string {
  return pattern.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]|\./gs, (part) => part === "." ? "[^\\n\\r]" : part);
}

function compiled(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "u");
  } catch {
    return undefined;
  }
}
