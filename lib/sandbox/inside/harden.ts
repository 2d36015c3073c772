// What the process gives away before the gadget is loaded: its permissions, code from strings, the runtime's own objects. The first is the
// wall. In a compiled binary `import()` of a file asks no permission: there it is the module gate, and nothing here may lead round it, so
// no text may become code.

import { cut } from "./thrown.ts";
import { GADGET_DOOR, GADGET_DOOR_NAME, type GadgetDoor } from "./door.ts";

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
  fix(globalThis, Symbol.for("Deno.isUnloadDispatched"), true); // the end of the process asks no handler of the gadget's
  hardenStacks();
  refuseCodeFromText();
  for (const name of REMOVED) remove(globalThis, name);
  remove(Navigator.prototype, "gpu"); // `navigator` itself would be made by looking at it
  remove(Navigator.prototype, "serviceWorker");
  for (const name of Object.keys(globals)) fix(globalThis, name, globals[name]);
  fix(globalThis, GADGET_DOOR, door);
  fix(globalThis, GADGET_DOOR_NAME, door);
}

const MOST_HEADER = 16_384;
/** Where the code around the gadget is, in a bundle all of it. */
const OWN_FOLDERS = ["./", "../../core/", "../"].map((way) => new URL(way, import.meta.url).href);
/** What the process was started with. */
const OWN_ENTRY = Deno.mainModule;

/**
 * Makes the text of every stack from now on: without the functions around the gadget, which would tell where Orrery is. A gadget can set
 * `Error.prepareStackTrace` to what it likes: it is not asked, since it would see the functions of the runtime that called it.
 */
function hardenStacks(): void {
  const prepare = (error: unknown, sites: readonly CallSite[]): string => {
    const frames = sites.filter((site) => !isOwn(String(site.getScriptNameOrSourceURL())));
    return [headerOf(error), ...frames.map((site) => `    at ${frameOf(site)}`)].join("\n");
  };
  Object.defineProperty(Error, "prepareStackTrace", {
    get: () => prepare,
    set: () => undefined,
    configurable: false,
  });
}

/** Whoever makes the text of stacks is told paths, everybody else URLs. */
function frameOf(site: CallSite): string {
  return String(site).replace(`${site.getFileName()}:`, () => `${site.getScriptNameOrSourceURL()}:`);
}

interface CallSite {
  getFileName(): unknown;
  getScriptNameOrSourceURL(): unknown;
}

function isOwn(url: string): boolean {
  return url === OWN_ENTRY || OWN_FOLDERS.some((folder) => url.startsWith(folder));
}

/** Places are worth more than the end of a long message, which is told besides. */
function headerOf(error: unknown): string {
  try {
    return cut(Error.prototype.toString.call(error), MOST_HEADER);
  } catch {
    return "Error"; // its name or message has a getter that throws
  }
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
    get: () => guarded ??= functionsOnly(name, get.call(globalThis)),
    set: (changed: unknown) => {
      guarded = changed;
    },
    configurable: true,
  });
}

function functionsOnly(name: string, timer: unknown): unknown {
  if (!isFunction(timer)) return undefined;
  const guarded = (...input: readonly unknown[]): unknown => {
    const callback = input[0];
    if (typeof callback === "function") return timer(...input);
    const found = callback === null ? "null" : typeof callback;
    throw new TypeError(`${name}: found ${found}, expected a function`);
  };
  const { prototype: _prototype, ...properties } = Object.getOwnPropertyDescriptors(timer);
  return Object.defineProperties(guarded, properties);
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
