import { endsOf, type IpRange, isWithin, maybeIpAddress, maybeIpRange } from "./ip_address.ts";
import type { KindRules, RulePair } from "./kind_rules.ts";
import { privateRange } from "./private_range.ts";

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
