import type { KindRules, RulePair } from "./rules.ts";

/** An entry of `--allow-net` or `--deny-net`. */
export interface NetRule {
  /** As the user wrote it. */
  readonly text: string;
  readonly host:
    | { readonly kind: "name"; readonly name: string }
    | { readonly kind: "domain"; readonly name: string }
    | { readonly kind: "range"; readonly range: IpRange };
  /** Absent: every port. */
  readonly port?: number;
}

/** Where a connection goes. */
interface NetTarget {
  /** Lower case, without brackets and without a dot at the end. */
  readonly host: string;
  readonly port: number | undefined;
  /** What the host was resolved to. */
  readonly address?: string;
}

const FORMS = `a host such as "example.com", "example.com:443", "*.example.com", "[::1]:80" or "10.0.0.0/8"`;

/**
 * Reads `host`, `host:port`, `*.domain` (with the domain itself, as in Deno), an address or a range.
 *
 * @throws {TypeError} that says what is wrong with it.
 */
export function parseNetRule(text: string): NetRule {
  if (text.includes("://")) throw new TypeError(`expected ${FORMS}, found a URL`);
  const parts = /^(?<host>\[[^\]]*\](?:\/\d+)?|[^:[\]]+)(?::(?<port>[^:]*))?$/.exec(text)?.groups;
  if (parts?.host === undefined) {
    if (maybeIpRange(text) !== undefined) {
      throw new TypeError(`an IPv6 address stands in brackets: [${text}]`);
    }
    throw new TypeError(`expected ${FORMS}`);
  }
  const port = parts.port === undefined ? {} : { port: portOf(parts.port) };
  return { text, host: hostOf(parts.host), ...port };
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port >= 1 && port <= 65_535) return port;
  throw new TypeError(`expected a port from 1 to 65535 after the colon, found "${text}"`);
}

function hostOf(text: string): NetRule["host"] {
  const range = maybeIpRange(text.replace(/^\[(.*)\]/, "$1"));
  if (range !== undefined) return { kind: "range", range };
  const domain = text.startsWith("*.");
  const name = maybeHostName(domain ? text.slice(2) : text);
  if (name === undefined) throw new TypeError(`expected ${FORMS}`);
  const address = maybeIpAddress(name); // "127.1" has become an address
  if (address !== undefined) return { kind: "range", range: { base: address, bits: address.length * 8 } };
  return { kind: domain ? "domain" : "name", name };
}

/** A host as a URL writes it: lower case, other scripts in Punycode. */
function maybeHostName(text: string): string | undefined {
  if (!/^[^\s/\\?#@:*%[\]]+$/.test(text) || !URL.canParse(`http://${text}/`)) return undefined;
  return new URL(`http://${text}/`).hostname.replace(/\.$/, "") || undefined;
}

/** Reads the `host:port` of a request. */
function netTarget(value: string, address?: string): NetTarget {
  const parts = /^(?<host>\[[^\]]*\]|[^:]*)(?::(?<port>\d+))?$/.exec(value)?.groups;
  const host = (parts?.host ?? value).replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "").toLowerCase();
  const port = parts?.port === undefined ? undefined : Number(parts.port);
  return { host, port, address };
}

/** Why an address may not be used although its host is allowed. */
export interface PrivateAddress {
  /** `it leads to 10.0.0.5, which is not public …` */
  readonly reason: string;
  /** What has to be named besides, as `10.0.0.5:443`; absent where it is the host itself. */
  readonly entry?: string;
}

/** The rules for hosts, and for the addresses they were resolved to. */
export interface NetRules extends KindRules {
  maybePrivate(value: string, address?: string): PrivateAddress | undefined;
}

/**
 * The rules for the network: allowed is a host, by its name; denied are hosts and addresses. An address that is not public is open only
 * where it is named itself, or `localhost`: a name is not its address, and who runs its name server may point it anywhere.
 */
export function netRules(pair: RulePair): NetRules {
  const allow = pair.allow.list.map(parseNetRule);
  const deny = pair.deny.list.map(parseNetRule);
  const outright = allow.filter((rule) => namesOutright(rule) || namesThisMachine(rule));
  return {
    maybeDenied: (value, address) => deny.find((rule) => matches(rule, netTarget(value, address)))?.text,
    isAllowed: (value) => pair.allow.all || allow.some((rule) => matchesHost(rule, netTarget(value))),
    maybePrivate(value, address) {
      const target = netTarget(value, address);
      const range = maybeRange(target);
      if (range === undefined || outright.some((rule) => opens(rule, target, range))) return undefined;
      return privateAddress(target, range);
    },
  };
}

/** Whether a rule that names its hosts outright means this address too. */
function opens(rule: NetRule, target: NetTarget, range: string): boolean {
  return rule.host.kind === "range"
    ? matches(rule, target)
    : range === "loopback" && matchesHost(rule, target);
}

function privateAddress({ host, port, address = host }: NetTarget, range: string): PrivateAddress {
  const isItself = address === host;
  const told = isItself ? "it" : `it leads to ${address}, which`;
  const isLocal = range === "loopback" && isLocalName(host);
  if (isItself || isLocal || maybeIpAddress(address) === undefined) {
    return { reason: `${told} is not public (${range}) and must be named outright` };
  }
  const bare = address.replace(/%.*$/, "");
  return {
    reason: `${told} is not public (${range}); a name opens no such address, ` +
      "so the address, or a range that it is in, must be named outright too",
    entry: (bare.includes(":") ? `[${bare}]` : bare) + (port === undefined ? "" : `:${port}`),
  };
}

