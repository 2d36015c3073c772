// The way to another process and back with nothing at either end: what the machine itself takes for a call, just now.

import { fileURLToPath } from "node:url";
import { listenForGadget } from "../../lib/host/commands/gadget_listener.ts";
import { median } from "./_median.ts";

const MESSAGE = new Uint8Array(180); // as long as a small call

/** The p50 of a message to another Deno process and back, in µs. */
export async function echoUs({ times }: { readonly times: number }): Promise<number> {
  const folder = await Deno.makeTempDir();
  using waiting = listenForGadget(folder);
  const { at, listener } = waiting;
  const script = fileURLToPath(new URL("./_echo_child.ts", import.meta.url));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--no-lock", "-A", script, JSON.stringify(at)],
    stdin: "null",
  }).spawn();
  using connection = await listener.accept();
  if ("setNoDelay" in connection) connection.setNoDelay(true);
  const buffer = new Uint8Array(1024);
  const found: number[] = [];
  for (let at = 0; at < times; at++) {
    const start = performance.now();
    await connection.write(MESSAGE);
    await connection.read(buffer);
    found.push(performance.now() - start);
  }
  connection.closeWrite();
  await child.status;
  waiting[Symbol.dispose]();
  await Deno.remove(folder, { recursive: true });
  return median(found.slice(times / 10)) * 1000;
}
