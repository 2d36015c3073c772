// What a gadget sees in place of Deno, Node and the network. The process has no rights of its own: every effect is asked of Orrery.
// Deno's own rights would not do: they follow every link, and in 2.6 they know hosts by name only.
import { frozenCopy, isRecord, type Json } from "../../../core/json.ts";
import type { Effects } from "../../../core/gadget_message.ts";
import { STATUS_REASONS } from "../../../core/world.ts";
import { collected, loggingNodeOutput, optionsOf, pathOfUrl } from "./arguments.ts";
import { denoFacade, type FacadeParts } from "./deno.ts";
import { gadgetEnvironment, systemFacts } from "./environment.ts";
import { fetchError, nodeError, notThere } from "./error.ts";
import { nodeFiles } from "./node_fs.ts";
import { type Answer, asking, fieldOf, isNumber, isText, step } from "./steps.ts";

/** What a gadget was granted, and where it stands. */
export interface FacadeOptions {
  /** The project root, which is its working folder: absolute. */
  readonly root: string;
  /** The variables that were granted. */
  readonly env: Readonly<Record<string, string>>;
  /** What was granted of the system, by the name of the permission. */
  readonly sys: Readonly<Record<string, Json>>;
  log(text: string): void;
  /** Told which variable or fact of the system is asked for, `*` for all of them. Default: nobody is. */
  used?(kind: "env" | "sys", name: string): void;
}

/** What takes the place of the runtime. */
export interface Facades {
  /** To be put on `globalThis`: `Deno`, `fetch`, `console`, `process`. */
  readonly globals: Readonly<Record<string, unknown>>;
  /** The exports of the facade modules, by specifier. */
  readonly modules: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Makes the facades of one gadget. */
export function makeFacades(
  effects: Effects,
  { root, env, sys, log, used = () => {} }: FacadeOptions,
): Facades {
  const parts: FacadeParts = {
    effects,
    root,
    environment: gadgetEnvironment(env, (name) => used("env", name)),
    facts: systemFacts(sys, (name) => used("sys", name)),
    log: (text) => log(text),
  };
  const files = once(() => nodeFiles(asking(effects, nodeError)));
  const modules: Facades["modules"] = lazily({
    "node:fs": () => files().fs,
    "node:fs/promises": () => files().promises,
    "node:os": () => nodeOs(parts),
    "node:process": () => nodeProcess(parts, modules),
    orrery: orreryFacade,
  });
  return {
    globals: {
      Deno: denoFacade(parts),
      fetch: gadgetFetch(effects),
      console: gadgetConsole(parts.log),
      process: modules["node:process"],
    },
    modules,
  };
}

/** Most gadgets import none of them, and a process starts anew for each. */
function lazily(
  makers: Readonly<Record<string, () => Readonly<Record<string, unknown>>>>,
): Facades["modules"] {
  const modules: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const [name, make] of Object.entries(makers)) {
    Object.defineProperty(modules, name, { get: once(make), enumerable: true });
  }
  return Object.freeze(modules);
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** `orrery` inside a gadget. Types are gone by then; what else the package has is for programs, and is not here. */
function orreryFacade(): Readonly<Record<string, unknown>> {
  return { defineGadget };
}

/** What a gadget takes that says nothing of it. */
const NO_ARGUMENTS = { type: "object", properties: {}, additionalProperties: false };

/** A frozen copy, as `defineGadget` of the package gives. What is wrong with its fields is told when the module is described. */
function defineGadget(definition: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(definition)) {
    throw new TypeError("defineGadget takes an object with name, description, input and run");
  }
  const { input = NO_ARGUMENTS, ...fields } = definition;
  return Object.freeze({
    description: "",
    permissions: {},
    ...frozenCopy(fields),
    input: isRecord(input) && !("~standard" in input) ? frozenCopy(input) : input,
    kind: "gadget",
    linked: typeof fields.run === "function",
    link: (run: unknown) => defineGadget({ ...definition, run }),
  });
}

/** The runtime's own, for URLs that hold their content themselves: it has no permission for any other. */
const ownFetch = fetch;

