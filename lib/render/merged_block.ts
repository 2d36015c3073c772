import type { RunEvent } from "../core/event.ts";
import type { Paint } from "./paint.ts";
import { longText, printable, printableLine } from "./shown_text.ts";

type BlockMerge = Extract<RunEvent, { type: "block-merge" }>;

const FENCE = /^ {0,3}(?:`{3,}|~{3,})/;
const HEADING = /^#+ /;

/** What a document has got, for people: by which operation and where, and the text; the empty text when nothing is new. */
export function mergedBlock(
  event: BlockMerge,
  { name, depth, paint }: { readonly name: string; readonly depth: number; readonly paint: Paint },
): string {
  const text = event.inserted.trimEnd();
  if (text === "" && event.removed === "") return "";
  const indent = "  ".repeat(depth);
  const head = `${indent}${paint("green", event.mode === "replace" ? "~" : "+")} ${printableLine(name)}${
    paint("dim", placeOf(event))
  }\n`;
  return head +
    textLines(text, paint).map((line) => `${indent}${paint("dim", "│")} ${line}`.trimEnd() + "\n").join("");
}

function placeOf({ mode, target }: BlockMerge): string {
  const at = target === undefined ? undefined : printableLine(target);
  switch (mode) {
    case "append":
      return at === undefined ? "" : `  to ${at}`;
    case "prepend":
      return `  before ${at ?? "itself"}`;
    case "replace":
      return `  in place of ${at ?? "itself"}`;
    default:
      return mode satisfies never;
  }
}

/** Headings stand out, unless they are in a fence. */
function textLines(text: string, paint: Paint): readonly string[] {
  if (text === "") return [];
  let isFenced = false;
  return printable(longText(text)).split("\n").map((line) => {
    if (FENCE.test(line)) isFenced = !isFenced;
    return !isFenced && HEADING.test(line) ? paint("bold", line) : line;
  });
}
