// Most bodies of operations hold nothing but plain lines, and loading the YAML library takes longer than reading hundreds of
// them. What is understood here is exactly what the library would give; anything else is left to it.

/** YAML that is simple enough to be read without a parser. */
export interface PlainYaml {
  readonly value: Readonly<Record<string, unknown>>;
  /** The line of each key, from 1. */
  readonly lines: ReadonlyMap<string, number>;
}

/** A value, and how many lines below that of its key belong to it. */
interface Taken {
  readonly value: unknown;
  readonly count: number;
}

const KEY_LINE = /^([a-z][a-z-]+):(?: (.*))?$/;
/** Begins with a letter, so that it is no number; without what ends a text or begins a comment. */
const WORDS = /^[A-Za-z][\w/.,*()'?!+=-]*(?: [\w/.,*()'?!+=-]+)*$/;
const NOT_TEXT = /^(?:true|false|null)$/i;
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,8})$/;
const QUOTED = /^"([^"\\\p{C}]*)"$/u;
/** Line ends that are none for us, byte order marks, NUL. */
const ODD = /[\r\0\u0085\u2028\u2029\ufeff]/;

/** Reads a mapping of words, whole numbers, booleans, simple quoted texts, `|` texts and flat lists; undefined for any other text. */
export function readPlainYaml(text: string): PlainYaml | undefined {
  if (ODD.test(text)) return undefined;
  const written = text.split("\n");
  const values = new Map<string, unknown>();
  const lines = new Map<string, number>();
  for (let at = 0; at < written.length; at++) {
    const line = written[at];
    if (line === "") continue;
    const [, key, rest] = KEY_LINE.exec(line ?? "") ?? [];
    if (key === undefined || NOT_TEXT.test(key) || values.has(key)) return undefined;
    const below = { written, from: at + 1 };
    const taken = rest === undefined ? takeList(below) : rest === "|" ? takeBlock(below) : takeScalar(rest);
    if (taken === undefined) return undefined;
    values.set(key, taken.value);
    lines.set(key, at + 1);
    at += taken.count;
  }
  return { value: Object.fromEntries(values), lines };
}

function takeScalar(rest: string): Taken | undefined {
  const value = scalarOf(rest);
  return value === undefined ? undefined : { value, count: 0 };
}

function scalarOf(text: string): string | number | boolean | undefined {
  if (text === "true" || text === "false") return text === "true";
  if (WHOLE_NUMBER.test(text)) return Number(text);
  if (WORDS.test(text) && !NOT_TEXT.test(text)) return text;
  return QUOTED.exec(text)?.[1];
}

interface Below {
  readonly written: readonly string[];
  readonly from: number;
}

const ITEM = /^( *)- (.*)$/;

function takeList({ written, from }: Below): Taken | undefined {
  const indent = ITEM.exec(written[from] ?? "")?.[1];
  const items: unknown[] = [];
  for (let at = from; indent !== undefined; at++) {
    const [, blanks, rest = ""] = ITEM.exec(written[at] ?? "") ?? [];
    if (blanks !== indent) break;
    const item = scalarOf(rest);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items.length === 0 ? undefined : { value: items, count: items.length };
}

function takeBlock({ written, from }: Below): Taken | undefined {
  const indent = /^ +(?=[^ \t])/.exec(written[from] ?? "")?.[0];
  if (indent === undefined) return undefined;
  const inside: string[] = [];
  for (let at = from; at < written.length; at++) {
    const line = written[at] ?? "";
    if (line !== "" && (!line.startsWith(indent) || line.trim() === "")) break;
    inside.push(line.slice(indent.length));
  }
  // A line of blanks, or one that is indented less, ends the loop: it is no line of a key either.
  return { value: `${inside.join("\n").replace(/\n+$/, "")}\n`, count: inside.length };
}