/** `fetch`: the platform's own requests and answers, sent by Orrery. */
function gadgetFetch(effects: Effects): (input: unknown, init?: unknown) => Promise<Response> {
  const ask = asking(effects, fetchError);
  return async (input, init) => {
    const request = requestOf(input, init);
    const { url, method, redirect, signal } = request;
    signal.throwIfAborted();
    const { protocol } = new URL(url);
    if (protocol === "data:" || protocol === "blob:") return await ownFetch(url, { method, signal });
    if (protocol === "file:") return await fetchFile(url, method, { ask, signal });
    if (protocol !== "http:" && protocol !== "https:") {
      throw new TypeError(
        `Cannot fetch ${JSON.stringify(url)}: expected http: or https:, found "${protocol}"`,
      );
    }
    const headers = [...request.headers].filter(([name]) => name !== "content-length"); // it follows from the body
    const bytes = request.body === null ? undefined : await collected(request.body);
    const op = { kind: "fetch", url, method, headers, redirect: redirectOf(redirect) } as const;
    return responseOf(await ask.soon(step(op, bytes), signal), url, method);
  };
}

function requestOf(input: unknown, init: unknown): Request {
  const options: RequestInit = typeof init === "object" && init !== null ? init : {};
  if (input instanceof Request) return new Request(input, options);
  const url = String(input);
  if (URL.canParse(url)) return new Request(url, options);
  throw new TypeError(
    `Cannot fetch ${
      JSON.stringify(url.slice(0, 500))
    }: expected a whole URL such as "https://example.com/page"`,
  );
}

function redirectOf(value: string): "follow" | "manual" | "error" {
  return value === "manual" || value === "error" ? value : "follow";
}

async function fetchFile(
  url: string,
  method: string,
  { ask, signal }: { readonly ask: ReturnType<typeof asking>; readonly signal: AbortSignal },
): Promise<Response> {
  if (method !== "GET") {
    throw new TypeError(
      `Cannot fetch ${JSON.stringify(url)}: a file can be fetched with GET only, found ${method}`,
    );
  }
  const { bytes } = await ask.soon(step({ kind: "read", path: pathOfUrl(new URL(url)) }), signal);
  return told(new Response(new Uint8Array(bytes)), { url, isRedirected: false });
}

/** Statuses that have no body, not even an empty one. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

function responseOf({ ok, bytes }: Answer, asked: string, method: string): Response {
  const status = fieldOf(ok, "status", isNumber) ?? 0;
  const url = fieldOf(ok, "url", isText) ?? asked;
  const found = fieldOf(ok, "headers", (value) => Array.isArray(value)) ?? [];
  const headers = new Headers();
  for (const pair of found) {
    const [name, value]: readonly unknown[] = Array.isArray(pair) ? pair : [];
    if (isText(name) && isText(value)) headers.append(name, value);
  }
  const isEmpty = WITHOUT_BODY.includes(status) || method === "HEAD";
  const body = isEmpty ? null : new Uint8Array(bytes);
  const response = new Response(body, { status, statusText: STATUS_REASONS[status] ?? "", headers });
  return told(response, { url, isRedirected: withoutHash(url) !== withoutHash(asked) });
}

function withoutHash(url: string): string {
  return url.replace(/#.*$/s, "");
}

/** What no constructor takes; a clone has it too. */
function told(response: Response, said: { readonly url: string; readonly isRedirected: boolean }): Response {
  const { clone } = response;
  const define = (name: string, value: unknown): unknown =>
    Object.defineProperty(response, name, { value, configurable: true });
  define("url", said.url);
  define("redirected", said.isRedirected);
  define("type", "basic");
  define("clone", () => told(Reflect.apply(clone, response, []), said));
  return response;
}

// Before `Deno` is what the gadget sees.
const { inspect } = Deno;

