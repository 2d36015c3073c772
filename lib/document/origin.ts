import { extname } from "node:path";

/** What brought a node into a document. All but `file` and `import` is generated text. */
export type OriginKind =
  | "file"
  | "import"
  /** Imported, and an answer that was saved in this run. */
  | "saved"
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

/**
 * Whether its own headings say what is system text: of imported files only in those whose operations would run too. Any other, such as the
 * result of an earlier run, may hold what a model or a tool wrote (documents.md 6.6, 7.4).
 */
export function isSource(origin: Origin): boolean {
  return origin.by === "file" || (origin.by === "import" && extname(origin.file ?? "") === ".md");
}
