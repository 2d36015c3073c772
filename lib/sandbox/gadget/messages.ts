// What a process says, checked by hand: it is foreign. What comes out holds the fields that belong to its message and no others.
import {
  type EffectOp,
  type FromGadget,
  GADGET_NAME,
  type GadgetDescription,
  isJsonObject,
  isRecord,
  type Json,
  type JsonObject,
  type PermissionKind,
  type ThrownError,
} from "../../core/core.ts";

/** As many bytes as may lie beside a message that has no use for any. */
const NO_BYTES = 0;
const MOST_WARNINGS = 100;
/** As deep as the result of a gadget may be. */
const MOST_LEVELS = 500;

/** A process said something that is no message. Nothing of what it said stands in here. */
export class MessageError extends Error {
  override readonly name = "MessageError";
}

/** The message in a frame. @throws {MessageError} that says where it is none */
export function readMessage(value: unknown, byteCount: number = NO_BYTES): FromGadget {
  const message = anyMessage(value, "the message", "");
  const { type } = message;
  if (byteCount > NO_BYTES && type !== "effect") throw new MessageError(`found bytes beside "${type}"`);
  if (type === "result" && message.wholeBytes !== undefined) text(message.value, "value", "the message");
  return message;
}

/** Reads a value as what it has to be. @param name of its field, and what that is a field of. @throws {MessageError} */
type Read<Value> = (value: unknown, name: string, what: string) => Value;

/** The fields of an object: what each is read as; one that may be missing is in a list. */
type Shape<Value> = {
  readonly [name in keyof Value]-?: undefined extends Value[name]
    ? readonly [Read<Exclude<Value[name], undefined>>]
    : Read<Value[name]>;
};

type Shapes<Union extends { readonly [key in Key]: string }, Key extends string> = {
  readonly [Name in Union[Key]]: Shape<Omit<Extract<Union, { readonly [key in Key]: Name }>, Key>>;
};

/** A value of which `is` is true. */
function plain<Value>(expected: string, is: (value: unknown) => value is Value): Read<Value> {
  return (value, name, what) => {
    if (is(value)) return value;
    throw new MessageError(`found ${kindOf(value)} as "${name}" of ${what}, expected ${expected}`);
  };
}

