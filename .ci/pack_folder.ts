// The program reads all of its own code at each start, and so does the process of every gadget, which keeps it: what is large and seldom
// needed lies beside its modules, compressed, and is unpacked when it is wanted.

import { brotliCompressSync, constants } from "node:zlib";
import { importsLater, packModule } from "./pack_module.ts";
import { packWasm } from "./pack_wasm.ts";

/** Characters of a module: a start takes 10 ms for each million of them, and with a smaller one little is gained. */
const LARGE = 100_000;

/**
 * Packs what is large in the modules of a folder, but those that import others when these are needed: what each start reads is such a
 * one.
 *
 * @param assets the folder for what is compressed, a path from the other one
 * @throws {Error} when there is no WebAssembly or no large module: the bundle is not as it was
 */
export async function packFolder(folder: string, assets: string): Promise<void> {
  await Deno.mkdir(`${folder}/${assets}`, { recursive: true });
  const put = (file: string, content: Uint8Array) => Deno.writeFile(`${folder}/${file}`, compressed(content));
  const files = await Array.fromAsync(Deno.readDir(folder));
  const found = { modules: 0, wasm: 0 };
  for (const { name } of files.filter((file) => file.isFile && file.name.endsWith(".js"))) {
    const path = `${folder}/${name}`;
    const { text, wasm } = packWasm(await Deno.readTextFile(path), `./${assets}/${name}`);
    for (const [file, bytes] of wasm) await put(file, bytes);
    found.wasm += wasm.size;
    if (text.length < LARGE || await importsLater(text)) {
      if (wasm.size > 0) await Deno.writeTextFile(path, text);
      continue;
    }
    const file = `./${assets}/${name}.br`;
    const { stub, body } = await packModule(text, file).catch((error) => {
      throw new Error(`${path}: ${error.message}`);
    });
    await put(file, new TextEncoder().encode(body));
    await Deno.writeTextFile(path, stub);
    found.modules++;
  }
  if (found.wasm === 0) throw new Error(`${folder}: found no large WebAssembly, expected that of amaro`);
  if (found.modules === 0) {
    throw new Error(
      `${folder}: found no module of ${LARGE} characters, expected what draws and what reads PDF`,
    );
  }
}

function compressed(bytes: Uint8Array): Uint8Array {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
}
