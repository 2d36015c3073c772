import { DocumentLines } from "./document_lines.ts";
import { inertRegion } from "./inert_region.ts";

/**
 * The line, without a line end, that closes the code fence a text ends in; empty when it ends in none (documents.md 2.6). Linear.
 */
export function closingFence(text: string): string {
  if (!text.includes("```") && !text.includes("~~~")) return "";
  const lines = new DocumentLines(text);
  for (let line = 0; line < lines.count;) {
    const { kind, end, missing = "" } = inertRegion(lines, line) ?? { kind: "text", end: line + 1 };
    if (kind === "fence" && missing !== "") return missing;
    line = end;
  }
  return "";
}
