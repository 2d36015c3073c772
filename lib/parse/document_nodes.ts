import { frontMatterClose, nearFrontMatter } from "./document_front.ts";
import type { DocumentLines } from "./document_lines.ts";
import type { DocumentNode, DocumentProblem } from "./document_node.ts";
import { type HeadingLine, headingLine } from "./heading_line.ts";
import { MarkdownBlocks, type RawRegion } from "./markdown_blocks.ts";
import { operationBody } from "./operation_body.ts";
import { operationLine } from "./operation_line.ts";
import { mentionProblem } from "./operation_mention.ts";
import type { OperationName } from "./operation_table.ts";

/** What a text may hold besides headings and text. */
export interface NodeKinds {
  readonly frontMatter: boolean;
  /** False: lines of operations are text, and nothing is said of them. */
  readonly operations: boolean;
}

/** A text taken apart. */
export interface DocumentNodes {
  readonly nodes: readonly DocumentNode[];
  readonly problems: readonly DocumentProblem[];
  /** The line that would close the fence, raw HTML or comment that the text ends in. */
  readonly missing?: string;
}

/** Splits lines into nodes, which own the empty lines below them (documents.md 2.2). */
export function documentNodes(lines: DocumentLines, kinds: NodeKinds): DocumentNodes {
  return new NodeReader(lines, kinds).read();
}

const HASH = 35;
const AT = 64;
const BLANK = 32;

class NodeReader {
  readonly #lines: DocumentLines;
  readonly #kinds: NodeKinds;
  readonly #nodes: DocumentNode[] = [];
  readonly #problems: DocumentProblem[] = [];
  /** The next line to read. */
  #at = 0;
  /** A line that needs no empty one above: the first one, and what is right below front matter or an operation. */
  #edge = 0;
  #missing: string | undefined;

  constructor(lines: DocumentLines, kinds: NodeKinds) {
    this.#lines = lines;
    this.#kinds = kinds;
  }

  read(): DocumentNodes {
    if (this.#kinds.frontMatter) this.#readFrontMatter();
    while (this.#at < this.#lines.count) {
      const name = this.#operationAt(this.#at);
      if (name === undefined) this.#readBlock();
      else this.#readOperation(name);
    }
    return {
      nodes: this.#nodes,
      problems: this.#problems,
      missing: this.#missing,
    };
  }

  #readFrontMatter(): void {
    const close = frontMatterClose(this.#lines);
    if (close === undefined) {
      const problem = this.#kinds.operations ? nearFrontMatter(this.#lines.text) : undefined;
      if (problem !== undefined) this.#problems.push({ severity: "error", column: 1, ...problem });
      return;
    }
    const yaml = this.#lines.joined(1, close);
    this.#nodes.push({ kind: "front-matter", yaml, ...this.#takeTo(close + 1) });
  }

  #readOperation(name: OperationName): void {
    const first = this.#at + 1;
    const { end, problems } = operationBody(this.#lines, first, name);
    for (const problem of problems) this.#problems.push(problem);
    const body = this.#lines.joined(first, end);
    this.#nodes.push({ kind: "operation", name, body, ...this.#takeTo(end) });
  }

  /** A heading with what follows it, or text without one. */
  #readBlock(): void {
    const heading = this.#headingAt(this.#at);
    const blocks = new MarkdownBlocks(this.#lines);
    let end = this.#at;
    do this.#readText(end++, blocks); while (
      end < this.#lines.count && (blocks.isRaw || !this.#beginsNode(end))
    );
    const { open } = blocks;
    if (open !== undefined) {
      this.#problems.push(notClosed(open));
      this.#missing = open.closing;
    }
    const place = this.#takeTo(end);
    this.#nodes.push(
      heading === undefined ? { kind: "text", ...place } : { kind: "heading", ...heading, ...place },
    );
  }

  /** Ends a node before a line and the empty ones from there. */
  #takeTo(end: number): { source: string; line: number } {
    const from = this.#at;
    this.#edge = end;
    this.#at = this.#lines.filled(end);
    return { source: this.#lines.source(from, this.#at), line: from + 1 };
  }

  #readText(at: number, blocks: MarkdownBlocks): void {
    const first = this.#lines.first(at);
    if (blocks.read(at) || !this.#kinds.operations || (first !== AT && first !== BLANK)) return;
    const problem = mentionProblem(this.#lines, { at, isFree: this.#isFree(at) });
    if (problem !== undefined) this.#problems.push(problem);
  }

  #beginsNode(at: number): boolean {
    return this.#headingAt(at) !== undefined || this.#operationAt(at) !== undefined;
  }

  #headingAt(at: number): HeadingLine | undefined {
    return this.#lines.first(at) === HASH && this.#isFree(at)
      ? headingLine(this.#lines.content(at))
      : undefined;
  }

  #operationAt(at: number): OperationName | undefined {
    if (!this.#kinds.operations || this.#lines.first(at) !== AT || !this.#isFree(at)) return undefined;
    return operationLine(this.#lines.content(at));
  }

  #isFree(at: number): boolean {
    return at === this.#edge || this.#lines.isEmpty(at - 1);
  }
}

function notClosed({ kind, line }: RawRegion): DocumentProblem {
  const message = `this ${kind} is never closed: everything below it is plain text`;
  return { severity: "warning", line: line + 1, column: 1, message };
}
