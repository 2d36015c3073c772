// The process of a gadget: started with this module under `deno run`; in the binary the program's own first look does it (lib/cli/main.ts).
// It has no rights of its own: whatever the gadget wants done outside is asked of Orrery. It is not defended against the gadget: what a gadget
// does to the language around it breaks its own calls, and what it says in this process's place is checked by Orrery like all else. Two things
// hold against everything: no permission is left, and only modules that were prepared for this gadget are imported (door.ts). It gives its own
// permissions away; a worker without them doubled its memory and trebled a warm call.
import type {
  EffectFailure,
  EffectOp,
  EffectReply,
  Effects,
  FromGadget,
  ToGadget,
} from "../../core/gadget_message.ts";
import type { Json } from "../../core/json.ts";
import { GadgetCalls, type RunningCall, type Surroundings } from "./calls.ts";
import { endWith, exchangeSync, GadgetChannel, readGreeting } from "./channel.ts";
import { describeGadget } from "./describe.ts";
import { GADGET_DOOR, GADGET_DOOR_NAME, type GadgetDoor, gadgetDoor, importModule } from "./door.ts";
import { makeFacades as ownFacades } from "./facade/facade.ts";
import { loadNodeParts, type NodeParts, redirectConsole } from "./node_parts.ts";
import { cut, thrownError, uncaughtText } from "./thrown.ts";

// What the process gives away before the gadget is loaded: its permissions, code from strings, the runtime's own objects. The first is the
// wall. In a compiled binary `import()` of a file asks no permission: there it is the module gate, and nothing here may lead round it, so
// no text may become code.

/** Every kind that Deno knows; `import` is not in its types. */
const PERMISSIONS = ["read", "write", "net", "env", "sys", "run", "ffi", "import"] as const;

/**
 * Gives all permissions away, for good: nobody can be asked, and a process that is told to ask has no terminal. A permission to read
 * that names folders stays: it is that of the prepared modules.
 */