/** A `console` whose every method tells the log, one message a call. */
function gadgetConsole(log: (text: string) => void): Readonly<Record<string, unknown>> {
  let indent = "";
  const counts = new Map<string, number>();
  const starts = new Map<string, number>();
  const tell = (...given: readonly unknown[]): void => say(formatted(given));
  const say = (text: string): void => log(indent === "" ? text : indented(text, indent));
  const group = (...given: readonly unknown[]): void => {
    if (given.length > 0) tell(...given);
    indent += "  ";
  };
  const elapsed = (label: string): string => {
    const start = starts.get(label);
    return start === undefined
      ? `there is no timer "${label}"`
      : `${label}: ${Math.round(performance.now() - start)}ms`;
  };
  return {
    log: tell,
    info: tell,
    debug: tell,
    warn: tell,
    error: tell,
    trace: (...given: readonly unknown[]) =>
      say([`Trace: ${formatted(given)}`, ...framesOf(new Error())].join("\n")),
    dir: (value: unknown, options: unknown) => say(inspect(value, { ...optionsOf(options), colors: false })),
    dirxml: tell,
    table: (value: unknown) => say(inspect(value)),
    assert: (condition: unknown, ...given: readonly unknown[]) => {
      if (!condition) say(`Assertion failed${given.length === 0 ? "" : `: ${formatted(given)}`}`);
    },
    count: (label: unknown = "default") => {
      const name = String(label);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      say(`${name}: ${counts.get(name)}`);
    },
    countReset: (label: unknown = "default") => void counts.delete(String(label)),
    time: (label: unknown = "default") => void starts.set(String(label), performance.now()),
    timeLog: (label: unknown = "default", ...given: readonly unknown[]) =>
      say([elapsed(String(label)), ...given.length === 0 ? [] : [formatted(given)]].join(" ")),
    timeEnd: (label: unknown = "default") => {
      say(elapsed(String(label)));
      starts.delete(String(label));
    },
    group,
    groupCollapsed: group,
    groupEnd: () => {
      indent = indent.slice(2);
    },
    clear: () => {
      indent = "";
    },
    timeStamp: () => {},
    profile: () => {},
    profileEnd: () => {},
  };
}

function framesOf({ stack = "" }: Error): readonly string[] {
  return stack.split("\n").slice(1);
}

function indented(text: string, indent: string): string {
  return text.split("\n").map((line) => indent + line).join("\n");
}

/** The text of what is handed to `console.log`: `%s` and its like in the first text, everything else as `Deno.inspect` shows it. */
function formatted(given: readonly unknown[]): string {
  const [first, ...rest] = given;
  if (typeof first !== "string" || rest.length === 0) return given.map(shown).join(" ");
  let used = 0;
  const text = first.replace(/%([sdifjoOc%])/g, (whole: string, letter: string) => {
    if (letter === "%") return "%";
    if (used >= rest.length) return whole;
    return directive(letter, rest[used++]);
  });
  return [text, ...rest.slice(used).map(shown)].join(" ");
}

function directive(letter: string, value: unknown): string {
  switch (letter) {
    case "s":
      return typeof value === "object" && value !== null ? inspect(value, { depth: 1 }) : textOf(value);
    case "d":
    case "i": {
      if (typeof value === "bigint") return `${value}n`;
      const number = typeof value === "object" || typeof value === "symbol" ? NaN : Number(value);
      return String(letter === "i" ? Math.trunc(number) : number);
    }
    case "f":
      return String(typeof value === "symbol" ? NaN : Number.parseFloat(String(value)));
    case "j":
      return JSON.stringify(value) ?? "undefined";
    case "c":
      return "";
    default:
      return inspect(value);
  }
}

function textOf(value: unknown): string {
  return Object.is(value, -0) ? "-0" : typeof value === "bigint" ? `${value}n` : String(value);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : inspect(value);
}

// What a gadget finds as node:process and node:os.

// Before `Deno` is what the gadget sees.
const { os, arch } = Deno.build;
const isWindows = os === "windows";

const TYPES: Readonly<Record<string, string>> = { linux: "Linux", darwin: "Darwin", windows: "Windows_NT" };
const PLATFORMS: Readonly<Record<string, string>> = { windows: "win32" };
const ARCHES: Readonly<Record<string, string>> = { x86_64: "x64", aarch64: "arm64" };
/** That of the API, which libraries look at to know what they may use. */
const NODE_VERSION = "24.0.0";

/** The system as Node names it. */
const nodePlatform: string = PLATFORMS[os] ?? os;
/** The processor as Node names it. */
const nodeArch: string = ARCHES[arch] ?? arch;

