// What a process says, checked by hand: it is foreign. What comes out holds the fields that belong to its message and no others.
import { GADGET_NAME } from "../core/gadget.ts";
import type { EffectOp, FromGadget, GadgetDescription, ThrownError } from "../core/gadget_message.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { PermissionKind, Permissions } from "../core/world.ts";
import { Fields, given, MessageError } from "./message_fields.ts";

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
