// Where a JavaScript text imports something. The lexer says where; what is there is read a second time, strictly, because the text is
// an attacker's: what the two do not agree about is refused.
import { init, parse } from "es-module-lexer/minimal";
import {
  plainText,
  readAttributes,
  readExportClause,
  readImportClause,
  TokenReader,
} from "./import_syntax.ts";

interface Place {
  /** From its first to behind its last character: offsets in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** An `import` or `export ... from`, or an `import()` of a literal. */
export interface NamedImport extends Place {
  readonly kind: "import" | "export" | "call";
  /** Between the keyword and `from`; empty for `import "x"` and `import("x")`. */
  readonly clause: string;
  readonly specifier: string;
  /** Where the literal of the specifier is. */
  readonly at: number;
  readonly length: number;
  /** The import attribute `type`. */
  readonly type?: string;
}

/** `import(` of anything else: `end` is behind the parenthesis. */
export interface ComputedImport extends Place {
  readonly kind: "computed";
}

/** `import.meta`. */
export interface ImportMeta extends Place {
  readonly kind: "meta";
}

/** Every form of an import that the gate lets through. */
export type FoundImport = NamedImport | ComputedImport | ImportMeta;

/** What was found, or where something stands that is refused. */
export type ImportsOrProblem =
  | { readonly imports: readonly FoundImport[] }
  | { readonly problem: { readonly at: number; readonly message: string; readonly hint: string } };

/** The imports of a module in their order. Never throws. */
export async function findImports(code: string): Promise<ImportsOrProblem> {
  await init();
  const imports: FoundImport[] = [];
  for (const record of lexed(code)) {
    if (typeof record === "number") return { problem: unreadable(record) };
    const found = readImport(code, record);
    if (found === undefined || found.start < (imports.at(-1)?.end ?? 0)) {
      return { problem: strange(record.start) };
    }
    imports.push(found);
  }
  return { imports };
}

interface Lexed {
  readonly start: number;
  readonly specifier: string | undefined;
}

/** The lexer's records by their place; a number is where it gave up. */
function lexed(code: string): readonly (Lexed | number)[] {
  const text = lexable(code);
  const found = records(text.replaceAll(OTHER_LINE_END, "\n"));
  return found.some((each) => typeof each === "number")
    ? records(text.replaceAll(OTHER_LINE_END, " "))
    : found;
}

/** These end a line, and so a comment, but not a text in quotes; the lexer knows nothing of them. */
const OTHER_LINE_END = /[\u2028\u2029]/g;

/** Blanks that the lexer does not know. */
const OTHER_BLANK = /[\u1680\u2000-\u200a\u202f\u205f\u3000\ufeff]/g;

/** With every character at its place: only where imports stand is taken from it, and what specifiers with escapes say. */
function lexable(code: string): string {
  return code.replace(/^#!/, "//").replaceAll(OTHER_BLANK, " ");
}

function records(text: string): readonly (Lexed | number)[] {
  try {
    const [imports] = parse(text);
    return imports.map(({ ss, n }) => ({ start: ss, specifier: n })).sort((a, b) => a.start - b.start);
  } catch (thrown) {
    return [thrown instanceof Error && "idx" in thrown && typeof thrown.idx === "number" ? thrown.idx : 0];
  }
}

function readImport(code: string, { start, specifier }: Lexed): FoundImport | undefined {
  const reader = new TokenReader(code, start);
  const keyword = reader.word();
  if (keyword === "export") return readFrom(reader, { start, specifier, kind: "export" });
  if (keyword !== "import") return undefined;
  if (reader.mark("(")) return readCall(reader, { start, specifier });
  if (!reader.mark(".")) return readFrom(reader, { start, specifier, kind: "import" });
  return reader.word() === "meta" ? { kind: "meta", start, end: reader.at } : undefined;
}

function readFrom(
  reader: TokenReader,
  { start, specifier, kind }: Lexed & { readonly kind: "import" | "export" },
): NamedImport | undefined {
  const isBare = kind === "import" && /["']/.test(reader.peek());
  const clause = isBare ? "" : kind === "import" ? readImportClause(reader) : readExportClause(reader);
  if (clause === undefined || !(isBare || reader.keyword("from"))) return undefined;
  const literal = reader.string();
  const name = plainText(literal) ?? specifier;
  if (literal === undefined || name === undefined) return undefined;
  const [at, end] = [reader.at - literal.length, reader.at];
  const named = { kind, start, clause, specifier: name, at, length: literal.length };
  if (!reader.keyword("with")) return { ...named, end: end + semicolon(reader, end) };
  const attributes = readAttributes(reader);
  return attributes && { ...named, end: reader.at + semicolon(reader, reader.at), ...attributes };
}

/** How long the one that ends the statement is. */
function semicolon({ text }: TokenReader, at: number): number {
  return text[at] === ";" ? 1 : 0;
}

function readCall(reader: TokenReader, { start, specifier }: Lexed): FoundImport {
  const computed = { kind: "computed", start, end: reader.at } as const;
  const literal = reader.string() ?? reader.template();
  const name = plainText(literal) ?? specifier;
  if (literal === undefined || name === undefined) return computed;
  const named = { kind: "call", start, clause: "", specifier: name, at: reader.at - literal.length } as const;
  const attributes = reader.mark(",") && reader.peek() !== ")" ? readOptions(reader) : {};
  if (attributes === undefined || !reader.mark(")")) return computed;
  return { ...named, length: literal.length, end: reader.at, ...attributes };
}

/** `{ with: { type: "json" } }`, the second argument of `import()`. */
function readOptions(reader: TokenReader): { readonly type?: string } | undefined {
  if (!reader.mark("{")) return undefined;
  const key = reader.word() ?? plainText(reader.string());
  if (key !== "with" || !reader.mark(":")) return undefined;
  const attributes = readAttributes(reader);
  reader.mark(",");
  if (attributes === undefined || !reader.mark("}")) return undefined;
  reader.mark(",");
  return attributes;
}

function unreadable(at: number): { readonly at: number; readonly message: string; readonly hint: string } {
  return {
    at,
    message: "Cannot read the module here, so its imports cannot be known",
    hint: "Write what is here in a plainer way: no text may hide an import",
  };
}

function strange(at: number): { readonly at: number; readonly message: string; readonly hint: string } {
  return {
    at,
    message: "Cannot read this import: expected one of the usual forms, " +
      'such as `import { a as b } from "./c.ts"`, `export * from "./c.ts"`, `import("./c.ts")`, `import.meta`',
    hint:
      'Use one of them; the only attribute is `with { type: "json" }`, and the phases `defer` and `source` are not there',
  };
}
