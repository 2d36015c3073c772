import { basename } from "node:path";

/** Lines as `sha256sum` writes and checks them, by the names of the files, without their folders. */
export async function checksumsOf(files: readonly string[]): Promise<string> {
  const lines = await Promise.all(files.map(async (file) => {
    const hash = await crypto.subtle.digest("SHA-256", await Deno.readFile(file));
    return { name: basename(file), hash: new Uint8Array(hash).toHex() };
  }));
  lines.sort((a, b) => a.name < b.name ? -1 : 1);
  return lines.map(({ name, hash }) => `${hash}  ${name}\n`).join("");
}
