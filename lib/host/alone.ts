import { dirname } from "node:path";

/**
 * Does the work while no other process that asks in this way does any for the same path. The lock is that of the system, on a file beside it,
 * so it ends with the process that has it. Where files cannot be locked the work is done without.
 *
 * @param path absolute; its folder is made, for nobody else to read
 */
export async function alone(path: string, work: () => Promise<void>): Promise<void> {
  using lock = await maybeLock(`${path}.lock`);
  await lock.ready;
  await work();
}

interface Lock extends Disposable {
  readonly ready: Promise<void>;
}

async function maybeLock(path: string): Promise<Lock> {
  try {
    await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await Deno.open(path, { create: true, write: true, mode: 0o600 });
    const ready = file.lock(true).catch(() => undefined); // such as a folder of another machine
    return { ready, [Symbol.dispose]: () => file.close() };
  } catch {
    return { ready: Promise.resolve(), [Symbol.dispose]: () => undefined };
  }
}
