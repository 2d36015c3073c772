import type { Json } from "../lib/core/json.ts";
import { fieldsOf, itemsOf, textOf } from "./_fields.ts";
import { counted } from "./_words.ts";

/** What SearchText found, as `grep -n` prints it: half the words of JSON, and nothing in the lines is escaped. */
export function formatMatches(result: Json): string {
  const { matches, files, truncated, skipped } = fieldsOf(result);
  const found = itemsOf(matches).map(formatMatch);
  const between = itemsOf(matches).some((match) => fieldsOf(match).before !== undefined) ? "\n--\n" : "\n";
  const count = `${counted(found.length, "matching line")} in ${counted(Number(files), "file")}`;
  const notes = [
    truncated === true
      ? `${count} so far; there are more: search for something rarer, or pass a narrower glob or a larger maxMatches`
      : count,
    ...itemsOf(skipped).map((skip) =>
      `skipped ${textOf(fieldsOf(skip).file)}: ${textOf(fieldsOf(skip).reason)}`
    ),
  ];
  return [found.join(between), `[${notes.join("\n ")}]`].filter((part) => part !== "").join("\n");
}

function formatMatch(match: Json): string {
  const { file, line, column, text, before, after } = fieldsOf(match);
  const name = textOf(file);
  const context = (lines: readonly Json[], first: number) =>
    lines.map((textOfLine, index) => `${name}-${first + index}- ${textOf(textOfLine)}`);
  const lines = itemsOf(before);
  return [
    ...context(lines, Number(line) - lines.length),
    `${name}:${textOf(line)}:${textOf(column)}: ${textOf(text)}`,
    ...context(itemsOf(after), Number(line) + 1),
  ].join("\n");
}
