// What the process gives away before the gadget is loaded: its permissions, code from strings, the runtime's own objects. The first is the
// wall. In a compiled binary `import()` of a file asks no permission: there it is the module gate, and nothing here may lead round it, so
// no text may become code.

import { GADGET_DOOR, GADGET_DOOR_NAME, type GadgetDoor } from "./door.ts";
import { hardenStacks } from "./stacks.ts";

/** Every kind that Deno knows; `import` is not in its types. */
const PERMISSIONS = ["read", "write", "net", "env", "sys", "run", "ffi", "import"] as const;

/**
 * Gives all permissions away, for good: nobody can be asked, and a process that is told to ask has no terminal. A permission to read
 * that names folders stays: it is that of the prepared modules.
 */
export function giveUpPermissions(): void {
  for (const name of PERMISSIONS) {
    const descriptor = permission(name);
    if (descriptor === undefined) continue;
    if (name === "read" && Deno.permissions.querySync(descriptor).state !== "granted") continue;
    if (Deno.permissions.revokeSync(descriptor).state === "granted") {
      throw new Error(`the permission "${name}" cannot be given up`);
    }
  }
}

/** Undefined for a kind that this version of Deno does not have. */
function permission(name: typeof PERMISSIONS[number]): Deno.PermissionDescriptor | undefined {
  const descriptor: unknown = { name };
  if (!isDescriptor(descriptor)) return undefined;
  try {
    Deno.permissions.querySync(descriptor);
    return descriptor;
  } catch {
    return undefined;
  }
}

function isDescriptor(value: unknown): value is Deno.PermissionDescriptor {
  return typeof value === "object" && value !== null && "name" in value;
}

/** What reaches out of the process, or into the runtime, and what only makes sense where there is somebody. */
const REMOVED = [
  "Worker",
  "SharedWorker",
  "ShadowRealm",
  "BroadcastChannel",
  "WebSocket",
  "WebSocketStream",
  "WebSocketError",
  "EventSource",
  "WebTransport",
  "XMLHttpRequest",
  "caches",
  "CacheStorage",
  "Cache",
  "localStorage",
  "sessionStorage",
  "Storage",
  "indexedDB",
  "alert",
  "confirm",
  "prompt",
  "postMessage",
  "close",
  "closed",
  "onload",
  "onbeforeunload",
  "onunload",
  "process",
  "require",
  "GPU",
  "__bootstrap",
] as const;

/** Makes the global object that of a gadget. */
export function harden(globals: Readonly<Record<string, unknown>>, door: GadgetDoor): void {
  hardenExit();
  hardenPromises();
  hardenCall();
  hardenStacks();
  refuseCodeFromText();
  for (const name of REMOVED) remove(globalThis, name);
  remove(Navigator.prototype, "gpu"); // `navigator` itself would be made by looking at it
  remove(Navigator.prototype, "serviceWorker");
  for (const name of Object.keys(globals)) fix(globalThis, name, globals[name]);
  fix(globalThis, GADGET_DOOR, door);
  fix(globalThis, GADGET_DOOR_NAME, door);
}

/** The end of the process asks no handler of the gadget's: `unload` counts as told. */
function hardenExit(): void {
  fix(globalThis, Symbol.for("Deno.isUnloadDispatched"), true);
}

/**
 * `await` asks a promise for its constructor, and its constructor for the species; a gadget that changes them would stand between the host
 * and what it waits for. Old code assigns the first to prototypes of its own, which has to go on working.
 */
function hardenPromises(): void {
  const { prototype } = Promise;
  const own = Promise;
  Object.defineProperty(prototype, "constructor", {
    get: () => own,
    set(this: object, value: unknown) {
      if (this === prototype) {
        throw new TypeError("Promise.prototype.constructor cannot be changed in a gadget");
      }
      fix(this, "constructor", value, { isWritable: true });
    },
    configurable: false,
  });
  const species = Object.getOwnPropertyDescriptor(Promise, Symbol.species);
  if (species !== undefined) {
    Object.defineProperty(Promise, Symbol.species, { ...species, configurable: false });
  }
}

/** The runtime's own sockets read with it. */
function hardenCall(): void {
  const { prototype } = Function;
  fix(prototype, "call", Reflect.get(prototype, "call"));
}

function refuseCodeFromText(): void {
  fix(globalThis, "eval", refusing("eval", "eval"));
  const kinds = [
    function () {},
    async function () {},
    function* () {},
    async function* () {},
  ];
  for (const kind of kinds) {
    const prototype: object = Object.getPrototypeOf(kind);
    const constructor: { readonly name: string } = Reflect.get(prototype, "constructor");
    const refused = refusing(constructor.name, "new Function");
    fix(refused, "prototype", prototype); // `f instanceof Function` stays true
    fix(prototype, "constructor", refused);
  }
  fix(globalThis, "Function", Reflect.get(Function.prototype, "constructor"));
  refuseText("setTimeout");
  refuseText("setInterval");
  refuseText("setImmediate");
}

function refusing(name: string, what: string): object {
  const refused = function (): never {
    throw new EvalError(`${what} is not there in a gadget: no text becomes code`);
  };
  Object.defineProperty(refused, "name", { value: name });
  return refused;
}

/** A timer that takes functions only: Deno 2.6 runs a text as code. Deno 2.9 makes its timers, 2 MB, when one is first looked at. */
function refuseText(name: "setTimeout" | "setInterval" | "setImmediate"): void {
  const { get, value }: PropertyDescriptor = Object.getOwnPropertyDescriptor(globalThis, name) ?? {};
  if (get === undefined) return fix(globalThis, name, functionsOnly(name, value), { isWritable: true });
  let guarded: unknown;
  Object.defineProperty(globalThis, name, {
    get: () => guarded ??= functionsOnly(name, apply(get, globalThis, [])),
    set: (changed: unknown) => {
      guarded = changed;
    },
    configurable: true,
  });
}

const { apply, ownKeys } = Reflect;
const { defineProperty, getOwnPropertyDescriptor } = Object;

function functionsOnly(name: string, timer: unknown): unknown {
  if (!isFunction(timer)) return undefined;
  const guarded = (...input: readonly unknown[]): unknown => {
    const callback = input[0];
    if (typeof callback === "function") return apply(timer, globalThis, input);
    const found = callback === null ? "null" : typeof callback;
    throw new TypeError(`${name}: found ${found}, expected a function`);
  };
  const keys = ownKeys(timer);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? "";
    const property = getOwnPropertyDescriptor(timer, key);
    if (property !== undefined && key !== "prototype") defineProperty(guarded, key, property);
  }
  return guarded;
}

function isFunction(value: unknown): value is (...input: readonly unknown[]) => unknown {
  return typeof value === "function";
}

function fix(
  target: object,
  name: PropertyKey,
  value: unknown,
  { isWritable = false }: { readonly isWritable?: boolean } = {},
): void {
  const enumerable = Object.getOwnPropertyDescriptor(target, name)?.enumerable ?? false;
  Object.defineProperty(target, name, { value, enumerable, writable: isWritable, configurable: isWritable });
}

/** Takes a property away; one that cannot be deleted becomes undefined. */
function remove(target: object, name: string): void {
  if (Reflect.deleteProperty(target, name)) return;
  fix(target, name, undefined);
}
