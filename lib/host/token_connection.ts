// Anybody on this machine can connect to a port of it: only who says the token is let in, and nobody else holds that up.
import { closeAnyhow, type GadgetConnection, type GadgetListener } from "./gadget_listener.ts";
import { isRecord } from "../core/json.ts";

/** As long as a hello can be. */
const MAX_HELLO_BYTES = 512;
const HEAD_BYTES = 8;
/** How many may be connected and silent; then the one that has been so for longest goes. */
const MAX_SILENT = 32;

/** A random token of 64 hexadecimal digits. */
export function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The first connection whose first frame says hello with the token. Then, and when the signal is aborted, the listener and every other
 * connection are closed.
 *
 * @throws the signal's reason
 */
export async function tokenConnection(
  listener: GadgetListener["listener"],
  { token, signal }: { readonly token: string; readonly signal: AbortSignal },
): Promise<GadgetConnection> {
  const silent = new Set<GadgetConnection>();
  const { promise, resolve, reject } = Promise.withResolvers<GadgetConnection>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  let isOver = false;
  const take = async (connection: GadgetConnection): Promise<void> => {
    if (isOver) return closeAnyhow(connection); // it was accepted while the listener was closed
    silent.add(connection);
    const [longest] = silent;
    if (silent.size > MAX_SILENT && longest !== undefined) drop(longest, silent);
    const isOurs = await saysToken(connection, token);
    if (isOver || !isOurs || !silent.delete(connection)) return drop(connection, silent);
    isOver = true; // before anybody hears of it: another one may say the token in the same turn
    resolve(connection);
  };
  acceptAll(listener, (connection) => void take(connection)).catch(reject);
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
    isOver = true;
    closeAnyhow(listener);
    for (const connection of silent) drop(connection, silent);
  }
}

async function acceptAll(
  listener: GadgetListener["listener"],
  take: (connection: GadgetConnection) => void,
): Promise<void> {
  try {
    for await (const connection of listener) take(connection);
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error; // it was closed
  }
}

function drop(connection: GadgetConnection, silent: Set<GadgetConnection>): void {
  silent.delete(connection);
  closeAnyhow(connection);
}

async function saysToken(connection: GadgetConnection, token: string): Promise<boolean> {
  try {
    const head = new DataView((await exactly(connection, HEAD_BYTES)).buffer);
    const length = head.getUint32(0);
    if (length > MAX_HELLO_BYTES || head.getUint32(4) !== 0) return false;
    const hello: unknown = JSON.parse(new TextDecoder().decode(await exactly(connection, length)));
    return isRecord(hello) && hello.type === "hello" && isSame(String(hello.token), token);
  } catch {
    return false; // it went away, or said something else
  }
}

/** No byte more: what comes behind a hello is for whoever gets the connection. */
async function exactly(connection: GadgetConnection, count: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count;) {
    const length = await connection.read(bytes.subarray(at));
    if (length === null) throw new Error("it ended");
    at += length;
  }
  return bytes;
}

/** Takes as long for a wrong token as for the right one. */
function isSame(found: string, token: string): boolean {
  let difference = found.length ^ token.length;
  for (let at = 0; at < token.length; at++) difference |= found.charCodeAt(at) ^ token.charCodeAt(at);
  return difference === 0;
}
