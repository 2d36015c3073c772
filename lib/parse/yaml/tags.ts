import type { Place } from "./front_matter.ts";
import { yamlLibrary } from "./library.ts";

/** A tag such as `!!str`, and where it stands. */
export interface YamlTag extends Place {
  readonly tag: string;
}

/** A piece of a YAML text, and where it begins. */
interface Lexeme extends Place {
  readonly text: string;
  /** It is what a text says. */
  readonly isContent: boolean;
}

/** The pieces of a YAML text, in their order; also of one that cannot be read. */
async function lexemesOf(text: string): Promise<readonly Lexeme[]> {
  const { CST, Lexer } = await yamlLibrary();
  const lexemes: Lexeme[] = [];
  const here = { line: 1, column: 1 };
  let isContent = false;
  for (const lexeme of new Lexer().lex(text)) {
    // Marks of the lexer itself, which are not in the text; behind SCALAR comes what a text says.
    if (lexeme === CST.SCALAR || lexeme === CST.DOCUMENT || lexeme === CST.FLOW_END) {
      isContent = lexeme === CST.SCALAR;
      continue;
    }
    lexemes.push({ ...here, text: lexeme, isContent });
    isContent = false;
    const lines = lexeme.split("\n");
    here.line += lines.length - 1;
    here.column = (lines.length === 1 ? here.column : 1) + (lines.at(-1)?.length ?? 0);
  }
  return lexemes;
}

/** The tags of a YAML text, in their order; a `!` inside a text is none. */
export async function findYamlTags(text: string): Promise<readonly YamlTag[]> {
  if (!text.includes("!")) return [];
  const { CST } = await yamlLibrary();
  return (await lexemesOf(text)).flatMap(({ text: tag, isContent, line, column }) =>
    !isContent && CST.tokenType(tag) === "tag" ? [{ tag, line, column }] : []
  );
}

/** Where a ` #` that touches a text cuts a value without quotes: ` #42` begins a comment, which is likely not meant. */
export async function findCutValues(
  text: string,
): Promise<readonly (Place & { readonly message: string })[]> {
  if (!/[ \t]#[^\s#]/.test(text)) return [];
  const lexemes = await lexemesOf(text);
  return lexemes.flatMap(({ text: comment, line, column, isContent }, index) => {
    const [blank, value] = [lexemes[index - 1], lexemes[index - 2]];
    if (value === undefined || !value.isContent || isContent || !/^#[^\s#]/.test(comment)) return [];
    const isSameLine = value.line + value.text.split("\n").length - 1 === line && blank?.text.trim() === "";
    if (!isSameLine || /^["']/.test(value.text)) return [];
    const message = `" ${comment.trim().slice(0, 40)}" is a comment and cuts the value ${
      JSON.stringify(value.text.slice(0, 40))
    }: put the whole value in quotes`;
    return [{ line, column, message }];
  });
}
