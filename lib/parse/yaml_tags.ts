import { yamlLibrary } from "./yaml_library.ts";

/** A tag such as `!!str`, and where it stands. */
export interface YamlTag {
  readonly tag: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

/** The tags of a YAML text, in their order; a `!` inside a text is none. */
export async function findYamlTags(text: string): Promise<readonly YamlTag[]> {
  if (!text.includes("!")) return [];
  const { CST, Lexer } = await yamlLibrary();
  const tags: YamlTag[] = [];
  const here = { line: 1, column: 1 };
  let isContent = false;
  for (const lexeme of new Lexer().lex(text)) {
    // Marks of the lexer itself, which are not in the text; behind SCALAR comes what a text says.
    if (lexeme === CST.SCALAR || lexeme === CST.DOCUMENT || lexeme === CST.FLOW_END) {
      isContent = lexeme === CST.SCALAR;
      continue;
    }
    if (!isContent && CST.tokenType(lexeme) === "tag") tags.push({ ...here, tag: lexeme });
    isContent = false;
    const lines = lexeme.split("\n");
    here.line += lines.length - 1;
    here.column = (lines.length === 1 ? here.column : 1) + (lines.at(-1)?.length ?? 0);
  }
  return tags;
}