function giveUpPermissions(): void {
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
function harden(globals: Readonly<Record<string, unknown>>, door: GadgetDoor): void {
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
/** Where the code around the gadget is. A bundle has all of it in one folder, and above that may be the gadget's own. */
const OWN_FOLDERS = (Deno.build.standalone ? ["./"] : ["../", "../../core/"]).map((way) =>
  new URL(way, import.meta.url).href
);
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

// What the gadget wants done outside is asked of Orrery: over the socket as a promise, over stdout and stdin where the gadget blocks.

interface Pending {
  readonly call: RunningCall | undefined;
  settle(reply: EffectReply): void;
}

/** How effects leave the process. */
interface EffectWay {
  readonly channel: Pick<GadgetChannel, "send">;
  /** The call that the work belongs to which asks now. */
  current(): RunningCall | undefined;
  /** Of a frame. */
  readonly maxFrameBytes: number;
}

/** What is asked of Orrery. */
class AskedEffects implements Effects {
  readonly #way: EffectWay;
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  constructor(way: EffectWay) {
    this.#way = way;
  }

  ask(
    op: EffectOp,
    { bytes, signal }: { readonly bytes?: Uint8Array; readonly signal?: AbortSignal } = {},
  ): Promise<EffectReply> {
    const effect = ++this.#last;
    const call = this.#way.current();
    return new Promise((resolve) => {
      const failure = this.#failure(call, bytes);
      if (failure !== undefined) return resolve({ error: failure, effect });
      if (signal?.aborted) return resolve({ error: ABORTED, effect });
      const onAbort = (): void => {
        this.#way.channel.send({ type: "effect-cancel", effect });
        pending.settle({ error: ABORTED, effect });
      };
      const pending: Pending = {
        call,
        settle: (reply) => {
          this.#pending.delete(effect);
          signal?.removeEventListener("abort", onAbort);
          resolve(reply);
        },
      };
      signal?.addEventListener("abort", onAbort);
      this.#pending.set(effect, pending);
      this.#way.channel.send(this.#message(effect, call, op), { bytes });
    });
  }

  askSync(op: EffectOp, { bytes }: { readonly bytes?: Uint8Array } = {}): EffectReply {
    const effect = ++this.#last;
    const call = this.#way.current();
    const failure = this.#failure(call, bytes);
    if (failure !== undefined) return { error: failure, effect };
    const answer = exchangeSync(this.#message(effect, call, op), bytes);
    const { message } = answer;
    if (message.type === "effect-done") return { ok: message.ok, bytes: answer.bytes };
    return { error: message.type === "effect-failed" ? message.error : ABORTED, effect };
  }

  /** Orrery has done it. An effect that nobody waits for any more is none of ours. */
  done(effect: number, ok: Json, bytes: Uint8Array): void {
    this.#pending.get(effect)?.settle({ ok, bytes });
  }

  failed(effect: number, error: EffectFailure): void {
    this.#pending.get(effect)?.settle({ error, effect });
  }

  /** The call is over: what it waits for will not come. */
  giveUp(call: RunningCall): void {
    for (const [effect, pending] of this.#pending) {
      if (pending.call === call) pending.settle({ error: ABORTED, effect });
    }
  }

  #message(effect: number, call: RunningCall | undefined, op: EffectOp): FromGadget {
    return { type: "effect", effect, call: call?.state === "open" ? call.id : undefined, op };
  }

  /** Why it cannot be asked. */
  #failure(call: RunningCall | undefined, bytes: Uint8Array | undefined): EffectFailure | undefined {
    if (call?.state === "cancelled") return ABORTED;
    const { maxFrameBytes } = this.#way;
    const length = bytes?.length ?? 0;
    if (length <= maxFrameBytes) return undefined;
    const message = `found ${length} bytes, expected at most ${maxFrameBytes}: do it in smaller parts`;
    return { code: "too-large", message };
  }
}

const ABORTED: EffectFailure = { code: "aborted", message: "The operation was aborted" };

/** Makes what a gadget finds in place of the runtime's own: `Deno`, `fetch`, `console` and so on. */
export type MakeFacades = (effects: Effects, options: {
  /** The project root: absolute. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** What was granted of the system: `hostname` and so on, with their values. */
  readonly sys: Readonly<Record<string, Json>>;
  log(text: string): void;
  /** A variable or a fact of the system was asked for, `*` for all of them. */
  used(kind: "env" | "sys", name: string): void;
}) => {
  /** Set on the global object. */
  readonly globals: Readonly<Record<string, unknown>>;
  /** Exports by specifier. */
  readonly modules: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** Serves one gadget until the socket ends, which ends the process. @param makeFacades another one's, for tests */
export async function serveGadget(makeFacades: MakeFacades = ownFacades): Promise<never> {
  const greeting = readGreeting();
  if (greeting === undefined) {
    return endWith("error: this command is for Orrery itself, which starts it where it is needed");
  }
  const channel = await GadgetChannel.open(greeting);
  const served = new ServedGadget(channel, makeFacades);
  return await channel.receive((message, bytes) => {
    try {
      served.take(message, bytes);
    } catch (error) {
      endWith(uncaughtText(error, "error: the process of the gadget is broken"));
    }
  });
}

type Load = Extract<ToGadget, { readonly type: "load" }>;

/** More names than this are told as all of them. */
const MOST_USED = 1_000;
const MOST_NAME = 256;

class ServedGadget {
  readonly #channel: GadgetChannel;
  readonly #makeFacades: MakeFacades;
  readonly #calls: GadgetCalls;
  readonly #used = new Set<string>();
  #effects: AskedEffects | undefined;
  #around: Surroundings | undefined;
  #isLoaded = false;

  constructor(channel: GadgetChannel, makeFacades: MakeFacades) {
    this.#channel = channel;
    this.#makeFacades = makeFacades;
    this.#calls = new GadgetCalls(channel);
  }

  take(message: ToGadget, bytes: Uint8Array): void {
    switch (message.type) {
      case "load":
        if (this.#isLoaded) return; // the gadget may say so itself: what it names would be imported unjudged
        this.#isLoaded = true;
        void this.#load(message);
        return;
      case "effect-done":
        return this.#effects?.done(message.effect, message.ok, bytes);
      case "effect-failed":
        return this.#effects?.failed(message.effect, message.error);
      case "more":
        return this.#calls.more(message.id, message.count);
      case "cancel": {
        const call = this.#calls.cancel(message.id, message.reason);
        if (call !== undefined) this.#effects?.giveUp(call);
        return;
      }
      case "call":
        return this.#around && this.#calls.call(message, this.#around);
      case "format":
        return this.#around && this.#calls.format(message, this.#around);
      default:
        return message satisfies never;
    }
  }

  async #load(message: Load): Promise<void> {
    const { maxFrameBytes, maxResultBytes } = message;
    this.#prepare(message, await loadNodeParts(message));
    try {
      const exported = await importModule(message.entry);
      const gadget = describeGadget(defaultOf(exported));
      const loaded: FromGadget = { type: "loaded", gadget: gadget.description };
      this.#around = { gadget, maxResultBytes };
      this.#channel.send(loaded, { maxBytes: maxFrameBytes, what: "what the gadget says of itself" });
    } catch (error) {
      this.#channel.send({ type: "load-failed", error: thrownError(error) });
    }
  }

  /** The last that happens before code of the gadget's runs. */
  #prepare({ root, env, sys, modules, maxFrameBytes }: Load, node: NodeParts | undefined): void {
    const effects = new AskedEffects({
      channel: this.#channel,
      current: () => this.#calls.current(),
      maxFrameBytes,
    });
    this.#effects = effects;
    giveUpPermissions();
    const log = (text: string): void => this.#calls.log(text);
    const facades = this.#makeFacades(effects, {
      root,
      env,
      sys,
      log,
      used: (kind, name) => this.#tellUsed(kind, name),
    });
    this.#logLateErrors();
    redirectConsole(facades.globals);
    node?.become(facades.globals);
    harden(facades.globals, gadgetDoor(modules, facades.modules));
  }

  /** @param name `*` for all of them */
  #tellUsed(kind: "env" | "sys", name: string): void {
    const wanted = this.#used.size < MOST_USED && name.length <= MOST_NAME ? name : "*";
    const key = `${kind} ${wanted}`;
    if (this.#used.has(key)) return;
    this.#used.add(key);
    this.#channel.send({ type: "used", kind, name: wanted });
  }

  /** What is thrown where nobody waits for it must not end the process: other calls are on. */
  #logLateErrors(): void {
    const tell = (event: Event, thrown: unknown, how: string): void => {
      event.preventDefault();
      this.#calls.log(uncaughtText(thrown, how));
    };
    addEventListener("unhandledrejection", (event) => tell(event, event.reason, "Uncaught (in promise)"));
    addEventListener("error", (event) => tell(event, event.error, "Uncaught"));
  }
}

function defaultOf(exported: unknown): unknown {
  return typeof exported === "object" && exported !== null && "default" in exported
    ? exported.default
    : undefined;
}

if (import.meta.main) await serveGadget();
