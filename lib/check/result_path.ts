import { extname } from "node:path";

/** Whether a path is that of a result document (documents.md 1.1). */
export function isResult(path: string): boolean {
  return extname(path).toLowerCase() === ".ctx";
}

/** What is said of running one. */
export function resultHint(path: string): string {
  return `"${path}" is the result of a run: run "${path.slice(0, -".ctx".length)}.md" instead`;
}
