import { parseResult } from "../parse/document/document.ts";
import { headingNode } from "./pieces.ts";
import type { Piece } from "./live_node.ts";

/** The id that the block of the input always has. */
export const INPUT_ID = "input-parameters";
const DEFAULT_HEADER = "# Input Parameters {id=input-parameters}";

/** What a document is run with (documents.md 10.3). */
export interface DocumentInputs {
  /** The nodes of the texts that stand first, without a header. */
  readonly pieces?: readonly Piece[];
  readonly prompt?: string;
  /** The header line of the prompt; without one, and without a prompt, it is the default. */
  readonly header?: string;
  /** For each declared input, in their order. */
  readonly values?: readonly { readonly name: string; readonly value: string }[];
}

/** The block of the prompt, and one for each value; nothing when there is neither. No heading in them is split off. */
export function inputPieces(input: DocumentInputs, newline: "\n" | "\r\n"): readonly Piece[] {
  const { prompt, header, values = [] } = input;
  if (prompt === undefined && values.length === 0) return [];
  const block = (line: string, text: string): Piece => {
    const { nodes } = parseResult(text, { newline, operations: false });
    const trimmed = nodes.map(({ source }) => source).join("");
    return { content: headingNode(line, { text: trimmed === "" ? "" : newline + trimmed, line: 1 }) };
  };
  const head = prompt === undefined || header === undefined ? DEFAULT_HEADER : header;
  return [
    block(head, prompt ?? ""),
    ...values.map(({ name, value }) => block(`## ${name} {id=${name}}`, value)),
  ];
}
