// A connection to an address that was checked. Where Deno itself was started with a list of hosts, it knows them by name
// only; then the name is dialled, and the address at the other end is checked before anything is sent.
import type { Policy } from "../../core/core.ts";
import { systemReason } from "../files/attempt.ts";
import type { ByteChannel } from "./exchange.ts";
import { denoGrants, quietly } from "../process.ts";

/** Where to connect to, and how. */
export interface DialTarget {
  /** As in a URL: an IPv6 address stands in brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** PEM certificates that are trusted besides the system's. */
  readonly caCerts: readonly string[];
}

interface DialOptions {
  readonly check: Policy["permit"];
  readonly signal?: AbortSignal;
}

/** How long one address is tried when there is another. */
const ATTEMPT_MS = 10_000;

/**
 * Connects: the host is checked, resolved once, and every address is checked before it is dialled.
 *
 * @throws {PermissionRefused} by the check; {Error} when nothing answers, or Deno itself may not connect.
 */
export async function dial(target: DialTarget, options: DialOptions): Promise<Deno.Conn> {
  const value = `${target.host}:${target.port}`;
  await options.check({ kind: "net", value }); // before DNS: the question alone could carry something out
  const addresses = await maybeAddresses(target.host, options.signal);
  if (addresses === undefined) return await dialByName(target, options);
  let problem: unknown;
  for (const [index, address] of addresses.entries()) {
    await options.check({ kind: "net", value, address });
    if (!denoGrants({ name: "net", host: hostPort(address, target.port) })) {
      return await dialByName(target, options);
    }
    const limitMs = index < addresses.length - 1 ? ATTEMPT_MS : undefined;
    try {
      return await within(dialAddress(address, target), {
        ...options,
        limitMs,
      });
    } catch (error) {
      options.signal?.throwIfAborted();
      problem = error;
    }
  }
  throw problem;
}

async function dialAddress(address: string, target: DialTarget): Promise<Deno.Conn> {
  const connection = await Deno.connect({ hostname: address, port: target.port });
  if (!target.tls) return connection;
  return await handshaken(
    await Deno.startTls(connection, { hostname: bare(target.host), caCerts: [...target.caCerts] }),
  );
}

async function dialByName(target: DialTarget, options: DialOptions): Promise<Deno.Conn> {
  const { port, tls, caCerts } = target;
  const hostname = bare(target.host);
  const value = `${target.host}:${port}`;
  if (!denoGrants({ name: "net", host: value })) {
    throw new Error(`Deno itself was started without --allow-net=${value}`);
  }
  const connecting = tls
    ? Deno.connectTls({ hostname, port, caCerts: [...caCerts] }).then(handshaken)
    : Deno.connect({ hostname, port });
  const connection = await within<Deno.Conn>(connecting, options);
  try {
    const remote = connection.remoteAddr;
    await options.check({ kind: "net", value, address: "hostname" in remote ? remote.hostname : "" });
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function handshaken(connection: Deno.TlsConn): Promise<Deno.Conn> {
  try {
    await connection.handshake();
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The addresses of a host; undefined when Deno may connect to it but not look it up. */
async function maybeAddresses(
  host: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | undefined> {
  const name = bare(host);
  if (name !== host || /^\d+\.\d+\.\d+\.\d+$/.test(name)) return [name];
  if (!denoGrants({ name: "net", host: name })) return undefined;
  const addresses = await within(lookupAddresses(name), { signal });
  if (addresses.length === 0) throw new Error("its host has no address");
  return addresses;
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

function hostPort(address: string, port: number): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Waits for something that cannot be stopped; what comes too late is closed. */
function within<T extends object>(
  work: Promise<T>,
  options: { signal?: AbortSignal; limitMs?: number },
): Promise<T> {
  const { signal, limitMs } = options;
  return new Promise((resolve, reject) => {
    let over = false;
    const giveUp = (reason: unknown) => {
      over = true;
      reject(reason);
    };
    const onAbort = () => giveUp(signal?.reason);
    const timer = limitMs === undefined
      ? undefined
      : setTimeout(() => giveUp(new Error("no answer")), limitMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    work.then((value) => {
      if (over && "close" in value && typeof value.close === "function") value.close();
      resolve(value);
    }, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    });
  });
}

/**
 * The addresses of a host, as the system resolves it (hosts file included), in the system's order.
 *
 * @throws {Error} with `ENOTFOUND` or another code of getaddrinfo in its message.
 */
async function lookupAddresses(host: string): Promise<readonly string[]> {
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

/** Opens a TCP connection and closes it again, nothing being sent. @throws when nothing answers within 300 ms, or Deno may not connect. */
export async function tcpConnect(
  target: { readonly hostname: string; readonly port: number },
): Promise<void> {
  (await within(Deno.connect(target), { limitMs: 300 })).close();
}

/** A connection that an abort closes, which is what ends a read that waits. */
export class AbortableConnection implements ByteChannel {
  readonly signal: AbortSignal | undefined;
  readonly #onAbort = () => this.close();
  #open: Deno.Conn | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  open(connection: Deno.Conn): void {
    this.#open = connection;
    if (this.signal?.aborted) this.close();
  }

  read(into: Uint8Array<ArrayBuffer>): Promise<number | null> {
    return this.#opened().read(into);
  }

  write(bytes: Uint8Array<ArrayBuffer>): Promise<number> {
    return this.#opened().write(bytes);
  }

  close(): void {
    this.signal?.removeEventListener("abort", this.#onAbort);
    quietly(() => this.#open?.close());
  }

  #opened(): Deno.Conn {
    if (this.#open === undefined) throw new Error("the connection is not open");
    return this.#open;
  }
}

/** Why a request to a URL failed, in words that go behind "Cannot fetch …:". */
export function connectionProblem(error: unknown, url: URL): string {
  const message = systemReason(error);
  if (/ENOTFOUND|EAI_/.test(message)) return `there is no address for the host "${url.hostname}"`;
  if (error instanceof Deno.errors.ConnectionRefused) {
    return `nothing answers at ${url.host} (connection refused)`;
  }
  if (error instanceof Deno.errors.NotCapable) {
    return `Deno itself was started without the permission: ${message}`;
  }
  if (message.includes("invalid peer certificate")) {
    return `the certificate of ${url.host} is not accepted: ${message}`;
  }
  return message;
}
