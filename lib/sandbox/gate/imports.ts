// Where a JavaScript text imports something, and what is written there instead. The parser is that of others; behind it stands a wall that does
// not depend on it: every import that is written is whole and closed, and every `import` and `export` that is no word of the code as the parser
// read it is written with an escape, `imp\u006frt`. In texts and regular expressions that says the same; as a keyword it is a syntax error
// (ECMA-262, 12.7.2). So a text that the parser took for something else loads nothing either. (`String.raw` shows the escape.)
import { type AnyNode, type Identifier, type ImportAttribute, type Literal, parse } from "acorn";
import { isRecord, messageOf } from "../../core/core.ts";

/** An `import` or `export ... from`, or an `import()` of a literal. Offsets in UTF-16 units. */
export interface NamedImport {
  readonly start: number;
  readonly end: number;
  readonly specifier: string;
  /** Where the literal of the specifier is. */
  readonly at: number;
  /** The import attribute `type`. */
  readonly type?: string;
  /** What is written before and behind what is imported in its place. */
  readonly before: string;
  readonly behind: string;
}

/** What was found, or where something stands that is refused. */
export type ImportsOrProblem =
  /** `edits` is what is written anew besides, in no order. */
  | { readonly imports: readonly NamedImport[]; readonly edits: readonly Edit[] }
  | { readonly problem: ImportProblem };

interface ImportProblem {
  readonly at: number;
  readonly message: string;
  readonly hint: string;
}

/** The imports of a module in their order. Never throws. @param url of the original, `file:` */
export function findImports(code: string, url = ""): ImportsOrProblem {
  const imports: NamedImport[] = [];
  const edits: Edit[] = [];
  const words = new Map<number, Word>();
  try {
    const program = parse(code, {
      ecmaVersion: "latest",
      sourceType: "module",
      onToken({ type: { label, keyword = label }, start }) {
        if (["import", "export", "name"].includes(keyword)) words.set(start, "kept");
      },
    });
    for (const node of nodesIn(program)) {
      const found = namedImport(node);
      if (found === "strange") return { problem: strange(node.start) };
      if (found !== undefined) imports.push(found);
      else edits.push(...unnamedImport(node, { code, url }));
      noteWord(node, words);
    }
  } catch (thrown) {
    return { problem: unreadable(code, thrown) };
  }
  imports.sort((a, b) => a.start - b.start);
  return { imports, edits: [...edits, ...harmlessEdits(code, words)] };
}

/** Not by recursion: a text may be nested as deeply as the parser can read. */
function* nodesIn(program: AnyNode): Generator<AnyNode> {
  const left = [program];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    yield node;
    for (const value of Object.values(node)) {
      for (const each of Array.isArray(value) ? value : [value]) if (isNode(each)) left.push(each);
    }
  }
}

function isNode(value: unknown): value is AnyNode {
  return isRecord(value) && typeof value.type === "string" && typeof value.start === "number";
}

function namedImport(node: AnyNode): NamedImport | "strange" | undefined {
  switch (node.type) {
    case "ImportDeclaration":
      return fromClause(node, node.specifiers.length === 0 ? "import " : `import ${clauseOf(node)} from `);
    case "ExportAllDeclaration":
      return fromClause(node, `export *${node.exported ? ` as ${nameOf(node.exported)}` : ""} from `);
    case "ExportNamedDeclaration": {
      const { source, specifiers } = node;
      const names = specifiers.map(({ local, exported }) => renamed(local, exported));
      return source ? fromClause({ ...node, source }, `export { ${names.join(", ")} } from `) : undefined;
    }
    case "ImportExpression": {
      const { start, end, source, options } = node;
      const [specifier, attributes] = [literalText(source), optionsOf(options)];
      if (specifier === undefined || attributes === undefined) return undefined;
      return { start, end, specifier, at: source.start, ...attributes, before: "import(", behind: ")" };
    }
    default:
      return undefined;
  }
}

function fromClause(
  { start, end, source, attributes }: {
    readonly start: number;
    readonly end: number;
    readonly source: Literal;
    readonly attributes: readonly ImportAttribute[];
  },
  before: string,
): NamedImport | "strange" {
  const [attribute, ...others] = attributes;
  if (others.length > 0 || (attribute !== undefined && textOf(attribute.key) !== "type")) return "strange";
  const type = attribute && { type: textOf(attribute.value) };
  return { start, end, specifier: textOf(source), at: source.start, ...type, before, behind: ";" };
}

