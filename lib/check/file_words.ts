// What is said of a file by the check of a document and by its run. `written` is the path as the document has it.

/** A file that is not there (documents.md 10.1). */
export function fileMissing(written: string): string {
  return `file not found: "${written}"`;
}

/** A file beyond what was granted (documents.md 13.1). @param options.flag what would grant it; `where` is what it lies outside of */
export function fileOutside(
  written: string,
  { kind, flag, where = "the project root" }: {
    readonly kind: "read" | "write";
    readonly flag: string;
    readonly where?: string;
  },
): string {
  return `"${written}" is outside ${where}; ${kind} permission for it is needed (${flag})`;
}