/** A text. */
export const text = plain("a text", (value) => typeof value === "string");
const flag = plain("true or false", (value) => typeof value === "boolean");
const number = plain("a number", isNumber);
const count = plain("at least 1", (value): value is number => isNumber(value) && value >= 1);
/** A whole number that counts exactly. */
const id = plain(
  "a number of something",
  (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0,
);
const json = plain(`JSON of at most ${MOST_LEVELS} levels`, isSoundJson);
const jsonObject = plain(
  "an object",
  (value): value is JsonObject => isSoundJson(value) && isJsonObject(value),
);
const items = plain("a list", (value): value is readonly unknown[] => Array.isArray(value));

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function oneOf<const Name extends string>(names: readonly Name[]): Read<Name> {
  return plain("a known name", (value): value is Name => names.some((name) => name === value));
}

/** A list of such values. */
export function list<Value>(read: Read<Value>): Read<readonly Value[]> {
  return (value, name, what) => items(value, name, what).map((item) => read(item, name, what));
}

function record(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw new MessageError(`found ${kindOf(value)} as ${name}, expected an object`);
}

/** An object with these fields; others of it do not come along. */
export function object<Value>(shape: Shape<Value>): Read<Value> {
  return (value, name) => {
    const values = record(value, name);
    const read: Record<string, unknown> = {};
    for (const [field, reader] of Object.entries<Read<unknown> | readonly [Read<unknown>]>(shape)) {
      const [each, isOptional] = typeof reader === "function" ? [reader, false] : [reader[0], true];
      const found = Object.hasOwn(values, field) ? values[field] : undefined;
      if (!isOptional || Object.hasOwn(values, field)) read[field] = each(found, field, name);
    }
    return read as Value; // every field of it has been read as what it has to be
  };
}

/** An object of one of several shapes: which one, a field of it says. */
function variant<Union extends { readonly [key in Key]: string }, Key extends string>(
  key: Key,
  shapes: Shapes<Union, Key>,
): Read<Union> {
  const known = new Map(
    Object.entries<Shape<unknown>>(shapes).map(([each, shape]) => [each, object(shape)]),
  );
  const kind = oneOf([...known.keys()]);
  return (value, name, what) => {
    const values = record(value, name);
    const found = kind(Object.hasOwn(values, key) ? values[key] : undefined, key, name);
    const fields = known.get(found)?.(value, name, what);
    return { [key]: found, ...Object(fields) };
  };
}

const texts = list(text);

/** An object all of whose fields are texts. */
const textsByName: Read<Readonly<Record<string, string>>> = (value, name) =>
  Object.fromEntries(Object.entries(record(value, name)).map(([key, each]) => [key, text(each, key, name)]));

const header: Read<readonly [name: string, value: string]> = (pair) => {
  const [name, value, ...others]: readonly unknown[] = Array.isArray(pair) ? pair : [];
  if (typeof name === "string" && typeof value === "string" && others.length === 0) return [name, value];
  throw new MessageError("found a header that is no pair of texts");
};

const path = { path: text };
const tree = { path: text, isRecursive: flag };
const way = { path: text, to: text };

const operation = variant<EffectOp, "kind">("kind", {
  read: path,
  write: { path: text, how: oneOf(["replace", "append", "create"]) },
  stat: { path: text, isLink: [flag] },
  list: path,
  "make-folder": tree,
  remove: tree,
  rename: way,
  copy: way,
  "real-path": path,
  fetch: {
    url: text,
    method: text,
    headers: list(header),
    redirect: oneOf(["follow", "manual", "error"]),
  },
  run: { command: text, args: texts, cwd: [text], env: textsByName },
});

const thrown = object<ThrownError>({ name: text, message: text, stack: [text], refusal: [id] });

const KINDS: readonly PermissionKind[] = ["read", "write", "net", "run", "env", "sys"];

const granted: Read<true | readonly string[]> = (value, name, what) =>
  value === true ? true : texts(value, name, what);

const permissions: Read<NonNullable<GadgetDescription["permissions"]>> = (value, name) =>
  Object.fromEntries(
    Object.entries(record(value, name)).map(([found, each]) => {
      const kind = KINDS.find((known) => known === found);
      if (kind === undefined) throw new MessageError("found a permission of no known kind");
      return [kind, granted(each, kind, name)];
    }),
  );

const gadgetName: Read<string> = (value, name, what) => {
  const found = text(value, name, what);
  if (GADGET_NAME.test(found)) return found;
  throw new MessageError("found a name that no gadget can have");
};

const example = object<{ readonly input: JsonObject; readonly comment?: string }>({
  input: jsonObject,
  comment: [text],
});

/** What a gadget says of itself. */
export const description = object<GadgetDescription>({
  name: gadgetName,
  description: [text],
  input: [jsonObject],
  output: [jsonObject],
  permissions: [permissions],
  examples: [list((value, _name, what) => example(value, "an example", what))],
  timeoutMs: [count],
  maxConcurrent: [count],
  exclusive: [flag],
  untrusted: [flag],
  repeatable: [flag],
  idempotent: [flag],
  isLinked: flag,
  hasFormat: flag,
  isValidating: flag,
  warnings: (value, name, what) => texts(value, name, what).slice(0, MOST_WARNINGS),
});

const anyMessage = variant<FromGadget, "type">("type", {
  loaded: { gadget: description },
  "load-failed": { error: thrown },
  begun: { id },
  log: { id: [id], text },
  progress: { id, done: number, total: [number] },
  piece: { id, text },
  invalid: { id, issues: text },
  result: { id, value: [json], wholeBytes: [id] },
  error: { id, error: thrown },
  cancelled: { id },
  effect: { effect: id, call: [id], op: operation },
  "effect-cancel": { effect: id },
  used: { kind: oneOf(["env", "sys"]), name: text },
});

/** Whether a parsed value is one that everybody can walk through; level by level, since it may be deep. */
function isSoundJson(value: unknown): value is Json {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= MOST_LEVELS; depth++) {
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === "number" ? !Number.isFinite(item) : item === undefined) return false; // 1e999
      if (typeof item === "object" && item !== null) {
        for (const child of Object.values(item)) next.push(child);
      }
    }
    if (next.length === 0) return true;
    level = next;
  }
  return false;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
