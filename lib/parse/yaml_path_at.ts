import type { Node } from "yaml";
import type { YamlLibrary } from "./yaml_library.ts";

interface Inner {
  readonly key: string | number;
  readonly node: Node;
}

/** The way to the innermost part of a YAML document that stands around an offset, from 0. Aliases are not followed. */
export function yamlPathAt(
  root: Node | null,
  offset: number,
  library: YamlLibrary,
): readonly (string | number)[] {
  const path: (string | number)[] = [];
  for (let here = root; here !== null && here.range?.[0] !== offset;) {
    const inner = innerAt(here, offset, library);
    if (inner !== undefined) path.push(inner.key);
    here = inner?.node ?? null;
  }
  return path;
}

function innerAt(
  holder: Node,
  offset: number,
  { isMap, isNode, isScalar, isSeq }: YamlLibrary,
): Inner | undefined {
  const isAround = (node: unknown): node is Node => {
    const [start, end] = isNode(node) ? node.range ?? [0, 0] : [0, 0];
    return start <= offset && offset < end;
  };
  if (isSeq(holder)) {
    const key = holder.items.findIndex(isAround);
    const node = holder.items[key];
    return isAround(node) ? { key, node } : undefined;
  }
  const pair = isMap(holder) ? holder.items.find(({ value }) => isAround(value)) : undefined;
  if (!isAround(pair?.value) || !isScalar(pair.key)) return undefined;
  return { key: String(pair.key.value ?? ""), node: pair.value };
}
