/** More cells than anybody waits for: then the lines in between are told as all removed and all added. */
const MAX_CELLS = 4_000_000;
const CONTEXT = 3;

interface Line {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** The difference of two texts, line by line, in the unified form; empty when there is none. Ends with a line feed. */
export function textDiff(expected: string, found: string): string {
  if (expected === found) return "";
  const lines = changes(expected.split("\n"), found.split("\n"));
  return ["--- expected", "+++ found", ...hunks(lines)].map((line) => `${line}\n`).join("");
}

function changes(a: readonly string[], b: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const same = (text: string): Line => ({ sign: " ", text });
  return [
    ...a.slice(0, start).map(same),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

/** By the longest common subsequence. */
function middle(a: readonly string[], b: readonly string[]): readonly Line[] {
  const width = b.length + 1;
  if ((a.length + 1) * width > MAX_CELLS) {
    return [...a.map((text): Line => ({ sign: "-", text })), ...b.map((text): Line => ({ sign: "+", text }))];
  }
  const longest = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: " ", text: a[i] ?? "" });
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: "-", text: a[i++] ?? "" });
    } else lines.push({ sign: "+", text: b[j++] ?? "" });
  }
  return lines;
}

/** The changed lines with a few around them, each group under the numbers of its lines. */
function hunks(lines: readonly Line[]): readonly string[] {
  const wanted = lines.map(() => false);
  lines.forEach(({ sign }, index) => {
    if (sign !== " ") wanted.fill(true, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  });
  const told: string[] = [];
  let [a, b] = [1, 1];
  for (let index = 0; index < lines.length; index++) {
    if (wanted[index] === true) {
      let end = index;
      while (wanted[end] === true) end++;
      const group = lines.slice(index, end);
      const count = (sign: Line["sign"]) => group.filter((line) => line.sign !== sign).length;
      const [removed, added] = [count("+"), count("-")];
      told.push(`@@ -${a},${removed} +${b},${added} @@`, ...group.map(({ sign, text }) => `${sign}${text}`));
      a += removed;
      b += added;
      index = end;
    }
    if (index < lines.length) {
      a++;
      b++;
    }
  }
  return told;
}
