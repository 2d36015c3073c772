// Calls run side by side, and two that read, change and write the same file would lose the change of one. The queue is
// the module's own, because WriteFile and EditFile share it.
const tails = new Map<string, Promise<unknown>>();

/** Runs the work when all work queued before for the same real path is done; a failure before it does not matter. */
export async function inTurn<T>(realPath: string, work: () => Promise<T>): Promise<T> {
  const before = tails.get(realPath) ?? Promise.resolve();
  const done = before.then(work, work);
  const tail = done.catch(() => {});
  tails.set(realPath, tail);
  try {
    return await done;
  } finally {
    if (tails.get(realPath) === tail) tails.delete(realPath);
  }
}
