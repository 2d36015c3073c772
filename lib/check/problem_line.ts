import type { FileProblem } from "./check_options.ts";

/** A problem as a line of text, in the form of documents.md 1.3. */
export function problemLine({ file, line, column, severity, message }: FileProblem): string {
  const text = `${severity}: ${message.replaceAll(/\s*\n\s*/g, " ")}`;
  return file === "" ? text : `${file}:${line}:${column}: ${text}`;
}
