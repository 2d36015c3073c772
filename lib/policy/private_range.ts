import { type IpAddress, type IpRange, isWithin, maybeIpAddress, maybeIpRange } from "./ip_address.ts";

/** Ranges that are not the public network, the narrower before the wider (IANA special-purpose registries). */
const RANGES: readonly (readonly [string, string])[] = [
  ["169.254.169.254/32", "metadata"],
  ["168.63.129.16/32", "metadata"], // Azure
  ["100.100.100.200/32", "metadata"], // Alibaba Cloud
  ["192.0.0.192/32", "metadata"], // Oracle Cloud
  ["fd00:ec2::254/128", "metadata"], // Amazon EC2
  ["0.0.0.0/8", "unspecified"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "carrier-grade NAT"],
  ["127.0.0.0/8", "loopback"],
  ["169.254.0.0/16", "link-local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "reserved"],
  ["192.0.2.0/24", "documentation"],
  ["192.88.99.0/24", "reserved"],
  ["192.168.0.0/16", "private"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved"],
  ["::/128", "unspecified"],
  ["::1/128", "loopback"],
  ["64:ff9b:1::/48", "private"], // NAT64 for local use, RFC 8215
  ["100::/64", "discard"],
  ["2001:2::/48", "benchmarking"], // RFC 5180
  ["2001:10::/28", "reserved"], // ORCHID, RFC 4843
  ["2001:20::/28", "reserved"], // ORCHIDv2, RFC 7343
  ["2001:db8::/32", "documentation"],
  ["3fff::/20", "documentation"],
  ["5f00::/16", "reserved"],
  ["fc00::/7", "unique local"],
  ["fe80::/10", "link-local"],
  ["fec0::/10", "site-local"],
  ["ff00::/8", "multicast"],
];

/** IPv6 ranges whose addresses hold an IPv4 address that the packet ends up at; from which byte, and whether it is inverted. */
const EMBEDDING: readonly (readonly [string, number, 0 | 0xff])[] = [
  ["::/96", 12, 0], // IPv4-compatible, RFC 4291
  ["::ffff:0:0:0/96", 12, 0], // IPv4-translated, RFC 2765
  ["64:ff9b::/96", 12, 0], // NAT64, RFC 6052
  ["2002::/16", 2, 0], // 6to4, RFC 3056
  ["2001::/32", 12, 0xff], // Teredo, RFC 4380
];

/** Read when the first address is looked at: most runs have none. */
const readRanges = () => ({
  ranges: RANGES.map(([text, name]) => [rangeOf(text), name] as const),
  embedding: EMBEDDING.map(([text, at, mask]) => [rangeOf(text), at, mask] as const),
});
let known: ReturnType<typeof readRanges> | undefined;

/**
 * The name of the range that makes an address private, such as "loopback" (gadgets.md 3); undefined for a public one.
 * An IPv6 address that stands for an IPv4 one is judged by that. What is no address at all is "unreadable".
 */
export function privateRange(address: string | IpAddress): string | undefined {
  const bytes = typeof address === "string" ? maybeIpAddress(address) : address;
  if (bytes === undefined) return "unreadable";
  const { ranges, embedding } = known ??= readRanges();
  const found = ranges.find(([range]) => isWithin(bytes, range));
  if (found !== undefined) return found[1];
  for (const [range, at, mask] of embedding) {
    if (isWithin(bytes, range)) return privateRange(bytes.slice(at, at + 4).map((byte) => byte ^ mask));
  }
  return undefined;
}

function rangeOf(text: string): IpRange {
  const range = maybeIpRange(text);
  if (range === undefined) throw new TypeError(`${text} is no range of addresses`);
  return range;
}
