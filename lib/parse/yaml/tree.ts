// The library's own conversion is not used: it follows an alias into its own anchor, and tells no place of what it refuses.
import type { Alias, Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { losesDigits } from "../../core/core.ts";
import type { YamlLibrary } from "./library.ts";
import { repeatedKeyMessage, YamlProblem, type YamlRange, type YamlSource } from "./problem.ts";

const BARE = /^[-+.\w]+$/;
const DECIMAL = /^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)$/;

/** A number for templates: a decimal one that would be printed otherwise than it is written is its text, `3.10`. */
export function printableNumber(value: number, written: string): number | string {
  return written !== String(value) && DECIMAL.test(written) ? written : value;
}

/** The way to a part of a document: keys, and numbers of items from 0. */
export type YamlPath = readonly (string | number)[];

const MERGE = {
  message: 'Found the merge key "<<", which YAML 1.2 does not have',
  hint: "Write the keys out; a key of that name needs quotes.",
};

const MAX_DEPTH = 200;
/** How many values the aliases of a document may stand for, those inside others counted each time. */
const MAX_ALIASED = 10_000;

/** A value and how many values it is made of. */
interface Read {
  readonly value: unknown;
  readonly size: number;
}

const NOTHING: Read = { value: null, size: 1 };

/** The nodes of a document as plain data, and where its parts stand. */
export class YamlTree {
  /** Plain data; null for an empty document. */
  readonly value: unknown;
  /** Keys written twice, and aliases or levels beyond the bounds; when there are any the value is not whole. */
  readonly problems: YamlProblem[] = [];
  /** Numbers that were taken as text, since a value would not have all of their digits. */
  readonly digits: YamlRange[] = [];
  readonly #root: Node | null;
  readonly #library: YamlLibrary;
  readonly #source: YamlSource;
  /** By anchor; without `read` while the anchor's own node is still being read. */
  readonly #anchors = new Map<string, { readonly node: Node; readonly read?: Read }>();
  /** What each alias stands for. */
  readonly #targets = new Map<Alias, Node>();
  readonly #pairs = new Map<YAMLMap, ReadonlyMap<string, Pair>>();
  #aliased = 0;

  constructor(root: Node | null, library: YamlLibrary, source: YamlSource) {
    this.#root = root;
    this.#library = library;
    this.#source = source;
    this.value = this.#read(root, 0).value;
  }

