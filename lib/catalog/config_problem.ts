import { SourceError } from "../core/source_error.ts";
import type { WrittenConfig } from "./read_config.ts";

/** A problem of a configuration file that only shows when its parts are seen together. */
export function problemAt(
  layer: WrittenConfig,
  path: readonly (string | number)[],
  say: { readonly message: string; readonly hint?: string; readonly what?: "key" },
): SourceError {
  const span = layer.at(path, say.what);
  return new SourceError(say.message, {
    code: "E-config",
    span,
    source: layer.source,
    hint: say.hint,
  });
}
