/** Compares problems of one file, for a sort: by line and column; one without a column stands before those of its line. */
export function byPlace(
  a: { readonly line: number; readonly column?: number },
  b: { readonly line: number; readonly column?: number },
): number {
  return a.line - b.line || (a.column ?? 0) - (b.column ?? 0);
}
