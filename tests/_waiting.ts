// Waiting in tests: a while, until something is so, and no longer than that.

import assert from "node:assert/strict";

/** ms. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Looks every 10 ms whether it is so. @throws {assert.AssertionError} when it is not after `mostMs` */
export async function until(isSo: () => Promise<boolean> | boolean, mostMs = 10_000): Promise<void> {
  const end = performance.now() + mostMs;
  while (!await isSo()) {
    assert.ok(performance.now() < end, `it did not come about within ${mostMs} ms`);
    await pause(10);
  }
}

/** What a promise gives. @throws {Error} when it has not come after `mostMs` */
export async function within<Value>(promise: Promise<Value>, mostMs = 10_000): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`not within ${mostMs} ms`)), mostMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
