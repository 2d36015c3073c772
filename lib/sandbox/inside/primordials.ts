// What the host uses of the language, taken before the gadget's module is loaded: a gadget may replace any of it. After that the code in
// lib/host/gadget_*.ts calls no method by its name, loops over nothing with `for … of`, spreads and takes apart no arrays (all of which ask
// a prototype), and reads only properties that are there. Private fields, literals, `await` of a promise of its own and these are safe.

export const { apply, get: getProperty } = Reflect;
export const { isArray } = Array;
export const { freeze, getPrototypeOf, hasOwn, keys: keysOf, prototype: ObjectPrototype } = Object;
export const { isFinite } = Number;
export const { parse: parseJson } = JSON;
export const { asyncIterator } = Symbol;
export const { isView } = ArrayBuffer;
/** Under names of their own: the global ones can be replaced. */
export const Bytes = Uint8Array;
export const Buffer = ArrayBuffer;
export const OwnPromise = Promise;
export const OwnMap = Map;
export const OwnTypeError = TypeError;
export const toText = String;
/** When the event loop comes round. */
export const later: (work: () => void) => void = getProperty(globalThis, "setImmediate"); // 2.6 has no type for it

const { setPrototypeOf } = Object;
const { stringify } = JSON;

/** An object that inherits nothing: what a gadget puts on `Object.prototype`, such as `then`, is not found in it. */
export function bare<Value extends object>(value: Value): Value {
  setPrototypeOf(value, null);
  return value;
}

/** A text as JSON. `JSON.stringify` of a text asks no `toJSON`. */
export function quote(text: string): string {
  return stringify(text);
}

/** The function behind a property that is read. @throws {TypeError} when it is no such property: the runtime has changed */
export function getterOf(prototype: object, name: PropertyKey): () => unknown {
  const getter = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  if (getter === undefined) throw new TypeError(`${String(name)} has no getter`);
  return getter;
}

const TypedArrayPrototype: object = Object.getPrototypeOf(Uint8Array.prototype);
const lengthGetter = getterOf(TypedArrayPrototype, "byteLength");
const kindGetter = getterOf(TypedArrayPrototype, Symbol.toStringTag);
const { set: setBytes } = Uint8Array.prototype;

/** How many bytes. */
export function lengthOf(bytes: Uint8Array): number {
  const length = apply(lengthGetter, bytes, []);
  return typeof length === "number" ? length : 0;
}

/** Whether it is bytes, of whatever realm or class. */
export function isBytes(value: unknown): value is Uint8Array {
  return isView(value) && apply(kindGetter, value, []) === "Uint8Array";
}

/** Copies `source` into `target`, from `at` on. */
export function copyBytes(target: Uint8Array, source: Uint8Array, at: number): void {
  apply(setBytes, target, [source, at]);
}

const { encode } = TextEncoder.prototype;
const { decode } = TextDecoder.prototype;
const Decoder = TextDecoder;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const STREAM = Object.freeze(bare({ stream: true }));

/** UTF-8. */
export function utf8(text: string): Uint8Array {
  return apply(encode, encoder, [text]);
}

/** The text of bytes of UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return apply(decode, decoder, [bytes]);
}

/** UTF-8 in pieces that may be cut anywhere; without bytes: the end. */
export function textReader(): (bytes?: Uint8Array) => string {
  const own = new Decoder();
  return (bytes) => bytes === undefined ? apply(decode, own, []) : apply(decode, own, [bytes, STREAM]);
}

const { encodeInto } = TextEncoder.prototype;
const COUNTED_UNITS = 16_384;
let counting: Uint8Array | undefined;

/** How many bytes of UTF-8 a text takes, without a copy of it. */
export function utf8Length(text: string): number {
  counting ??= new Bytes(new Buffer(3 * COUNTED_UNITS)); // no unit takes more than three bytes
  let length = 0;
  for (let at = 0; at < text.length;) {
    const part = startOf(partOf(text, at, at + COUNTED_UNITS + 1), COUNTED_UNITS);
    length += apply(encodeInto, encoder, [part, counting]).written;
    at += part.length;
  }
  return length;
}

const { slice, charCodeAt, trim } = String.prototype;

/** A part of a text, in UTF-16 units; an end inside a surrogate pair is taken back before it. */
export function startOf(text: string, length: number): string {
  const last = apply(charCodeAt, text, [length - 1]);
  return partOf(text, 0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** `text.slice(from, to)` */
export function partOf(text: string, from: number, to?: number): string {
  return apply(slice, text, [from, to]);
}

/** Whether there is nothing in a text but blanks. */
export function isBlank(text: string): boolean {
  return apply(trim, text, []) === "";
}

const { get: getFrom, set: setIn, delete: deleteFrom, forEach: forEachOf } = Map.prototype;

/** `map.get(key)` */
export function mapGet<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value | undefined {
  return apply(getFrom, map, [key]);
}

/** `map.set(key, value)` */
export function mapSet<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  apply(setIn, map, [key, value]);
}

/** `map.delete(key)` */
export function mapDelete<Key, Value>(map: Map<Key, Value>, key: Key): void {
  apply(deleteFrom, map, [key]);
}

/** `map.forEach(visit)` */
export function mapEach<Key, Value>(map: ReadonlyMap<Key, Value>, visit: (value: Value) => void): void {
  apply(forEachOf, map, [visit]);
}

const { then } = Promise.prototype;

/** What comes of a promise of the host's own, or of anything else that settles, is not looked at. */
export function ignored(promise: Promise<unknown>): void {
  apply(then, promise, [undefined, () => undefined]);
}
