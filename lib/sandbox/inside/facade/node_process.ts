// What a gadget finds as node:process and node:os.

import { notThere } from "./error.ts";
import type { FacadeParts } from "./deno.ts";
import { loggingNodeOutput } from "./streams.ts";

// Before `Deno` is what the gadget sees.
const { os, arch } = Deno.build;
const isWindows = os === "windows";

const TYPES: Readonly<Record<string, string>> = { linux: "Linux", darwin: "Darwin", windows: "Windows_NT" };
const PLATFORMS: Readonly<Record<string, string>> = { windows: "win32" };
const ARCHES: Readonly<Record<string, string>> = { x86_64: "x64", aarch64: "arm64" };
/** That of the API, which libraries look at to know what they may use. */
const NODE_VERSION = "24.0.0";

/** The system as Node names it. */
export const nodePlatform: string = PLATFORMS[os] ?? os;
/** The processor as Node names it. */
export const nodeArch: string = ARCHES[arch] ?? arch;

/** `process`. Nothing ever happens to it, so listeners are taken and never called. */
export function nodeProcess(
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
export function nodeOs({ facts, environment }: FacadeParts): Readonly<Record<string, unknown>> {
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
