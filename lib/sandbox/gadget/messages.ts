// What a process says, checked by hand: it is foreign. What comes out holds the fields that belong to its message and no others.
import {
  type EffectOp,
  type FromGadget,
  GADGET_NAME,
  type GadgetDescription,
  isJsonObject,
  type Json,
  type JsonObject,
  type PermissionKind,
  type Permissions,
  type ThrownError,
} from "../../core/core.ts";

/** As many bytes as may lie beside a message that has no use for any. */
const NO_BYTES = 0;
const MOST_WARNINGS = 100;
const KINDS: readonly PermissionKind[] = ["read", "write", "net", "run", "env", "sys"];

type Readers<Message extends { readonly [key in Key]: string }, Key extends string> = {
  readonly [Name in Message[Key]]: (fields: Fields) => Extract<Message, { readonly [key in Key]: Name }>;
};

/** The message in a frame. @throws {MessageError} that says where it is none */
export function readMessage(value: unknown, byteCount: number = NO_BYTES): FromGadget {
  const fields = Fields.of(value, "the message");
  const type = fields.oneOf("type", MESSAGE_TYPES);
  if (byteCount > NO_BYTES && type !== "effect") throw new MessageError(`found bytes beside "${type}"`);
  return MESSAGES[type](fields);
}

const MESSAGES: Readers<FromGadget, "type"> = {
  loaded: (fields) => ({ type: "loaded", gadget: description(fields.inside("gadget")) }),
  "load-failed": (fields) => ({ type: "load-failed", error: thrown(fields.inside("error")) }),
  begun: (fields) => ({ type: "begun", id: fields.id("id") }),
  log: (fields) => ({ type: "log", ...given("id", fields.maybeId("id")), text: fields.text("text") }),
  progress: (fields) => ({
    type: "progress",
    id: fields.id("id"),
    done: fields.number("done"),
    ...given("total", fields.maybeNumber("total")),
  }),
  piece: (fields) => ({ type: "piece", id: fields.id("id"), text: fields.text("text") }),
  invalid: (fields) => ({ type: "invalid", id: fields.id("id"), issues: fields.text("issues") }),
  result: (fields) => {
    const wholeBytes = fields.maybeId("wholeBytes");
    const value = wholeBytes === undefined ? fields.maybeJson("value") : fields.text("value");
    return {
      type: "result",
      id: fields.id("id"),
      ...given("value", value),
      ...given("wholeBytes", wholeBytes),
    };
  },
  error: (fields) => ({ type: "error", id: fields.id("id"), error: thrown(fields.inside("error")) }),
  cancelled: (fields) => ({ type: "cancelled", id: fields.id("id") }),
  effect: (fields) => ({
    type: "effect",
    effect: fields.id("effect"),
    ...given("call", fields.maybeId("call")),
    op: operation(fields.inside("op")),
  }),
  "effect-cancel": (fields) => ({ type: "effect-cancel", effect: fields.id("effect") }),
  used: (fields) => ({
    type: "used",
    kind: fields.oneOf("kind", ["env", "sys"]),
    name: fields.text("name"),
  }),
};

const MESSAGE_TYPES = Object.keys(MESSAGES).filter((name): name is FromGadget["type"] => name in MESSAGES);

function thrown(fields: Fields): ThrownError {
  return {
    name: fields.text("name"),
    message: fields.text("message"),
    ...given("stack", fields.maybeText("stack")),
    ...given("refusal", fields.maybeId("refusal")),
  };
}

function operation(fields: Fields): EffectOp {
  return OPERATIONS[fields.oneOf("kind", OPERATION_KINDS)](fields);
}

