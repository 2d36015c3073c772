// The way to another process and back with nothing at either end: what the machine itself takes for a call, just now.

import { fileURLToPath } from "node:url";
import { median } from "./_median.ts";

const MESSAGE = new Uint8Array(180); // as long as a small call

/** The p50 of a message to another Deno process and back, in µs. */
export async function echoUs({ times }: { readonly times: number }): Promise<number> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const script = fileURLToPath(new URL("./_echo_child.ts", import.meta.url));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--no-lock", "--allow-net=127.0.0.1", script, String(listener.addr.port)],
    stdin: "null",
  }).spawn();
  using connection = await listener.accept();
  connection.setNoDelay(true);
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
  return median(found.slice(times / 10)) * 1000;
}
