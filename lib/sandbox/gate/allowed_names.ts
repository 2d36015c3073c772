// What a gadget's module may import besides files. Node's modules that reach files, the network, other programs or the loader of
// modules come as facades, or not at all.

/** Modules of Node that only compute: they are imported as they are. */
export const PURE_NODE_NAMES: ReadonlySet<string> = new Set([
  "node:assert",
  "node:assert/strict",
  "node:async_hooks",
  "node:buffer",
  "node:crypto",
  "node:events",
  "node:path",
  "node:path/posix",
  "node:path/win32",
  "node:perf_hooks",
  "node:querystring",
  "node:stream",
  "node:stream/promises",
  "node:string_decoder",
  "node:timers",
  "node:timers/promises",
  "node:url",
  "node:util",
  "node:util/types",
  "node:zlib",
]);

/** The file that a facade's text has to be written to, beside the prepared modules: `node:fs/promises` -> `_node_fs_promises.js`. */
export function facadeFile(specifier: string): string {
  return `_${specifier.replaceAll(/[^A-Za-z0-9]/g, "_")}.js`;
}
