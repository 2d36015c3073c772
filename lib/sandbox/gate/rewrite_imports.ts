import { type Edit, editText } from "./source_map.ts";
import type { FoundImport, NamedImport } from "./find_imports.ts";
import { type CommentBudget, skipExportNames, TokenReader } from "./import_syntax.ts";

/** A module with its imports written anew. */
export interface Rewritten {
  readonly code: string;
  readonly edits: readonly Edit[];
}

/**
 * Writes every import of a module anew, and makes everything harmless that could be one besides.
 *
 * @param targets the specifier for every named import, as it is to be imported
 * @param url of the original, `file:`
 */
export function rewriteImports(
  code: string,
  { imports, targets, url }: {
    readonly imports: readonly FoundImport[];
    readonly targets: ReadonlyMap<NamedImport, string>;
    readonly url: string;
  },
): Rewritten {
  const known = imports.map((found) => ({
    start: found.start,
    end: found.end,
    text: written(found, { targets, url }) + lineEnds(code.slice(found.start, found.end)),
  }));
  const edits = [...known, ...harmlessEdits(code, known)].sort((a, b) => a.start - b.start);
  return { code: editText(code, edits), edits };
}

/** The statements are whole and closed, so that nothing of the module's own text can become a part of them. */
function written(
  found: FoundImport,
  { targets, url }: { readonly targets: ReadonlyMap<NamedImport, string>; readonly url: string },
): string {
  switch (found.kind) {
    case "import":
    case "export": {
      const from = found.clause === "" ? "" : `${harmless(found.clause)} from `;
      return `${found.kind} ${from}${literal(targets.get(found) ?? "")};`;
    }
    case "call":
      return `import(${literal(targets.get(found) ?? "")})`;
    case "computed":
      return `${HELPER}.importFrom(${literal(url)}, `;
    case "meta":
      return `${HELPER}.metaOf\`${plainCharacters(url)}\``; // a tag, so that `new import.meta.X()` makes an X
    default:
      return found satisfies never;
  }
}

/** The door as a name of its own: a module may have a `Symbol` or a `globalThis` of its own. */
const HELPER = "__orreryGadget";

function literal(text: string): string {
  return `"${plainCharacters(text)}"`;
}

/** What a literal or a template has to say for this, without any character that could end a comment, a template or a line. */
function plainCharacters(text: string): string {
  return harmless(text.replaceAll(
    /[^\w ./:@%~+^-]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  ));
}

/** As many as there were, so that every line keeps its number. */
function lineEnds(text: string): string {
  return "\n".repeat(text.split("\n").length - 1);
}

// The wall behind the lexer: a lexer that took code for text would have missed an import there. So every `import` and `export` that was not
// found, and that would load a module if it were one, is written with an escape: `imp\u006frt`. In texts and regular expressions that
// says the same; as a keyword it is a syntax error (ECMA-262, 12.7.2). What is left cannot load anything. (`String.raw` shows the escape.)

/**
 * `important` is a word of its own, however it is read, and so is `a.import`: a point before it in its line ends no token but `.` and `?.`,
 * behind which comes a name (`...` and `1.` aside: behind that one no word may begin in the same line).
 */
const KEYWORDS =
  /(?<![\p{ID_Continue}$#\u200c\u200d]|(?<!\.)\.[ \t]*)(?:import|export)(?![\p{ID_Continue}$\u200c\u200d])/gu;

/** What stands behind a name of a property; behind a keyword that loads something it never does. */
const BEHIND_NAME = /^[:,;=)\]}>]?$/;

/** A method of this name, with plain parameters: it is written as a text, since Deno reads no escape there. */
const METHOD = /\([^()"'`/\\]*\)\s*\{/y;
const BEFORE_METHOD = /(?:[{};,*]|(?:async|static|get|set)\s)\s*$/;

/** Behind `export`: these declare something, and load nothing. */
const DECLARATIONS: ReadonlySet<string> = new Set([
  "async",
  "class",
  "const",
  "default",
  "function",
  "let",
  "var",
]);

/** What engines and tools look for in comments: places of other files, and other names for this one. */
const PRAGMAS = /sourceMappingURL|sourceURL|@(?:deno|ts|ts-self)-types|@jsx|<reference/g;

/** The edits that make a text harmless, in order; what is in `known`, other edits in order, is left to those. */
export function harmlessEdits(code: string, known: readonly Edit[]): readonly Edit[] {
  const budget = { left: 2 * code.length };
  let next = 0;
  const words = [...code.matchAll(KEYWORDS)].filter((match) => {
    while ((known[next]?.end ?? Infinity) <= match.index) next++;
    const end = inertEnd(code, match, budget);
    return end === undefined || (known[next]?.start ?? Infinity) <= end; // an edit would change what was read
  });
  const found = [
    ...words.map((match) => escaped(match, "o", isMethod(code, match) ? '"' : "")),
    ...[...code.matchAll(PRAGMAS)].map(escapedPragma),
  ];
  return outside(found.sort((a, b) => a.start - b.start), known);
}

/** A text of the module's own that goes into a statement of ours. */
function harmless(text: string): string {
  return text.replaceAll(KEYWORDS, (word) => escaped({ 0: word, index: 0 }, "o").text);
}

function escapedPragma(match: Match): Edit {
  const letter = ["U", "y", "x", "f"].find((char) => match[0].includes(char));
  return escaped(match, letter ?? "s");
}

interface Match {
  readonly 0: string;
  readonly index: number;
}

function escaped({ 0: word, index }: Match, letter: string, quote = ""): Edit {
  const text = quote + word.replace(letter, `\\u00${letter.charCodeAt(0).toString(16)}`) + quote;
  return { start: index, end: index + word.length, text };
}

function isMethod(code: string, { 0: word, index }: Match): boolean {
  METHOD.lastIndex = index + word.length;
  return METHOD.test(code) && BEFORE_METHOD.test(code.slice(Math.max(0, index - 40), index));
}

/**
 * An `import` or `export` at this place that could load no module if it were a keyword: how far that had to be read. Undefined where it
 * could.
 */
function inertEnd(code: string, { 0: word, index }: Match, budget: CommentBudget): number | undefined {
  const reader = new TokenReader(code, index + word.length, budget);
  return isInert(reader, word) ? reader.at : undefined;
}

function isInert(reader: TokenReader, word: string): boolean {
  const next = reader.peek();
  if (BEHIND_NAME.test(next)) return true;
  if (word === "import") return false;
  if (next === "{") return skipExportNames(reader) && !isFrom(reader);
  return next === "(" || DECLARATIONS.has(reader.word() ?? "");
}

/** Whether `from` comes next, or something that might become it: an escape, a comment that was not read. */
function isFrom(reader: TokenReader): boolean {
  const isOpen = reader.peek() === "\\" || /^\/[*/]/.test(reader.text.slice(reader.at, reader.at + 2));
  return isOpen || reader.word() === "from" || reader.peek() === "\\";
}

function outside(edits: readonly Edit[], known: readonly Edit[]): readonly Edit[] {
  let at = 0;
  return edits.filter(({ start }) => {
    while ((known[at]?.end ?? Infinity) <= start) at++;
    return start < (known[at]?.start ?? Infinity);
  });
}
