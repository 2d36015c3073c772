/** A flag that no shell reads as anything but itself. */
const HARMLESS = /^(--[a-z-]+)(?:[= ]([\w@%+=:,./-]+))?$/;

/**
 * The flags that would have allowed what was refused, in one line to copy: `add --allow-write=out --trust=chart`; lists of
 * one flag are joined. Undefined when no flag would help.
 *
 * @param flags as words for a shell: one that needs quotes has them
 */
export function refusalLine(flags: readonly string[]): string | undefined {
  const lists = new Map<string, Set<string>>();
  const quoted = new Set<string>();
  for (const flag of flags) {
    const [, name, value] = HARMLESS.exec(flag) ?? [];
    if (name !== undefined) {
      lists.set(name, new Set([...lists.get(name) ?? [], ...(value === undefined ? [] : [value])]));
    } else if (flag !== "") quoted.add(shellQuoted(flag));
  }
  const words = [...lists].map(([name, list]) => list.size === 0 ? name : `${name}=${[...list].join(",")}`);
  return words.length + quoted.size === 0 ? undefined : `add ${[...words, ...quoted].join(" ")}`;
}

/** Names and paths in a flag may come from a model: what has no quotes yet and could be obeyed by a shell gets them. */
function shellQuoted(flag: string): string {
  if (/^\$?'[^\n]*'$/.test(flag)) return flag;
  return `'${flag.replace(" ", "=").replaceAll("'", `'\\''`)}'`;
}
