/** The names of gadgets with every `server__*` replaced by those of the server that there are; one that has none stays, and is an error later. */
export function wholeServers(
  names: readonly string[],
  known: readonly { readonly name: string; readonly state?: string }[],
): readonly string[] {
  const ready = known.filter(({ state = "ready" }) => state === "ready").map(({ name }) => name);
  const whole = names.flatMap((name) => {
    if (!name.endsWith("__*")) return [name];
    const found = ready.filter((each) => each.startsWith(name.slice(0, -1)));
    return found.length === 0 ? [name] : found;
  });
  return [...new Set(whole)];
}
