// The words of an executable document (documents.md 2). A tree is lossless: the sources of its nodes, joined, are its text.

import type { OperationName } from "./operation.ts";

/** A document as it is written. */
export interface DocumentTree {
  /** As given: for messages. */
  readonly file?: string;
  /** The line end of its first line, which text that is inserted takes too. */
  readonly newline: "\n" | "\r\n";
  /** In their order; joined, their sources are the text. */
  readonly nodes: readonly DocumentNode[];
  /** What is wrong with its syntax, in the order of the lines; the nodes are all there nevertheless. */
  readonly problems: readonly DocumentProblem[];
}

/** A piece of a document: it owns the empty lines after it. */
export type DocumentNode = FrontMatterNode | HeadingNode | TextNode | OperationNode;

interface NodeBase {
  /** As written, line ends included, with a byte order mark where the file begins with one. */
  readonly source: string;
  /** The line of its file that it begins in, from 1. */
  readonly line: number;
}

/** YAML between two lines, at the top of a file. */
export interface FrontMatterNode extends NodeBase {
  readonly kind: "front-matter";
  /** What is between the two lines, which begins in line 2; with LF as line end. */
  readonly yaml: string;
}

/** A heading line and all lines to the next heading or operation. */
export interface HeadingNode extends NodeBase {
  readonly kind: "heading";
  /** How many `#` it has, from 1. */
  readonly level: number;
  /** The heading line without its `#`s and the blanks around; an explicit id stays in it. */
  readonly title: string;
  /** What `{id=...}` at the very end of the line says. */
  readonly explicitId?: string;
}

/** Text without a heading of its own: before the first heading, or after an operation. */
export interface TextNode extends NodeBase {
  readonly kind: "text";
}

/** `@name` and its body. */
export interface OperationNode extends NodeBase {
  readonly kind: "operation";
  readonly name: OperationName;
  /** The YAML of its parameters, without the operation line and the empty lines after it; it begins in the line after `line`; with LF as line end. */
  readonly body: string;
}

/** Something wrong with a file, or likely so. */
export interface DocumentProblem {
  readonly severity: "error" | "warning";
  /** From 1, in the file as written. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  readonly message: string;
}
