import type { DocumentLines } from "./document_lines.ts";

/** Lines in which nothing is a heading or an operation (documents.md 2.6). */
export interface InertRegion {
  readonly kind: "fence" | "comment";
  /** The first line behind it. */
  readonly end: number;
  /** The line that would close it, where nothing does. */
  readonly missing?: string;
}

const FENCE = /^( {0,3})(`{3,}|~{3,})/;
const COMMENT = /^ {0,3}<!--/;

/** The first characters of lines that may begin a region: blank, backtick, `~`, `<`. */
const FIRST: ReadonlySet<number> = new Set([32, 96, 126, 60]);

/** The region that begins in a line, if one does. */
export function inertRegion(lines: DocumentLines, line: number): InertRegion | undefined {
  if (!FIRST.has(lines.first(line))) return undefined;
  const content = lines.content(line);
  if (COMMENT.test(content)) return commentFrom(lines, line);
  const [all = "", indent = "", run = ""] = FENCE.exec(content) ?? [];
  if (run === "" || run.startsWith("`") && content.includes("`", all.length)) return undefined;
  return fenceFrom(lines, line, { indent, run });
}

function fenceFrom(
  lines: DocumentLines,
  line: number,
  { indent, run }: { indent: string; run: string },
): InertRegion {
  for (let at = line + 1; at < lines.count; at++) {
    if (FIRST.has(lines.first(at)) && closes(lines.content(at), run)) return { kind: "fence", end: at + 1 };
  }
  return { kind: "fence", end: lines.count, missing: indent + run };
}

/** Whether a line has the mark of an opening run at least as often, and nothing else but blanks around. */
function closes(line: string, run: string): boolean {
  let start = 0;
  while (start < 3 && line.startsWith(" ", start)) start++;
  let end = start;
  while (line.startsWith(run.charAt(0), end)) end++;
  if (end - start < run.length) return false;
  while (line.startsWith(" ", end) || line.startsWith("\t", end)) end++;
  return end === line.length;
}

function commentFrom(lines: DocumentLines, line: number): InertRegion {
  const close = lines.text.indexOf("-->", lines.offset(line));
  return close < 0
    ? { kind: "comment", end: lines.count, missing: "-->" }
    : { kind: "comment", end: lines.lineAt(close, line) + 1 };
}
