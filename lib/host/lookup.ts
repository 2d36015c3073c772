/**
 * The addresses of a host, as the system resolves it (hosts file included), in the system's order.
 *
 * @throws {Error} with `ENOTFOUND` or another code of getaddrinfo in its message.
 */
export async function lookupAddresses(host: string): Promise<readonly string[]> {
  const [{ lookup }, { default: process }] = await Promise.all([
    import("node:dns/promises"),
    import("node:process"),
  ]);
  // Deno 2.6 would warn on stderr about a module that its own lookup uses.
  const before: unknown = Reflect.get(process, "noDeprecation");
  Reflect.set(process, "noDeprecation", true);
  const looking = lookup(host, { all: true });
  Reflect.set(process, "noDeprecation", before);
  return (await looking).map(({ address }) => address);
}
