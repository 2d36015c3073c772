import { problemLine } from "../check/problem_line.ts";
import type { DocumentFile } from "../parse/document_file.ts";
import { printable } from "../render/shown_text.ts";

/** What is wrong with a document by itself, a line each (documents.md 1.3). */
export function documentProblems({ path, problems }: DocumentFile): string {
  return problems.map((problem) => printable(`${problemLine({ ...problem, file: path })}\n`)).join("");
}
