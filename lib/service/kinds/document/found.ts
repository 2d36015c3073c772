// Which Markdown of a project is an executable document.
import { FileError, type Files } from "../../../core/core.ts";
import { parseDocument } from "../../../parse/document/document.ts";
import type { DocumentTree } from "../../../parse/document/tree.ts";
import { readDocumentText } from "../../../run/document/files.ts";

/** Keys of a front matter that only an executable document has. */
const OWN_KEYS = /^(inputs|limits|permissions)[ \t]*:/m;

/** Most Markdown has nothing that could be one, and is not looked at any further. */
const MAYBE = /^[ \t]*@[A-Za-z]|^\uFEFF?---[ \t]*$/m;

/**
 * The document in a file; undefined where there is none: it has neither an operation, nor a line that was likely meant as one, nor a front
 * matter with `inputs`, `limits` or `permissions`, or it is no text at all.
 */
export async function maybeDocument(path: string, files: Files): Promise<DocumentTree | undefined> {
  const text = await maybeText(path, files);
  if (text === undefined || !MAYBE.test(text)) return undefined;
  const tree = parseDocument(text, { file: path });
  const [first] = tree.nodes;
  const isDocument = tree.nodes.some(({ kind }) => kind === "operation") ||
    tree.problems.some(({ severity, message }) =>
      severity === "error" ? !message.startsWith("front matter") : message.includes("@")
    ) ||
    first?.kind === "front-matter" && OWN_KEYS.test(first.yaml);
  return isDocument ? tree : undefined;
}

async function maybeText(path: string, files: Files): Promise<string | undefined> {
  try {
    return await readDocumentText(files, path);
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    return undefined;
  }
}
