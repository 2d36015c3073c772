// Where the process of a gadget connects.
import { type GadgetAddress, orAborted } from "../../core/core.ts";
import { join } from "node:path";
import { denoGrants, isDeno29, quietly, removeFile } from "../process.ts";

/** Of a token, as it is sent: hexadecimal digits. */
const TOKEN_BYTES = 64;
/** How many may be connected and silent; then the one that has been so for longest goes. */
const MAX_SILENT = 32;
/** Bytes of the path of a socket, with the NUL at its end: 104 on macOS, 108 on Linux. */
const MAX_PATH_BYTES = 104;

/** A random token. */
export function newToken(): string {
  return (crypto.randomUUID() + crypto.randomUUID()).replaceAll("-", "");
}

/** A connection to the process of a gadget. */
export type GadgetConnection = Deno.TcpConn | Deno.UnixConn;

/** Somebody who waits for it. */
export interface GadgetListener extends Disposable {
  readonly at: GadgetAddress;
  readonly listener: Deno.TcpListener | Deno.UnixListener;
}

/**
 * Waits at a socket in the folder, which takes half as long as TCP for a message and is gone when nobody waits there any more; at a port
 * of 127.0.0.1 where there can be none: on Windows, under a long path, without its permissions.
 *
 * @param folder private: absolute
 * @throws {Error} that says which permission of Deno is missing
 */
export function listenForGadget(folder: string): GadgetListener {
  const path = join(folder, "socket");
  if (takesSocket(path)) return listening({ path }, Deno.listen({ transport: "unix", path }));
  if (!denoGrants({ name: "net", host: "127.0.0.1:0" })) {
    throw new Error("Cannot start a gadget: Deno itself was started without --allow-net=127.0.0.1");
  }
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listening({ port: listener.addr.port }, listener);
}

/**
 * The first connection that begins with the token: anybody on this machine can connect to a port of it, and nobody else is let in, or holds
 * that up. Then, and when the signal is aborted, the listener and every other connection are closed.
 *
 * @throws the signal's reason
 */
export async function tokenConnection(
  listener: GadgetListener["listener"],
  { token, signal }: { readonly token: string; readonly signal: AbortSignal },
): Promise<GadgetConnection> {
  const others = new Set<GadgetConnection>();
  const { promise, resolve, reject } = Promise.withResolvers<GadgetConnection>();
  let isOver = false;
  const take = async (connection: GadgetConnection): Promise<void> => {
    others.add(connection);
    if (await saysToken(connection, token) && !isOver) {
      isOver = true;
      others.delete(connection);
      return resolve(connection);
    }
    others.delete(connection);
    closeAnyhow(connection);
  };
  const acceptAll = async (): Promise<void> => {
    while (!isOver) {
      const connection = await listener.accept();
      if (isOver) return closeAnyhow(connection); // it was accepted while the listener was closed
      const [longest] = others;
      if (longest !== undefined && others.size >= MAX_SILENT) closeAnyhow(longest);
      void take(connection);
    }
  };
  acceptAll().catch(reject); // also when it is closed, which nobody hears any more
  try {
    return await orAborted(promise, signal);
  } finally {
    isOver = true;
    closeAnyhow(listener);
    others.forEach(closeAnyhow);
  }
}

async function saysToken(connection: GadgetConnection, token: string): Promise<boolean> {
  const bytes = new Uint8Array(TOKEN_BYTES); // no byte more: what comes behind is for whoever gets the connection
  try {
    for (let at = 0; at < bytes.length;) at += (await connection.read(bytes.subarray(at))) ?? Infinity;
    return isSame(new TextDecoder().decode(bytes), token);
  } catch {
    return false; // it went away
  }
}

/** Takes as long for a wrong token as for the right one. */
function isSame(found: string, token: string): boolean {
  let difference = found.length ^ token.length;
  for (let at = 0; at < token.length; at++) difference |= found.charCodeAt(at) ^ token.charCodeAt(at);
  return difference === 0;
}

function listening(at: GadgetAddress, listener: GadgetListener["listener"]): GadgetListener {
  return {
    at,
    listener,
    [Symbol.dispose]() {
      closeAnyhow(listener);
      if ("path" in at) removeFile(at.path); // Deno does it too, some time later
    },
  };
}

/** Closes what may be closed already. */
export function closeAnyhow(resource: { close(): void }): void {
  quietly(() => resource.close());
}

function takesSocket(path: string): boolean {
  return Deno.build.os !== "windows" && new TextEncoder().encode(path).length < MAX_PATH_BYTES &&
    (!isSocketNet() || denoGrants({ name: "net", host: `unix:${path}` })) &&
    denoGrants({ name: "read", path }) && denoGrants({ name: "write", path });
}

/** Whether a socket is a matter of the network too, and not of files alone. */
const isSocketNet = isDeno29;

/** The flags with which Deno lets a process connect there. */
export function connectFlags(at: GadgetAddress): readonly string[] {
  if ("port" in at) return [`--allow-net=127.0.0.1:${at.port}`];
  return [`--allow-write=${at.path}`, ...isSocketNet() ? [`--allow-net=unix:${at.path}`] : []];
}