/** Before the host is resolved only one that is an address itself tells. */
function maybeRange({ host, address = host }: NetTarget): string | undefined {
  return address === host && maybeIpAddress(host) === undefined ? undefined : privateRange(address);
}

function matches(rule: NetRule, target: NetTarget): boolean {
  return matchesHost(rule, target) || matchesAddress(rule, target);
}

/** Whether the rule speaks of this host, by its name or, when it is an address itself, by that. */
function matchesHost(rule: NetRule, target: NetTarget): boolean {
  if (rule.port !== undefined && rule.port !== target.port) return false;
  const { host } = rule;
  const address = maybeIpAddress(target.host);
  if (host.kind === "range") return address !== undefined && isWithin(address, host.range);
  if (target.host === host.name) return true;
  return host.kind === "domain" && address === undefined && target.host.endsWith(`.${host.name}`);
}

/** Whether the rule speaks of the address that the host was resolved to. */
function matchesAddress(rule: NetRule, target: NetTarget): boolean {
  if (rule.port !== undefined && rule.port !== target.port) return false;
  const address = target.address === undefined ? undefined : maybeIpAddress(target.address);
  return address !== undefined && rule.host.kind === "range" && isWithin(address, rule.host.range);
}

/** Whether the rule names addresses, and means those that are not public. A range does when all of it is private. */
function namesOutright(rule: NetRule): boolean {
  if (rule.host.kind !== "range") return false;
  const [first, last] = endsOf(rule.host.range).map(privateRange);
  return rule.host.range.bits === rule.host.range.base.length * 8 || (first !== undefined && first === last);
}

/** Whether the rule names this machine, which nobody's name server speaks for (RFC 6761, 6.3). A domain names nothing outright. */
function namesThisMachine({ host }: NetRule): boolean {
  return host.kind === "name" && isLocalName(host.name);
}

/** Whether a name means this machine: `localhost`, and every name below it. */
export function isLocalName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost");
}

// Own code for a few dozen lines: the check before a connection must not wait for a module to load.

/** An IP address: 4 bytes, or 16. */
export type IpAddress = readonly number[];

/** All addresses that share their first `bits` bits with `base`. */
export interface IpRange {
  readonly base: IpAddress;
  readonly bits: number;
}

/** Reads an address as a URL or a resolver writes it, in brackets or not; an IPv4-mapped one is given as its IPv4 form. */
export function maybeIpAddress(text: string): IpAddress | undefined {
  const bare = text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, ""); // "%eth0" names the interface, not the address
  const bytes = bare.includes(":") ? maybeIpv6(bare) : maybeIpv4(bare);
  return bytes !== undefined && isWithin(bytes, MAPPED) ? bytes.slice(12) : bytes;
}

/** Reads `10.0.0.0/8`, or a single address. */
function maybeIpRange(text: string): IpRange | undefined {
  const [address = "", bits, ...more] = text.split("/");
  const base = maybeIpAddress(address);
  if (base === undefined || more.length > 0) return undefined;
  if (bits === undefined) return { base, bits: base.length * 8 };
  return /^\d{1,3}$/.test(bits) && Number(bits) <= base.length * 8 ? { base, bits: Number(bits) } : undefined;
}

/** Whether the address is of the range's family and in it. */
export function isWithin(address: IpAddress, range: IpRange): boolean {
  if (address.length !== range.base.length) return false;
  return address.every((byte, index) => {
    const bits = Math.min(8, Math.max(0, range.bits - index * 8));
    const mask = 0xff & (0xff << (8 - bits));
    return (byte & mask) === ((range.base[index] ?? 0) & mask);
  });
}

/** The first and the last address of a range. */
export function endsOf(range: IpRange): readonly [IpAddress, IpAddress] {
  const hostBits = (index: number) => 0xff >> Math.min(8, Math.max(0, range.bits - index * 8));
  return [
    range.base.map((byte, index) => byte & ~hostBits(index) & 0xff),
    range.base.map((byte, index) => byte | hostBits(index)),
  ];
}

/** Four decimal numbers only: "0177.0.0.1" and "2130706433" are for the URL parser, which writes them out. */
function maybeIpv4(text: string): IpAddress | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) {
    return undefined;
  }
  return parts.map(Number);
}

function maybeIpv6(text: string): IpAddress | undefined {
  const [head = "", tail, ...more] = text.split("::");
  if (more.length > 0) return undefined;
  const before = maybeGroups(head);
  const after = tail === undefined ? [] : maybeGroups(tail);
  if (before === undefined || after === undefined) return undefined;
  const missing = 16 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 2) return undefined;
  return [...before, ...new Array<number>(missing).fill(0), ...after];
}

/** The bytes of groups divided by colons, the last of which may be an IPv4 address. */
function maybeGroups(text: string): number[] | undefined {
  if (text === "") return [];
  const bytes: number[] = [];
  const groups = text.split(":");
  for (const [index, group] of groups.entries()) {
    const ipv4 = index === groups.length - 1 && group.includes(".") ? maybeIpv4(group) : undefined;
    if (ipv4 !== undefined) bytes.push(...ipv4);
    else if (/^[0-9a-f]{1,4}$/i.test(group)) bytes.push(parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff);
    else return undefined;
  }
  return bytes;
}

const MAPPED: IpRange = { base: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0], bits: 96 };

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
