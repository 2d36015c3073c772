/** A JSON value, as RFC 8259 has it: numbers are finite. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Whether a JSON value is an object: not a list, not null. */
export function isJsonObject(value: Json): value is JsonObject {
  return isRecord(value);
}

/** Whether anything at all is an object and no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a number has to have for its digits to be more than a value holds. */
const MAY_LOSE = /[0-9]{16}|[0-9][eE][+]?[0-9]{3}/;
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*/g;

/**
 * The value of a JSON text, as `JSON.parse` gives it, but no number becomes another one: one of more digits than a value holds is an error.
 *
 * @param keepsDigits then such a number is a text, as it is written: for values that are shown and handed on
 * @throws {SyntaxError} for what is no JSON, {RangeError} for a number
 */
export function parseJson(text: string, { keepsDigits = false } = {}): Json {
  const value: Json = JSON.parse(text);
  if (!MAY_LOSE.test(text)) return value;
  let kept = "";
  let from = 0;
  for (const { 0: token, index } of text.matchAll(TEXT_OR_NUMBER)) {
    if (token.startsWith('"') || !losesDigits(token)) continue;
    if (!keepsDigits || !Number.isFinite(Number(token))) {
      throw new RangeError(
        `the number ${token} is beyond what can be kept exactly (2^53 - 1); write it as a text, in quotes`,
      );
    }
    kept += `${text.slice(from, index)}"${token}"`;
    from = index + token.length;
  }
  return from === 0 ? value : JSON.parse(kept + text.slice(from));
}

/** Whether a decimal number becomes another one as a value: it is infinite, or its whole part has other digits. Fractions are rounded by nature. */
export function losesDigits(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return true;
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER || /^[^x]*e/i.test(number) || String(value) === number) {
    return false;
  }
  const [whole = ""] = number.replace(/^[+]/, "").split(".");
  return BigInt(whole) !== BigInt(Math.trunc(value));
}

/** The JSON object that a text is; undefined for every other text. */
export function maybeJsonObject(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value = parseJson(text, { keepsDigits: true });
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Gives the value as plain JSON, or throws a `TypeError` that says where it is not: functions, symbols, bigints,
 * cycles, and numbers that are not finite. `undefined` at the top is `null`; an undefined property is dropped.
 */
export function toJson(value: unknown): Json {
  return convert(value, "", []);
}

function convert(value: unknown, path: string, above: readonly object[]): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      throw notJson(path, `the number ${value}`);
    case "undefined":
      return null;
    case "object":
      return value === null ? null : convertObject(value, path, above);
    default:
      throw notJson(path, `a ${typeof value}`);
  }
}

function convertObject(value: object, path: string, above: readonly object[]): Json {
  if (above.includes(value)) throw notJson(path, "a cycle");
  if (above.length > 500) throw notJson(path, "more than 500 levels");
  const inside = [...above, value];
  if ("toJSON" in value && typeof value.toJSON === "function") return convert(value.toJSON(), path, inside);
  if (Array.isArray(value)) return value.map((item, index) => convert(item, `${path}/${index}`, inside));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    throw notJson(path, `a ${value.constructor?.name ?? "class instance"}`);
  }
  const out: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    setOwn(out, key, convert(item, `${path}/${key}`, inside));
  }
  return out;
}

/** Sets a plain property, whatever it is called: assigning `__proto__` would change the prototype instead. */
function setOwn<Value>(object: Record<string, Value>, key: string, value: Value): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

function notJson(path: string, found: string): TypeError {
  return new TypeError(`not JSON: found ${found}${path === "" ? "" : ` at ${path.slice(1)}`}`);
}

/** A sentence about a result that is no JSON. @param problem what `toJson` said, or what reading the value threw */
export function notResultText(gadgetName: string, problem: string): string {
  const what = problem.startsWith("not JSON") ? `is ${problem}` : `cannot be read: ${problem}`; // a getter may throw anything
  const found = /^not JSON: found (?:a|the) (Map|Set|bigint|number)(?= |$)/.exec(problem)?.[1] ?? "";
  const instead = INSTEAD[found] ?? "a gadget gives text, or a value that JSON can hold";
  return `The result of ${gadgetName} ${what}; ${instead}`;
}

/** What to give instead of what was found. */
const INSTEAD: Readonly<Record<string, string>> = {
  Map: "return Object.fromEntries(map) instead",
  Set: "return [...set] instead",
  bigint: "return String(bigint), or Number(bigint) where that is exact, instead",
  number: "return null or a text instead",
};