function clauseOf({ specifiers }: AnyNode & { readonly type: "ImportDeclaration" }): string {
  const names: string[] = [];
  const parts: string[] = [];
  for (const specifier of specifiers) {
    const { name } = specifier.local;
    if (specifier.type === "ImportDefaultSpecifier") parts.push(name);
    else if (specifier.type === "ImportNamespaceSpecifier") parts.push(`* as ${name}`);
    else names.push(renamed(specifier.imported, specifier.local));
  }
  return [...parts, ...names.length === 0 ? [] : [`{ ${names.join(", ")} }`]].join(", ");
}

type Name = Identifier | Literal;

function renamed(from: Name, to: Name): string {
  return textOf(from) === textOf(to) ? nameOf(to) : `${nameOf(from)} as ${nameOf(to)}`;
}

/** What could be taken for a keyword stands in quotes, where it may be written with an escape. */
function nameOf(name: Name): string {
  const isPlain = name.type === "Identifier" && !/^(?:im|ex)port$/.test(name.name);
  return isPlain ? name.name : literal(textOf(name));
}

function textOf(name: Name): string {
  return name.type === "Identifier" ? name.name : String(name.value);
}

/** What a text or a template says; undefined for anything else. */
function literalText(node: AnyNode | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  return node?.type === "TemplateLiteral" && node.expressions.length === 0
    ? node.quasis[0]?.value.cooked ?? undefined
    : undefined;
}

/** `{ with: { type: "json" } }`, the second argument of `import()`; undefined for any other one. */
function optionsOf(options: AnyNode | null): { readonly type?: string } | undefined {
  if (options === null) return {};
  const attributes = onlyProperty(options, "with");
  if (attributes?.type === "ObjectExpression" && attributes.properties.length === 0) return {};
  const type = attributes && literalText(onlyProperty(attributes, "type"));
  return type === undefined ? undefined : { type };
}

function onlyProperty(node: AnyNode, name: string): AnyNode | undefined {
  const [property, ...others] = node.type === "ObjectExpression" ? node.properties : [];
  if (property?.type !== "Property" || property.computed || others.length > 0) return undefined;
  const { key, value } = property;
  return (key.type === "Identifier" ? key.name : literalText(key)) === name ? value : undefined;
}

