import { sha256 } from "../../core/sha256.ts";

/** Goes up when the same files would be made into something else: what was kept under the old hash is then made anew. */
const PIPELINE = 2;

/**
 * The hash of a gadget's modules.
 *
 * @param modules the entry first; `way` is the path below the entry's folder, with `/`
 */
export function graphHash(modules: readonly { readonly way: string; readonly sha256: string }[]): string {
  const files = modules.map(({ way, sha256 }) => [way, sha256] as const).sort(([a], [b]) => a < b ? -1 : 1);
  return sha256(JSON.stringify({ pipeline: PIPELINE, entry: modules[0]?.way, files }));
}
