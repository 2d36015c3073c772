// Where the process of a gadget connects.
import type { GadgetAddress } from "../core/gadget_message.ts";
import { join } from "node:path";
import { denoGrants, isDeno29 } from "./process.ts";

/** Bytes of the path of a socket, with the NUL at its end: 104 on macOS, 108 on Linux. */
const MAX_PATH_BYTES = 104;

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

function listening(at: GadgetAddress, listener: GadgetListener["listener"]): GadgetListener {
  return {
    at,
    listener,
    [Symbol.dispose]() {
      closeAnyhow(listener);
      if ("path" in at) removeAnyhow(at.path); // Deno does it too, some time later
    },
  };
}

/** Closes what may be closed already. */
export function closeAnyhow(resource: { close(): void }): void {
  try {
    resource.close();
  } catch { /* it is */ }
}

function removeAnyhow(path: string): void {
  try {
    Deno.removeSync(path);
  } catch { /* it is gone */ }
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
