import type { TokenReader } from "./token_reader.ts";

/**
 * Reads what stands between `import` and `from` (`a, { b as c }`, `* as d`), and gives it written anew, without comments; undefined for
 * anything else, such as the phases `source` and `defer`.
 */
export function readImportClause(reader: TokenReader): string | undefined {
  const first = reader.peek();
  if (first === "{" || first === "*") return readBindings(reader);
  const name = reader.word();
  if (name === undefined) return undefined;
  if (!reader.mark(",")) return name;
  const bindings = readBindings(reader);
  return bindings === undefined ? undefined : `${name}, ${bindings}`;
}

function readBindings(reader: TokenReader): string | undefined {
  if (!reader.mark("*")) return readNames(reader);
  const name = reader.keyword("as") ? reader.word() : undefined;
  return name === undefined ? undefined : `* as ${name}`;
}

/** Reads `*`, `* as name` or a list of names, as they stand behind `export`. */
export function readExportClause(reader: TokenReader): string | undefined {
  if (!reader.mark("*")) return readNames(reader);
  if (!reader.keyword("as")) return "*";
  const name = readName(reader);
  return name === undefined ? undefined : `* as ${name}`;
}

/** Reads the names of a module's own behind `export`, which is left as it is; so they may be strings with escapes. */
export function skipExportNames(reader: TokenReader): boolean {
  return readNames(reader, (name) => name) !== undefined;
}

/** `{ a, b as c, "d e" as f }`: names that may be strings. */
function readNames(reader: TokenReader, checked: NameCheck = unescaped): string | undefined {
  if (!reader.mark("{")) return undefined;
  const names: string[] = [];
  while (!reader.mark("}")) {
    const name = readName(reader, checked);
    const as = name !== undefined && reader.keyword("as") ? readName(reader, checked) : "";
    if (name === undefined || as === undefined) return undefined;
    names.push(as === "" ? name : `${name} as ${as}`);
    if (!reader.mark(",") && reader.peek() !== "}") return undefined;
  }
  return `{ ${names.join(", ")} }`;
}

type NameCheck = (name: string) => string | undefined;

function readName(reader: TokenReader, checked: NameCheck = unescaped): string | undefined {
  const text = reader.word() ?? reader.string();
  return text === undefined ? undefined : checked(text);
}

/** What could be taken for a keyword stands in quotes then, where it may be written with an escape. */
const unescaped: NameCheck = (name) =>
  name.includes("\\") || name.includes("\n")
    ? undefined
    : /^(?:import|export)$/.test(name)
    ? `"${name}"`
    : name;

/** Reads `{ type: "json" }`, or nothing; gives the value of `type`, and undefined for any other attributes. */
export function readAttributes(reader: TokenReader): { readonly type?: string } | undefined {
  if (!reader.mark("{")) return undefined;
  if (reader.mark("}")) return {};
  const key = reader.word() ?? plainText(reader.string());
  if (key !== "type" || !reader.mark(":")) return undefined;
  const type = plainText(reader.string());
  reader.mark(",");
  return type !== undefined && reader.mark("}") ? { type } : undefined;
}

/** What a string literal or a template says, when it has no escapes. */
export function plainText(literal: string | undefined): string | undefined {
  return literal === undefined || literal.includes("\\") ? undefined : literal.slice(1, -1);
}
