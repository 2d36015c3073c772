import { structuredPatch } from "diff";

/** More changed lines than anybody reads or waits for: then all lines are told as removed and added. */
const MAX_CHANGES = 2000;

/** The difference of two texts, line by line, in the unified form; empty when there is none. Ends with a line feed. */
export function textDiff(expected: string, found: string): string {
  if (expected === found) return "";
  const patch = structuredPatch("", "", `${expected}\n`, `${found}\n`, "", "", {
    context: 3,
    maxEditLength: MAX_CHANGES,
  });
  const [a, b] = [expected.split("\n"), found.split("\n")];
  const all = { oldStart: 1, oldLines: a.length, newStart: 1, newLines: b.length };
  const hunks = patch?.hunks ??
    [{ ...all, lines: [...a.map((line) => `-${line}`), ...b.map((line) => `+${line}`)] }];
  const told = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
  return ["--- expected", "+++ found", ...told].map((line) => `${line}\n`).join("");
}
