import { frontMatterClose, nearFrontMatter } from "../yaml/front_matter.ts";
import {
  type DocumentLines,
  type HeadingLine,
  headingLine,
  type ParameterLine,
  parameterLine,
} from "./lines.ts";
import { didYouMean, nearWord } from "./near.ts";
import type { DocumentNode, DocumentProblem } from "./tree.ts";
import { MarkdownBlocks, type RawRegion } from "./markdown_blocks.ts";
import {
  isOperationName,
  OPERATION_NAMES,
  type OperationName,
  PARAMETERS,
  parametersOf,
  REQUIRED,
  takes,
} from "./operation.ts";

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

/**
 * What is wrong with a line of text that looks like an operation: because of the line below it, which looks like a parameter, or because
 * it begins a paragraph, so that it is `isFree` (documents.md 2.7).
 */
function mentionProblem(
  lines: DocumentLines,
  { at, isFree }: { readonly at: number; readonly isFree: boolean },
): DocumentProblem | undefined {
  const content = lines.content(at);
  if (!/^ {0,3}@/.test(content)) return undefined;
  const key = at + 1 < lines.count ? parameterLine(lines.content(at + 1))?.key : undefined;
  const withKey = key === undefined ? undefined : gluedOperation(content, key) ?? nearMiss(content) ??
    followedName(content, key) ?? strangeWord(content, key);
  const found = withKey ?? (isFree ? misplacedName(content) : undefined);
  return found === undefined ? undefined : { column: 1, ...found, line: at + 1 };
}

interface Found {
  readonly severity: DocumentProblem["severity"];
  /** Absent: the first. */
  readonly column?: number;
  readonly message: string;
}

/** An operation as it has to be written: it is text only because of the line above. */
function gluedOperation(content: string, key: string): Found | undefined {
  const name = operationLine(content);
  if (name === undefined || !takes(name, key)) return undefined;
  const message = `"@${name}" is text here: an operation needs an empty line above it`;
  return { severity: "warning", message };
}

/** `@lllm` alone; what is no letter counts as one, as in `@llm:`. */
function nearMiss(content: string): Found | undefined {
  const word = /^@([^ \t]+)[ \t]*$/.exec(content)?.[1];
  if (word === undefined || isOperationName(word)) return undefined;
  const near = nearWord(word, OPERATION_NAMES);
  if (near === undefined) return undefined;
  return { severity: "error", message: `unknown operation "@${word}" (did you mean "@${near}"?)` };
}

/** `@llm  # note`. */
function followedName(content: string, key: string): Found | undefined {
  const word = /^@([a-z]+)[ \t]+[^ \t]/i.exec(content)?.[1];
  const name = word?.toLowerCase();
  if (word === undefined || name === undefined || !isOperationName(name) || !takes(name, key)) {
    return undefined;
  }
  const message = `nothing may follow "@${word}" on its line`;
  return { severity: "error", column: word.length + 2, message };
}

function strangeWord(content: string, key: string): Found | undefined {
  const word = /^@[\p{L}\p{Nd}_-]+/u.exec(content)?.[0];
  if (word === undefined || !Object.hasOwn(PARAMETERS, key)) return undefined;
  if (operationLine(content) !== undefined) return undefined;
  return { severity: "warning", message: `"${word}" is not an operation; the line is text` };
}

/** `@import rules.md`, ` @llm`, `@Shell`. */
function misplacedName(content: string): Found | undefined {
  const word = /^ *@([a-z]+)(?=[ \t:]|$)/i.exec(content)?.[1];
  const name = word?.toLowerCase();
  if (name === undefined || !isOperationName(name)) return undefined;
  const message =
    `"@${word}" is text here: write "@${name}" alone, at the beginning of a line, and its parameters below, ` +
    `as in "${REQUIRED[name][0]}: ..."`;
  return { severity: "warning", message };
}

/** How far the body of an operation goes, and what is wrong with its lines. */
interface OperationBody {
  /** The first line behind it; the empty lines that the operation owns come next. */
  readonly end: number;
  readonly problems: readonly DocumentProblem[];
}

/** Reads the body that begins in a line, the one below `@name` (documents.md 2.8). */
function operationBody(lines: DocumentLines, first: number, name: OperationName): OperationBody {
  const problems: DocumentProblem[] = [];
  let value: OpenValue | undefined;
  let end = first;
  for (let at = nextLine(); at < lines.count; at = nextLine()) {
    const line = lines.content(at);
    const parameter = parameterLine(line);
    if (parameter !== undefined) {
      if (!takes(name, parameter.key)) problems.push(unknownParameter(name, parameter, at));
      value = new OpenValue(parameter.rest);
    } else if (isIndented(line) || isItem(line)) value?.add(line);
    else break;
    end = at + 1;
  }
  return { end, problems: [...problems, ...gluedProblem(lines, end, name)] };

  /** The next line that may be of the body: behind empty ones only what the value or the operation asks for. */
  function nextLine(): number {
    const next = lines.filled(end);
    if (next === end || next === lines.count) return next;
    return goesOn(lines.content(next), name, value) ? next : lines.count;
  }
}

