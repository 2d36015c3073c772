/** Removes a file; one that is not there, or that may not be removed, is left alone. */
export function removeFile(path: string): void {
  try {
    Deno.removeSync(path);
  } catch { /* nothing depends on it */ }
}
