import type { HeadingNode } from "../parse/document_node.ts";
import { headingLine } from "../parse/heading_line.ts";
import { idKey } from "./block_index.ts";
import { slug } from "./slug.ts";
import { trimEnd } from "./text_ends.ts";

/**
 * A heading that takes over an id: ` {id=ID}` is added to its line, so that the file keeps the id (documents.md 6.5).
 * Unchanged where its title gives the id anyway, and where no heading line can say the id.
 */
export function headingWithId(heading: HeadingNode, id: string): HeadingNode {
  if (idKey(slug(heading.title)) === idKey(id)) return heading;
  const end = heading.source.search(/\r?\n/);
  const line = end < 0 ? heading.source : heading.source.slice(0, end);
  const newLine = `${trimEnd(line)} {id=${id}}`;
  const read = headingLine(newLine);
  if (read?.explicitId !== id) return heading;
  return { ...heading, ...read, source: newLine + (end < 0 ? "" : heading.source.slice(end)) };
}
