/** Gives what was read of a file before, when the file is as it was then; else reads it. */
export type KeepFile = <T extends object>(path: string, read: () => Promise<T>) => Promise<T>;

/** Keeps nothing: every file is read. */
export async function keepNothing<T extends object>(_path: string, read: () => Promise<T>): Promise<T> {
  return await read();
}
