/** What brought a node into a document. All but `file` and `import` is generated text. */
export type OriginKind =
  | "file"
  | "import"
  | "llm"
  | "shell"
  | "run"
  | "tool"
  | "input"
  | "return"
  | "error";

/** Where a node comes from. */
export interface Origin {
  readonly by: OriginKind;
  /** The file that its paths resolve against and its messages name; that of the inserting operation for generated text. */
  readonly file?: string;
}

/** Whether a person wrote it, so that it may become system text (documents.md 7.4). */
export function isWritten(origin: Origin): boolean {
  return origin.by === "file" || origin.by === "import";
}