const OPERATIONS: Readers<EffectOp, "kind"> = {
  read: (fields) => ({ kind: "read", path: fields.text("path") }),
  write: (fields) => ({
    kind: "write",
    path: fields.text("path"),
    how: fields.oneOf("how", ["replace", "append", "create"]),
  }),
  stat: (fields) => ({
    kind: "stat",
    path: fields.text("path"),
    ...given("isLink", fields.maybeFlag("isLink")),
  }),
  list: (fields) => ({ kind: "list", path: fields.text("path") }),
  "make-folder": (fields) => ({
    kind: "make-folder",
    path: fields.text("path"),
    isRecursive: fields.flag("isRecursive"),
  }),
  remove: (fields) => ({
    kind: "remove",
    path: fields.text("path"),
    isRecursive: fields.flag("isRecursive"),
  }),
  rename: (fields) => ({ kind: "rename", path: fields.text("path"), to: fields.text("to") }),
  copy: (fields) => ({ kind: "copy", path: fields.text("path"), to: fields.text("to") }),
  "real-path": (fields) => ({ kind: "real-path", path: fields.text("path") }),
  fetch: (fields) => ({
    kind: "fetch",
    url: fields.text("url"),
    method: fields.text("method"),
    headers: fields.list("headers").map(header),
    redirect: fields.oneOf("redirect", ["follow", "manual", "error"]),
  }),
  run: (fields) => ({
    kind: "run",
    command: fields.text("command"),
    args: fields.texts("args"),
    ...given("cwd", fields.maybeText("cwd")),
    env: fields.inside("env").allTexts(),
  }),
};

const OPERATION_KINDS = Object.keys(OPERATIONS).filter((name): name is EffectOp["kind"] =>
  name in OPERATIONS
);

function header(pair: unknown): readonly [name: string, value: string] {
  if (!Array.isArray(pair) || pair.length !== 2) throw new MessageError("found a header that is no pair");
  const [name, value]: readonly unknown[] = pair;
  if (typeof name === "string" && typeof value === "string") return [name, value];
  throw new MessageError("found a header that is no pair of texts");
}

function description(fields: Fields): GadgetDescription {
  const name = fields.text("name");
  if (!GADGET_NAME.test(name)) throw new MessageError("found a name that no gadget can have");
  const permissions = fields.maybeInside("permissions");
  return {
    name,
    ...given("description", fields.maybeText("description")),
    ...given("input", fields.maybeObject("input")),
    ...given("output", fields.maybeObject("output")),
    ...given("permissions", permissions === undefined ? undefined : permissionsOf(permissions)),
    ...given("examples", fields.maybeList("examples")?.map(example)),
    ...given("timeoutMs", fields.maybeCount("timeoutMs")),
    ...given("maxConcurrent", fields.maybeCount("maxConcurrent")),
    ...given("exclusive", fields.maybeFlag("exclusive")),
    ...given("untrusted", fields.maybeFlag("untrusted")),
    ...given("repeatable", fields.maybeFlag("repeatable")),
    ...given("idempotent", fields.maybeFlag("idempotent")),
    isLinked: fields.flag("isLinked"),
    hasFormat: fields.flag("hasFormat"),
    isValidating: fields.flag("isValidating"),
    warnings: fields.texts("warnings").slice(0, MOST_WARNINGS),
  };
}

function permissionsOf(fields: Fields): Permissions {
  const asked: { [kind in PermissionKind]?: true | readonly string[] } = {};
  for (const name of fields.names) {
    const kind = KINDS.find((kind) => kind === name);
    if (kind === undefined) throw new MessageError("found a permission of no known kind");
    asked[kind] = fields.isTrue(kind) ? true : fields.texts(kind);
  }
  return asked;
}

function example(value: unknown): { readonly input: JsonObject; readonly comment?: string } {
  const fields = Fields.of(value, "an example");
  const input: { readonly [name: string]: Json } = fields.object("input");
  return { input, ...given("comment", fields.maybeText("comment")) };
}

/** A process said something that is no message. Nothing of what it said stands in here. */
export class MessageError extends Error {
  override readonly name = "MessageError";
}

/** As deep as the result of a gadget may be. */
const MOST_LEVELS = 500;

