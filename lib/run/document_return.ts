import { nodeTexts } from "../document/node_text.ts";
import type { ReturnFields } from "../parse/operation_fields.ts";
import { headingLine } from "../parse/heading_line.ts";
import type { CalleeResult } from "./document_callee.ts";
import type { Operation } from "./document_operation.ts";

const HEADER = "# Return block";

/** What a document gives (documents.md 10.7). @throws {BlockReferenceError} */
export function performReturn({ fields, live, file }: Operation<ReturnFields>): CalleeResult {
  const { prompt, blocks = [], useHeader } = fields;
  const nodes = live.select(blocks);
  const texts = nodeTexts(nodes);
  const said = prompt === undefined ? "" : underHeader(useHeader ?? HEADER, prompt.trimEnd());
  const header = prompt === undefined && useHeader !== undefined && useHeader !== "none" ? useHeader : "";
  return {
    text: [header, texts, said].filter((text) => text !== "").join("\n\n"),
    isReturned: true,
    blocks: nodes.flatMap(({ id, content, origin }) =>
      id === undefined || content.kind !== "heading" ? [] : [{ source: origin.file ?? file.path, id }]
    ),
  };
}

/** An empty line stands between a header and a text that begins with a heading (documents.md 6.2). */
function underHeader(header: string, text: string): string {
  if (header === "none") return text;
  const [first = ""] = text.split("\n", 1);
  return `${header}\n${headingLine(first) === undefined ? "" : "\n"}${text}`;
}