/** The door as a name of its own: a module may have a `Symbol` or a `globalThis` of its own. */
const HELPER = "__orreryGadget";
const OPENING = /import(?:\s|\/\*[^]*?\*\/|\/\/.*)*\(/y;

/** What is written for an `import()` of something else, and for `import.meta`. */
function unnamedImport(
  node: AnyNode,
  { code, url }: { readonly code: string; readonly url: string },
): readonly Edit[] {
  const { start, end } = node;
  if (node.type === "MetaProperty" && node.meta.name === "import") {
    // A tag, so that `new import.meta.X()` makes an X.
    return [whole(code, { start, end, text: `${HELPER}.metaOf\`${plainCharacters(url)}\`` })];
  }
  if (node.type !== "ImportExpression") return [];
  OPENING.lastIndex = start;
  OPENING.test(code);
  return [whole(code, { start, end: OPENING.lastIndex, text: `${HELPER}.importFrom(${literal(url)}, ` })];
}

/** The edit that writes an import anew. @param target what is imported, as it is to be written */
export function importEdit(code: string, { start, end, before, behind }: NamedImport, target: string): Edit {
  return whole(code, { start, end, text: before + literal(target) + behind });
}

/** With as many line ends as there were, so that every line keeps its number. */
function whole(code: string, { start, end, text }: Edit): Edit {
  return { start, end, text: text + "\n".repeat(code.slice(start, end).split("\n").length - 1) };
}

function literal(text: string): string {
  return `"${plainCharacters(text)}"`;
}

/** What a literal or a template has to say for this, without any character that could end a comment, a template or a line. */
function plainCharacters(text: string): string {
  const plain = text.replaceAll(
    /[^\w ./:@%~+^-]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return plain.replaceAll(KEYWORDS, (word) => escaped({ 0: word, index: 0 }, "o").text);
}

/**
 * `important` is a word of its own, however it is read, and so is `a.import`: a point before it in its line ends no token but `.` and `?.`,
 * behind which comes a name (`...` and `1.` aside: behind that one no word may begin in the same line).
 */
const KEYWORDS =
  /(?<![\p{ID_Continue}$#\u200c\u200d]|(?<!\.)\.[ \t]*)(?:import|export)(?![\p{ID_Continue}$\u200c\u200d])/gu;

/** What engines and tools look for in comments: places of other files, and other names for this one. */
const PRAGMAS = /sourceMappingURL|sourceURL|@(?:deno|ts|ts-self)-types|@jsx|<reference/g;

/** A word of the code: left as it is; of a property, which may be written with an escape; the name of a member, which stands in quotes then. */
type Word = "kept" | "property" | "member";

function noteWord(node: AnyNode, words: Map<number, Word>): void {
  if (node.type === "MemberExpression" && !node.computed) words.set(node.property.start, "property");
  const isMember = node.type === "MethodDefinition" || node.type === "PropertyDefinition" ||
    node.type === "Property" && (node.method || node.kind !== "init");
  if (isMember && !node.computed && node.key.type === "Identifier" && node.key.name === "import") {
    words.set(node.key.start, "member");
  }
}

function harmlessEdits(code: string, words: ReadonlyMap<number, Word>): readonly Edit[] {
  const keywords = [...code.matchAll(KEYWORDS)].filter(({ index }) => words.get(index) !== "kept");
  return [
    ...keywords.map((match) => escaped(match, "o", words.get(match.index) === "member" ? '"' : "")),
    ...Array.from(code.matchAll(PRAGMAS), (match) => {
      return escaped(match, ["U", "y", "x", "f"].find((char) => match[0].includes(char)) ?? "s");
    }),
  ];
}

function escaped(
  { 0: word, index }: { readonly 0: string; readonly index: number },
  letter: string,
  quote = "",
): Edit {
  const text = quote + word.replace(letter, `\\u00${letter.charCodeAt(0).toString(16)}`) + quote;
  return { start: index, end: index + word.length, text };
}

/** The beginning of a statement that imports, up to where it cannot be read any more. */
const BEGUN = /(?<![\w$.])import(?!\s*\()[^;()=`]{0,2000}$/;

function unreadable(code: string, thrown: unknown): ImportProblem {
  const at = isRecord(thrown) && typeof thrown.pos === "number" ? thrown.pos : 0;
  const begun = code.slice(Math.max(0, at - 2000), at).search(BEGUN);
  if (begun >= 0) return strange(Math.max(0, at - 2000) + begun);
  const words = messageOf(thrown).replace(/ \(\d+:\d+\)$/, "");
  return {
    at,
    message: `Cannot read the module here, so its imports cannot be known: ${words}`,
    hint: "Correct the syntax; JSX is not there",
  };
}

function strange(at: number): ImportProblem {
  return {
    at,
    message: "Cannot read this import: expected one of the usual forms, " +
      'such as `import { a as b } from "./c.ts"`, `export * from "./c.ts"`, `import("./c.ts")`, `import.meta`',
    hint:
      'Use one of them; the only attribute is `with { type: "json" }`, and the phases `defer` and `source` are not there',
  };
}

/** What takes the place of a part of a text, with as many line ends. Offsets in UTF-16 units. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A place of an edited text at which the columns become others, until the next one or the end of the line. */
export interface Moved {
  readonly line: number;
  readonly column: number;
  /** What it was before. */
  readonly was: number;
  /** An edit begins: all of it stands for its place. */
  readonly isEdit?: true;
}

/** A text with its edits made, but those that are in others, and what became of its columns; its lines stay. */
export function editText(
  code: string,
  edits: readonly Edit[],
): { readonly code: string; readonly moved: readonly Moved[] } {
  const moved: Moved[] = [];
  const pieces: string[] = [];
  let [at, line, column, was] = [0, 0, 0, 0];
  const write = (end: number, text: string): void => {
    const before = code.slice(at, end);
    const lines = before.split("\n");
    const isSame = lines.length === 1;
    line += lines.length - 1;
    was = (isSame ? was : 0) + (lines.at(-1)?.length ?? 0);
    column = (isSame ? column : 0) + text.length - (text.lastIndexOf("\n") + 1);
    at = end;
    pieces.push(text);
  };
  for (const { start, end, text } of outermost(edits)) {
    write(start, code.slice(at, start));
    moved.push({ line, column, was, isEdit: true });
    write(end, text);
    moved.push({ line, column, was });
  }
  return { code: pieces.join("") + code.slice(at), moved };
}

/** In order, without those that are in others; what is put in before one is not in it. */
function outermost(edits: readonly Edit[]): readonly Edit[] {
  let end = 0;
  return edits.toSorted((a, b) =>
    a.start - b.start || Number(a.end > a.start) - Number(b.end > b.start) || b.end - a.end
  ).filter((edit) => {
    const isInside = edit.start < end;
    if (!isInside) end = edit.end;
    return !isInside;
  });
}