/** The fields of an object that came as JSON: each is read as what it has to be, and what it is not is a {@linkcode MessageError}. */
class Fields {
  readonly #values: object;
  readonly #what: string;

  private constructor(values: object, what: string) {
    this.#values = values;
    this.#what = what;
  }

  /** @param what as errors name it */
  static of(value: unknown, what: string): Fields {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return new Fields(value, what);
    throw new MessageError(`found ${kindOf(value)} as ${what}, expected an object`);
  }

  get names(): readonly string[] {
    return Object.keys(this.#values);
  }

  text(name: string): string {
    const value = this.#get(name);
    return typeof value === "string" ? value : this.#fail(name, "a text");
  }

  maybeText(name: string): string | undefined {
    return this.#has(name) ? this.text(name) : undefined;
  }

  oneOf<Name extends string>(name: string, names: readonly Name[]): Name {
    const value = this.#get(name);
    return names.find((known) => known === value) ?? this.#fail(name, "a known name");
  }

  /** A whole number that counts exactly. */
  id(name: string): number {
    const value = this.#get(name);
    const isId = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
    return isId ? value : this.#fail(name, "a number of something");
  }

  maybeId(name: string): number | undefined {
    return this.#has(name) ? this.id(name) : undefined;
  }

  /** At least 1. */
  maybeCount(name: string): number | undefined {
    const value = this.maybeNumber(name);
    return value === undefined || value >= 1 ? value : this.#fail(name, "at least 1");
  }

  number(name: string): number {
    const value = this.#get(name);
    return typeof value === "number" && Number.isFinite(value) ? value : this.#fail(name, "a number");
  }

  maybeNumber(name: string): number | undefined {
    return this.#has(name) ? this.number(name) : undefined;
  }

  flag(name: string): boolean {
    const value = this.#get(name);
    return typeof value === "boolean" ? value : this.#fail(name, "true or false");
  }

  maybeFlag(name: string): boolean | undefined {
    return this.#has(name) ? this.flag(name) : undefined;
  }

  isTrue(name: string): boolean {
    return this.#get(name) === true;
  }

  list(name: string): readonly unknown[] {
    const value = this.#get(name);
    return Array.isArray(value) ? value : this.#fail(name, "a list");
  }

  maybeList(name: string): readonly unknown[] | undefined {
    return this.#has(name) ? this.list(name) : undefined;
  }

  texts(name: string): readonly string[] {
    return this.list(name).map((item) => typeof item === "string" ? item : this.#fail(name, "texts"));
  }

  /** What this object is when all of its fields are texts. */
  allTexts(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.names.map((name) => [name, this.text(name)]));
  }

  inside(name: string): Fields {
    return Fields.of(this.#get(name), name);
  }

  maybeInside(name: string): Fields | undefined {
    return this.#has(name) ? this.inside(name) : undefined;
  }

  maybeJson(name: string): Json | undefined {
    if (!this.#has(name)) return undefined;
    const value = this.#get(name);
    return isSoundJson(value) ? value : this.#fail(name, `JSON of at most ${MOST_LEVELS} levels`);
  }

  object(name: string): JsonObject {
    return this.maybeObject(name) ?? this.#fail(name, "an object");
  }

  maybeObject(name: string): JsonObject | undefined {
    const value = this.maybeJson(name);
    return value === undefined || isJsonObject(value) ? value : this.#fail(name, "an object");
  }

  #has(name: string): boolean {
    return Object.hasOwn(this.#values, name);
  }

  #get(name: string): unknown {
    return this.#has(name) ? Object.getOwnPropertyDescriptor(this.#values, name)?.value : undefined;
  }

  #fail(name: string, expected: string): never {
    throw new MessageError(
      `found ${kindOf(this.#get(name))} as "${name}" of ${this.#what}, expected ${expected}`,
    );
  }
}

/** A field that is there when its value is. */
function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [name in Name]?: Value } {
  const field: { [name in Name]?: Value } = {};
  if (value !== undefined) field[name] = value;
  return field;
}

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
