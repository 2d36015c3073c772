import assert from "node:assert/strict";

/**
 * Compares what a program printed with what its documentation shows. `…` and `[..]` stand for anything within a line, a
 * line that is only `…` for any number of lines; blanks at the end of a line do not count.
 *
 * @throws {assert.AssertionError} with both texts, when they differ.
 */
export function assertOutput(actual: string, expected: string, place: string): void {
  if (tidy(actual) === tidy(expected) || outputPattern(expected).test(tidy(actual))) return;
  assert.equal(
    tidy(actual),
    tidy(expected),
    `${place}: it prints something else than the documentation shows`,
  );
  assert.fail(`${place}: it prints something else than the documentation shows`);
}

/** What a `ts` block says that it prints, in its `// =>` comments; undefined when it has none. */
export function arrowComments(source: string): string | undefined {
  const arrows = [...source.matchAll(/\/\/ => (.*)$/gm)].map((match) => match[1] ?? "");
  return arrows.length === 0 ? undefined : arrows.join("\n");
}

function outputPattern(expected: string): RegExp {
  const lines = tidy(expected).slice(0, -1).split("\n").map((line) =>
    line.trim() === "…"
      ? "(?:[^\\n]*\\n)*?"
      : `${line.split(/…|\[\.\.\]/).map(escapeRegExp).join("[^\\n]*")}\\n`
  );
  return new RegExp(`^${lines.join("")}$`);
}

const tidy = (text: string): string =>
  `${text.replaceAll(/[ \t\r]+$/gm, "").trimEnd()}\n`.replace(/^\n+/, "");

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