  #read(node: Node | null, depth: number): Read {
    const { isAlias, isMap, isSeq, isScalar } = this.#library;
    if (node === null) return NOTHING;
    if (isAlias(node)) return this.#alias(node);
    if (depth > MAX_DEPTH) return this.#tooDeep(node);
    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, { node });
    const read = isMap(node)
      ? this.#map(node, depth)
      : isSeq(node)
      ? this.#list(node, depth)
      : { value: isScalar(node) ? this.#scalar(node) : null, size: 1 };
    if (anchor !== undefined) this.#anchors.set(anchor, { node, read });
    return read;
  }

  /** Where the key or the value of a part stands. */
  rangeOf(path: YamlPath, what: "key" | "value"): YamlRange | undefined {
    const { isAlias, isMap, isSeq } = this.#library;
    let key = this.#root;
    let here = key;
    for (const segment of path) {
      const holder = isAlias(here) ? this.#targets.get(here) : here;
      if (isMap(holder)) {
        const pair = this.#pairsOf(holder).get(String(segment));
        if (pair === undefined) return undefined;
        key = this.#nodeOf(pair.key);
        here = this.#nodeOf(pair.value);
      } else if (isSeq(holder) && holder.items[Number(segment)] !== undefined) {
        key = here = this.#nodeOf(holder.items[Number(segment)]);
      } else return undefined;
    }
    return (what === "key" ? key : here ?? key)?.range ?? undefined;
  }

  /** A scalar as it is written, so that 1.10 stays 1.10; undefined for other values, and where an alias stands. */
  written(path: YamlPath): string | undefined {
    const [from, to] = this.rangeOf(path, "value") ?? [0, 0];
    const source = this.#source.text.slice(from, to);
    return BARE.test(source) ? source : undefined;
  }

  /** The way to the innermost part that stands around an offset. Aliases are not followed. */
  pathAt(offset: number, node = this.#root): YamlPath {
    if (node === null || node.range?.[0] === offset) return [];
    const { isMap, isScalar, isSeq } = this.#library;
    const parts: readonly (readonly [string | number, unknown])[] = isSeq(node)
      ? [...node.items.entries()]
      : isMap(node)
      ? node.items.filter(({ key }) => isScalar(key)).map((pair) => [this.#keyOf(pair), pair.value])
      : [];
    const isAround = (part: unknown) => {
      const [start, end] = this.#nodeOf(part)?.range ?? [0, 0];
      return start <= offset && offset < end;
    };
    const [key, inner] = parts.find(([, part]) => isAround(part)) ?? [];
    return key === undefined ? [] : [key, ...this.pathAt(offset, this.#nodeOf(inner))];
  }

  /** The keys at the top with the ranges of what they have, in their order. */
  get keys(): readonly (readonly [string, YamlRange])[] {
    if (!this.#library.isMap(this.#root)) return [];
    return this.#root.items.map((pair) => {
      const [start = 0, keyEnd = 0] = this.#nodeOf(pair.key)?.range ?? [];
      const [, end = keyEnd] = this.#nodeOf(pair.value)?.range ?? [];
      return [this.#keyOf(pair), [start, end]];
    });
  }

  /** By key, of keys written twice the first. */
  #pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
    const pairs = this.#pairs.get(map) ??
      new Map(map.items.toReversed().map((pair) => [this.#keyOf(pair), pair]));
    this.#pairs.set(map, pairs);
    return pairs;
  }

  #map(node: YAMLMap, depth: number): Read {
    const value: Record<string, unknown> = {};
    const ranges = new Map<string, YamlRange>();
    let size = 1;
    for (const pair of node.items) {
      const key = this.#keyOf(pair);
      const range = this.#nodeOf(pair.key)?.range ?? node.range ?? [0, 1];
      const first = ranges.get(key);
      if (first !== undefined) this.#writtenTwice(key, range, first);
      ranges.set(key, first ?? range);
      if (this.#isMerge(pair)) this.#refuse(this.#nodeOf(pair.key) ?? node, MERGE);
      const part = this.#read(this.#nodeOf(pair.value), depth + 1);
      size += part.size;
      if (first !== undefined) continue; // what is told of it is the first
      // Defined, not assigned: "__proto__" becomes a plain key.
      Object.defineProperty(value, key, {
        value: part.value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return { value, size };
  }

  /** A phone number or a zip is no number, whatever YAML says of `0041791234567`. */
  #scalar({ value, source = "", tag, range }: Scalar): unknown {
    const isNumber = typeof value === "number" && tag === undefined && DECIMAL.test(source);
    if (!isNumber || !(/^[-+]?0[0-9]/.test(source) || losesDigits(source))) return value;
    this.digits.push(range ?? [0, 1]);
    return source;
  }

  #list(node: YAMLSeq, depth: number): Read {
    const parts = node.items.map((item) => this.#read(this.#nodeOf(item), depth + 1));
    return {
      value: parts.map(({ value }) => value),
      size: parts.reduce((total, { size }) => total + size, 1),
    };
  }

  #alias(alias: Alias): Read {
    const name = alias.source;
    const anchor = this.#anchors.get(name);
    const size = anchor?.read?.size ?? 0;
    const why = anchor === undefined
      ? `no "&${name}" comes before it`
      : anchor.read === undefined
      ? "it would hold itself"
      : (this.#aliased += size) > MAX_ALIASED
      ? `the aliases of this file would stand for more than ${MAX_ALIASED} values`
      : undefined;
    // The bound is told once: the aliases after it are beyond it too.
    if (this.#aliased - size > MAX_ALIASED) return NOTHING;
    if (anchor?.read === undefined || why !== undefined) {
      const hint = 'Write the value out; a text that begins with "*" needs quotes.';
      return this.#refuse(alias, { message: `Cannot read the alias "*${name}": ${why}`, hint });
    }
    this.#targets.set(alias, anchor.node);
    return anchor.read;
  }

  #writtenTwice(key: string, range: YamlRange, first: YamlRange): void {
    const { line: firstLine } = this.#source.spanOf(first);
    const message = repeatedKeyMessage(key, firstLine);
    const hint = "Remove one of them, or join their values.";
    this.problems.push(new YamlProblem(this.#source, range, { message, hint, repeated: { key, firstLine } }));
  }

  #tooDeep(node: Node): Read {
    const message = `Found more than ${MAX_DEPTH} levels of YAML inside each other`;
    return this.#refuse(node, { message, hint: "Make it flatter." });
  }

  #refuse(node: Node, say: { readonly message: string; readonly hint: string }): Read {
    this.problems.push(new YamlProblem(this.#source, node.range ?? [0, 1], say));
    return NOTHING;
  }

  /** Taken as a plain key, it would be a part that nobody meant. */
  #isMerge({ key }: Pair): boolean {
    return this.#library.isScalar(key) && key.value === "<<" && key.type === "PLAIN";
  }

  /** Keys are text: `stringKeys` has made sure of it. */
  #keyOf(pair: Pair): string {
    return this.#library.isScalar(pair.key) ? String(pair.key.value ?? "") : String(pair.key ?? "");
  }

  #nodeOf(item: unknown): Node | null {
    return this.#library.isNode(item) ? item : null;
  }
}
