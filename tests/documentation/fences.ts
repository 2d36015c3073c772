/** A fenced block of a Markdown text. */
export interface Fence {
  /** The first word of the info string: `ts`, `sh`, `text`; empty when there is none. */
  readonly language: string;
  /** The rest of the info string. */
  readonly info: string;
  /** The content, each line with its line ending. */
  readonly text: string;
  /** The line of the opening fence, counted from 1. */
  readonly line: number;
  /** What the block is expected to print: the ```` ```text ```` block that follows it under the same heading. */
  readonly expected?: Fence;
}

/** Finds the fenced blocks of a Markdown text; a longer fence may hold shorter ones. */
export function fencesOf(markdown: string): readonly Fence[] {
  const lines = markdown.split("\n");
  const found: { fence: Fence; end: number }[] = [];
  for (let index = 0; index < lines.length; index++) {
    const open = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)\s*([^`]*)$/.exec(lines[index] ?? "");
    if (open === null) continue;
    const [, mark = "", language = "", info = ""] = open;
    const end = closingLine(lines, index + 1, mark);
    const text = lines.slice(index + 1, end).map((line) => `${line}\n`).join("");
    found.push({ fence: { language, info: info.trim(), text, line: index + 1 }, end });
    index = end;
  }
  return found.map(({ fence, end }, index) => {
    const next = found[index + 1]?.fence;
    if (next?.language !== "text" || fence.language === "text") return fence;
    const between = lines.slice(end + 1, next.line - 1);
    return between.some((line) => line.startsWith("#")) ? fence : { ...fence, expected: next };
  });
}

function closingLine(lines: readonly string[], from: number, mark: string): number {
  for (let index = from; index < lines.length; index++) {
    const line = (lines[index] ?? "").trim();
    if (line.startsWith(mark) && line.replaceAll(mark[0] ?? "", "") === "") return index;
  }
  return lines.length;
}

/** The Markdown inside a JSDoc comment, given as written between its delimiters. */
export function markdownOfJsDoc(doc: string): string {
  return doc.split("\n").map((line) => line.replace(/^\s*\*? ?/, "")).join("\n");
}