/** `process`. Nothing ever happens to it, so listeners are taken and never called. */
function nodeProcess(
  { environment, root, facts, log }: FacadeParts,
  modules: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const start = performance.now();
  const ended = (how: string) => (code: unknown): never => {
    throw new Error(
      `the gadget called ${how}(${code === undefined ? "" : String(code)}); to end a call, return from run`,
    );
  };
  const self: Record<string, unknown> = {
    env: environment.node,
    argv: ["orrery", "gadget"],
    argv0: "orrery",
    execArgv: [],
    execPath: "orrery",
    title: "orrery",
    pid: 0,
    ppid: 0,
    exitCode: undefined,
    platform: nodePlatform,
    arch: nodeArch,
    version: `v${NODE_VERSION}`,
    versions: { node: NODE_VERSION, v8: Deno.version.v8, deno: Deno.version.deno },
    release: { name: "node" },
    features: {},
    config: {},
    stdin: { fd: 0, isTTY: false },
    stdout: loggingNodeOutput(log, 1),
    stderr: loggingNodeOutput(log, 2),
    cwd: () => root,
    chdir: () => {
      throw notThere("process.chdir", "paths are relative to the project root");
    },
    exit: ended("process.exit"),
    abort: ended("process.abort"),
    reallyExit: ended("process.reallyExit"),
    kill: () => {
      throw notThere("process.kill", "a gadget ends no processes");
    },
    nextTick: (work: unknown, ...given: readonly unknown[]) => {
      if (typeof work !== "function") throw new TypeError("process.nextTick needs a function");
      queueMicrotask(() => Reflect.apply(work, undefined, given));
    },
    hrtime: Object.assign(
      (before: unknown) => elapsed(performance.now(), before),
      { bigint: () => BigInt(Math.round(performance.now() * 1e6)) },
    ),
    uptime: () => (performance.now() - start) / 1000,
    memoryUsage: Deno.memoryUsage,
    umask: () => 0o022,
    getuid: () => facts("uid"),
    getgid: () => facts("gid"),
    emitWarning: (warning: unknown) => log(`Warning: ${String(warning)}`),
    getBuiltinModule: (name: unknown) => {
      const module = String(name).replace(/^(?!node:)/, "node:");
      return Object.hasOwn(modules, module) ? modules[module] : undefined;
    },
    listeners: () => [],
    listenerCount: () => 0,
    emit: () => false,
  };
  for (
    const name of [
      "on",
      "once",
      "off",
      "addListener",
      "removeListener",
      "removeAllListeners",
      "setMaxListeners",
    ]
  ) {
    self[name] = () => self;
  }
  return self;
}

function elapsed(nowMs: number, before: unknown): readonly [seconds: number, nanoseconds: number] {
  const [seconds, nanoseconds]: readonly unknown[] = Array.isArray(before) ? before : [0, 0];
  const total = Math.round(nowMs * 1e6) - (Number(seconds) * 1e9 + Number(nanoseconds));
  return [Math.floor(total / 1e9), total % 1e9];
}

/** `node:os`: what needs no permission, and what was granted. */
function nodeOs({ facts, environment }: FacadeParts): Readonly<Record<string, unknown>> {
  return {
    EOL: isWindows ? "\r\n" : "\n",
    devNull: isWindows ? "\\\\.\\nul" : "/dev/null",
    arch: () => nodeArch,
    platform: () => nodePlatform,
    type: () => TYPES[os] ?? os,
    machine: () => arch,
    endianness: () => "LE",
    availableParallelism: () => navigator.hardwareConcurrency,
    tmpdir: () => environment.temporaryFolder(),
    homedir: () => environment.node.HOME ?? environment.node.USERPROFILE ?? facts("homedir"),
    hostname: () => facts("hostname"),
    release: () => facts("osRelease"),
    version: () => facts("osRelease"),
    uptime: () => facts("osUptime"),
    loadavg: () => facts("loadavg"),
    cpus: () => facts("cpus"),
    networkInterfaces: () => facts("networkInterfaces"),
    totalmem: () => memory(facts("systemMemoryInfo"), "total"),
    freemem: () => memory(facts("systemMemoryInfo"), "available"),
    userInfo: () => facts("userInfo"),
    constants: { signals: {}, errno: {}, priority: {} },
  };
}

function memory(info: unknown, name: string): unknown {
  return typeof info === "object" && info !== null ? Reflect.get(info, name) : undefined;
}
