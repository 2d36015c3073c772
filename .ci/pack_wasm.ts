// Large WebAssembly in the program, which is that of amaro: it is needed for TypeScript alone, and was the largest part by far.

import { Buffer } from "node:buffer";

/** Base64 of `\0asm`, the beginning of every WebAssembly module, where `Buffer` reads it; with a small one little is gained. */
const LARGE_MODULE = /[\w$]+\.from\((["'`])(AGFzb[A-Za-z0-9+/]{100000,}={0,2})\1,(["'`])base64\3\)/g;

/** A module of JavaScript without the WebAssembly that was in it. */
export interface PackedWasm {
  /** Unpacks the files where it had their base64. */
  readonly text: string;
  /** What was in it, by the names that the text knows. */
  readonly wasm: ReadonlyMap<string, Uint8Array>;
}

/**
 * Takes every large WebAssembly module out of a module of JavaScript: the text expects it compressed with Brotli.
 *
 * @param name of the files, relative to the module: a number and an ending follow it
 */
export function packWasm(text: string, name: string): PackedWasm {
  const wasm = new Map<string, Uint8Array>();
  const smaller = text.replaceAll(LARGE_MODULE, (_found, _quote, base64: string) => {
    const file = `${name}.${wasm.size}.wasm.br`;
    wasm.set(file, Buffer.from(base64, "base64"));
    const url = `new URL(${JSON.stringify(file)},import.meta.url)`;
    return `process.getBuiltinModule("zlib").brotliDecompressSync(process.getBuiltinModule("fs").readFileSync(${url}))`;
  });
  return { text: smaller, wasm };
}
