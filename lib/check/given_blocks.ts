import { LiveDocument } from "../document/live_document.ts";
import { nodeTexts } from "../document/node_text.ts";
import type { CheckedDocument, DocumentCommandInput } from "./check_options.ts";

/** The texts of the blocks that a document is given, of files that its check has read; a file that it has not gives none. */
export function givenBlocks(
  { blocks = [] }: Pick<DocumentCommandInput, "blocks">,
  { files }: Pick<CheckedDocument, "files">,
): string {
  return blocks.map(({ file, reference }) => {
    const source = files.get(file);
    return source === undefined ? "" : nodeTexts(new LiveDocument(source.tree).select([reference]));
  }).join("\n\n");
}

/** The file and the block that `FILE#REF` names; undefined for what names none. */
export function maybeBlock(text: string): { readonly file: string; readonly reference: string } | undefined {
  const at = text.lastIndexOf("#");
  return at < 1 || at === text.length - 1
    ? undefined
    : { file: text.slice(0, at), reference: text.slice(at + 1) };
}