/** JSON with the keys of every object in order: two values that are the same as data have the same text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inside: unknown) => isRecord(inside) ? sorted(inside) : inside) ??
    "null";
}

function sorted(object: object): object {
  const keys = Object.keys(object);
  if (keys.every((key, index) => index === 0 || (keys[index - 1] ?? "") < key)) return object;
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1));
}

/**
 * JSON with sorted keys, without spaces and without what is undefined. Keys that look like numbers are sorted as texts, too: hashes of it are on
 * users' disks, so that `canonicalJson` cannot stand for it.
 */
export function sortedJson(value: unknown): string | undefined {
  if (Array.isArray(value)) return `[${value.map((item) => sortedJson(item) ?? "null").join(",")}]`;
  if (!isRecord(value) || typeof value.toJSON === "function") return JSON.stringify(value);
  const entries = Object.keys(value).sort().flatMap((key) => {
    const text = sortedJson(value[key]);
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`];
  });
  return `{${entries.join(",")}}`;
}

const MAX_SHOWN = 160;

/** Where two JSON values differ first, in words: a JSON pointer and what is at it on either side. */
export function firstDifference(recorded: unknown, now: unknown): string {
  const at = pointerTo(recorded, now, "");
  const show = (value: unknown): string =>
    shortened(valueAt(value, at), valueAt(value === recorded ? now : recorded, at));
  return `at ${at === "" ? "the top" : JSON.stringify(at)} the record has ${
    show(recorded)
  }, the run now has ${show(now)}`;
}

function pointerTo(a: unknown, b: unknown, path: string): string {
  for (const key of keysOf(a, b)) {
    const [left, right] = [childOf(a, key), childOf(b, key)];
    if (JSON.stringify(left) === JSON.stringify(right)) continue;
    return pointerTo(left, right, `${path}/${encodeSegment(key)}`);
  }
  return path;
}

/** A key as a part of a JSON pointer (RFC 6901). */
export function encodeSegment(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The key that such a part stands for. */
export function decodeSegment(segment: string): string {
  return segment.includes("~") ? segment.replaceAll("~1", "/").replaceAll("~0", "~") : segment;
}

/** The keys of either, when both have any of the same kind. */
function keysOf(a: unknown, b: unknown): readonly string[] {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return [];
  if (Array.isArray(a) !== Array.isArray(b)) return [];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}

function childOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.getOwnPropertyDescriptor(value, key)?.value
    : undefined;
}

function valueAt(value: unknown, pointer: string): unknown {
  return pointer.split("/").slice(1).reduce(
    (inside: unknown, key) => childOf(inside, decodeSegment(key)),
    value,
  );
}

/** The value as JSON; a long one from shortly before the place where it stops being like the other. */
function shortened(value: unknown, other: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  if (text.length <= MAX_SHOWN) return text;
  const otherText = JSON.stringify(other) ?? "";
  let same = 0;
  while (same < text.length && text[same] === otherText[same]) same++;
  const from = Math.max(0, Math.min(same - 40, text.length - MAX_SHOWN));
  const to = Math.min(text.length, from + MAX_SHOWN);
  return `${from > 0 ? "\u2026" : ""}${text.slice(from, to)}${to < text.length ? "\u2026" : ""}`;
}

/** An object of JSON; what is none is empty. */
export function objectOrEmpty(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

/** A value that is known to be an object, as JSON. @throws what {@link toJson} throws */
export function toJsonObject(value: unknown): JsonObject {
  return objectOrEmpty(toJson(value));
}

/** The same without what is undefined, which would take the place of something when it is spread over it. */
export function present<Values extends object>(values: Values): Values {
  const there = { ...values };
  for (const [key, value] of Object.entries(there)) {
    if (value === undefined) Reflect.deleteProperty(there, key);
  }
  return there;
}

/**
 * The value, frozen: lists and plain objects as copies at every depth, so that whoever gave it keeps theirs as it was; all else, such as
 * functions and instances of classes, is the same.
 */
export function frozenCopy<Value>(value: Value): Value {
  return copy(value, new Map()) as Value; // the same shape, piece by piece
}

function copy(value: unknown, done: Map<object, unknown>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value) && !isPlainObject(value)) return value;
  if (done.has(value)) return done.get(value);
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    done.set(value, list);
    for (const item of value) list.push(copy(item, done));
    return Object.freeze(list);
  }
  const made: Record<string, unknown> = {};
  done.set(value, made);
  for (const [key, item] of Object.entries(value)) {
    setOwn(made, key, copy(item, done));
  }
  return Object.freeze(made);
}

/** Whether it is an object literal, and no instance of a class. */
export function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
