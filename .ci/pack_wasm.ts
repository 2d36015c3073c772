// The program reads all of its own code at each start, whatever it needs of it: what is large is made small, here the WebAssembly of amaro,
// which is the largest part by far and needed for TypeScript alone. lib/sandbox/gate/amaro_instance.ts takes it apart again.

import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";

/** Base64 of `\0asm`, the beginning of every WebAssembly module; one that is smaller gains nothing. */
const LARGE_MODULE = /(["'`])(AGFzb[A-Za-z0-9+/]{100000,}={0,2})\1/g;

/** The text of a module of JavaScript with every large WebAssembly module in it compressed. */
export function packWasm(text: string): string {
  return text.replaceAll(LARGE_MODULE, (_found, quote: string, base64: string) => {
    return quote + gzipSync(Buffer.from(base64, "base64"), { level: 9 }).toString("base64") + quote;
  });
}

/** Does it to the modules of a folder. @throws {Error} when there is nothing to be made smaller: the bundle is not as it was */
export async function packFolder(folder: string): Promise<void> {
  let packed = 0;
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith(".js")) continue;
    const path = `${folder}/${name}`;
    const text = await Deno.readTextFile(path);
    const smaller = packWasm(text);
    if (smaller === text) continue;
    await Deno.writeTextFile(path, smaller);
    packed++;
  }
  if (packed === 0) throw new Error(`${folder}: found no large WebAssembly, expected that of amaro`);
}
