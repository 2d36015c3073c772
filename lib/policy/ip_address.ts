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
export function maybeIpRange(text: string): IpRange | undefined {
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
