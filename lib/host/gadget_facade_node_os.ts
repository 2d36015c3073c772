import type { FacadeParts } from "./gadget_facade_deno.ts";
import { nodeArch, nodePlatform } from "./gadget_facade_node_process.ts";

const TYPES: Readonly<Record<string, string>> = { linux: "Linux", darwin: "Darwin", windows: "Windows_NT" };
// Before `Deno` is what the gadget sees.
const { os, arch } = Deno.build;
const isWindows = os === "windows";

/** `node:os`: what needs no permission, and what was granted. */
export function nodeOs({ facts, granted }: FacadeParts): Readonly<Record<string, unknown>> {
  return {
    EOL: isWindows ? "\r\n" : "\n",
    devNull: isWindows ? "\\\\.\\nul" : "/dev/null",
    arch: () => nodeArch,
    platform: () => nodePlatform,
    type: () => TYPES[os] ?? os,
    machine: () => arch,
    endianness: () => "LE",
    availableParallelism: () => navigator.hardwareConcurrency,
    tmpdir: () => granted.TMPDIR ?? granted.TEMP ?? "/tmp",
    homedir: () => granted.HOME ?? granted.USERPROFILE ?? facts("homedir"),
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
