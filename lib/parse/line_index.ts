/** Finds the place of an offset in a text: line and column from 1, a line ends with LF; an offset beyond the text means its end. */
export type LineIndex = (offset: number) => { readonly line: number; readonly column: number };

/** For many places of one text: each takes a look at a few lines, and not at all before it. */
export function lineIndex(text: string): LineIndex {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    const at = Math.min(Math.max(0, offset), text.length);
    const line = lastAtMost(starts, at);
    return { line: line + 1, column: at - (starts[line] ?? 0) + 1 };
  };
}

/** The index of the last of ascending numbers that is not above the wanted one. */
function lastAtMost(numbers: readonly number[], wanted: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? Infinity) <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}
