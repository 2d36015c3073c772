import type { Node } from "yaml";
import { isRecord } from "../core/json.ts";
import type { SourceError } from "../core/source_error.ts";
import type { YamlLibrary } from "./yaml_library.ts";

interface Key {
  readonly name: string | undefined;
  /** Begin and end of the key with its value, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/**
 * Of a mapping with problems the keys that have none: written once, with no problem in a line of theirs, and before the place where the
 * reader lost its way, as the value that is cut there is not whole. Null for what is no mapping.
 */
export function soundPart(
  value: unknown,
  root: Node | null,
  { library, lost, problems, text }: {
    readonly library: YamlLibrary;
    /** In UTF-16 units; undefined when it did not. */
    readonly lost: number | undefined;
    readonly problems: readonly SourceError[];
    readonly text: string;
  },
): unknown {
  if (!isRecord(value)) return null;
  const keys = keysOf(root, library);
  const read = lost === undefined ? keys : keys.filter(({ start }) => start <= lost).slice(0, -1);
  const lines = linesOf(problems, text);
  const sound = new Set<string>();
  for (const { name, start, end } of read) {
    const isTouched = lines.some((line) => start <= line.end && line.start <= end);
    if (name !== undefined && !isTouched) sound.add(name);
  }
  const seen = new Set<string | undefined>();
  for (const { name = "" } of keys) {
    if (seen.has(name)) sound.delete(name);
    seen.add(name);
  }
  return Object.fromEntries(Object.entries(value).filter(([name]) => sound.has(name)));
}

function keysOf(root: Node | null, { isMap, isNode, isScalar }: YamlLibrary): readonly Key[] {
  if (!isMap(root)) return [];
  return root.items.map(({ key, value }) => {
    const [start = 0, keyEnd = 0] = isNode(key) ? key.range ?? [] : [];
    const [, end = keyEnd] = isNode(value) ? value.range ?? [] : [];
    return { name: isScalar(key) ? String(key.value ?? "") : undefined, start, end };
  });
}

/** Where the lines with problems begin and end. */
function linesOf(
  problems: readonly SourceError[],
  text: string,
): readonly { readonly start: number; readonly end: number }[] {
  const wanted = new Set(problems.map(({ span }) => span?.line ?? 1));
  let start = 0;
  return text.split("\n").flatMap((line, index) => {
    const here = { start, end: start + line.length };
    start = here.end + 1;
    return wanted.has(index + 1) ? [here] : [];
  });
}
