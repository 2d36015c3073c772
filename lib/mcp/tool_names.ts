import { mcpNamePart } from "../core/mcp_server.ts";

const MAX_LENGTH = 64;

/**
 * The gadget's name of each tool of a server: `server__tool`, other characters `_`, at most 64, and `_2` behind one that is taken
 * (gadgets.md 2). What is given is added to `taken`.
 */
export function toolNames(
  server: string,
  tools: readonly string[],
  { taken }: { readonly taken: Set<string> },
): readonly string[] {
  return tools.map((tool) => {
    const name = freeName(mcpNamePart(`${server}__${tool}`), taken);
    taken.add(name);
    return name;
  });
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  const name = wanted.slice(0, MAX_LENGTH);
  if (!taken.has(name)) return name;
  for (let number = 2;; number++) {
    const ending = `_${number}`;
    const other = wanted.slice(0, MAX_LENGTH - ending.length) + ending;
    if (!taken.has(other)) return other;
  }
}