function goesOn(line: string, name: OperationName, value: OpenValue | undefined): boolean {
  if (isIndented(line)) return value?.takesIndented === true;
  if (isItem(line)) return value?.isMissing === true;
  const parameter = parameterLine(line);
  return parameter !== undefined && takes(name, parameter.key);
}

/** What stands below the body without an empty line between; a heading may. */
function gluedProblem(lines: DocumentLines, at: number, name: OperationName): readonly DocumentProblem[] {
  if (at >= lines.count || lines.isEmpty(at)) return [];
  const line = lines.content(at);
  if (headingLine(line) !== undefined) return [];
  const next = operationLine(line);
  const message = next === undefined
    ? `text directly under @${name}: put an empty line before it, or indent it if it belongs to the value above`
    : `an empty line is needed before "@${next}"`;
  return [{ severity: "error", line: at + 1, column: 1, message }];
}

function unknownParameter(name: OperationName, { key }: ParameterLine, at: number): DocumentProblem {
  const message = `@${name} has no parameter "${key}"${didYouMean(key, parametersOf(name))}`;
  return { severity: "error", line: at + 1, column: 1, message };
}

const isIndented = (line: string): boolean => line.startsWith(" ") || line.startsWith("\t");

const isItem = (line: string): boolean => /^-(?:[ \t]|$)/.test(line);

/**
 * The value of the key that was read last: whether lines below an empty one still belong to it (documents.md 2.8).
 * It is made from what stands behind the colon, and `add` is given each line below, which is indented or an item.
 */
class OpenValue {
  /** Nothing stands on the line of the key: a list or a mapping may follow. */
  readonly isMissing: boolean;
  readonly #isBlock: boolean;
  readonly #flow: FlowScan | undefined;

  constructor(rest: string) {
    const value = rest.replace(/^[ \t]+/, "");
    this.isMissing = value === "" || value.startsWith("#");
    this.#isBlock = value.startsWith("|") || value.startsWith(">");
    if (/^["'[{]/.test(value)) this.#flow = new FlowScan(value);
  }

  add(line: string): void {
    this.#flow?.add(line);
  }

  /** Whether an indented line belongs to it, also below an empty line. */
  get takesIndented(): boolean {
    return this.isMissing || this.#isBlock || this.#flow?.isOpen === true;
  }
}

/** Follows a YAML value that begins with a quote or a bracket, line by line, to the place where that is closed. */
class FlowScan {
  #isOpen = true;
  #depth = 0;
  #quote = "";
  /** Inside of a plain word, where quotes are letters. */
  #isWord = false;
  /** Behind a quoted text or a bracket, where a colon needs no blank after it: `{"a":1}`. */
  #isJson = false;

  constructor(text: string) {
    this.add(text);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  add(line: string): void {
    let at = 0;
    while (this.#isOpen && at < line.length) {
      at = this.#quote === "" ? this.#token(line, at) : this.#quoted(line, at);
    }
  }

  /** Reads one character outside of quotes; gives where to go on. */
  #token(line: string, at: number): number {
    const character = line.charAt(at);
    switch (character) {
      case " ":
      case "\t":
        return at + 1;
      case "[":
      case "{":
        this.#depth++;
        this.#next(false);
        return at + 1;
      case "]":
      case "}":
        this.#depth--;
        this.#closed();
        return at + 1;
      case ",":
        this.#next(false);
        return at + 1;
      case ":":
        this.#next(!this.#isJson && !endsKey(line, at + 1));
        return at + 1;
      case "#":
        if (at > 0 && isBlank(line.charAt(at - 1))) return line.length;
        break;
      case '"':
      case "'":
        if (this.#isWord) break;
        this.#quote = character;
        return at + 1;
      case "&":
      case "!":
        if (!this.#isWord) return endOfProperty(line, at);
    }
    this.#next(true);
    return at + 1;
  }

  /** Reads to the closing quote, or to the end of the line. */
  #quoted(line: string, from: number): number {
    let at = from;
    while (at < line.length) {
      const character = line.charAt(at);
      if (character === "\\" && this.#quote === '"') at += 2;
      else if (character !== this.#quote) at++;
      else if (character === "'" && line.charAt(at + 1) === "'") at += 2;
      else {
        this.#quote = "";
        this.#closed();
        return at + 1;
      }
    }
    return at;
  }

  #closed(): void {
    this.#isOpen = this.#depth > 0;
    this.#isWord = false;
    this.#isJson = true;
  }

  #next(isWord: boolean): void {
    this.#isWord = isWord;
    this.#isJson = false;
  }
}

const isBlank = (character: string): boolean => character === " " || character === "\t";

/** Whether a colon before this place ends a key: a blank, the line end or a mark of a collection follows. */
const endsKey = (line: string, at: number): boolean =>
  at >= line.length || " \t,[]{}".includes(line.charAt(at));

/** An anchor or a tag: what follows it may be quoted. */
function endOfProperty(line: string, from: number): number {
  let at = from;
  while (!endsKey(line, at)) at++;
  return at;
}

const OPERATION = /^@([a-z]+)[ \t]*$/;

/** The operation that a line, without its line end, names as it has to be written (documents.md 2.7). */
function operationLine(line: string): OperationName | undefined {
  const name = OPERATION.exec(line)?.[1];
  return name !== undefined && isOperationName(name) ? name : undefined;
}
