import { SourceError } from "../lib/core/source_error.ts";
import { placeInWords, spanAt } from "../lib/core/span_at.ts";

/** A piece of an expression. */
export interface Token {
  readonly kind: "number" | "name" | "symbol" | "end";
  readonly text: string;
  /** Where it begins, in UTF-16 units from 0. */
  readonly offset: number;
}

const BLANKS = /\s+/y;
const DIGITS = "[0-9]+(?:_[0-9]+)*";
const NUMBER = new RegExp(
  `0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:[eE][+-]?[0-9]+)?`,
  "y",
);
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const SYMBOL = /\*\*|[<>=!]=|[-+*/%^(),<>]/y;
const ANY = /./suy;

/** Cuts an expression into tokens; the last one is `end`. @throws {SourceError} at a character of no token. */
export function expressionTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let offset = skip(text, 0);
  while (offset < text.length) {
    const token = tokenAt(text, offset);
    tokens.push(token);
    offset = skip(text, offset + token.text.length);
  }
  return [...tokens, { kind: "end", text: "", offset: text.length }];
}

/** An error of the expression that names the column of `at` and underlines it; a model reads the message only, so it holds the hint. */
export function expressionError(
  text: string,
  at: Token,
  options: { readonly what: (place: string) => string; readonly hint?: string },
): SourceError {
  const span = spanAt(text, at.offset, { length: Math.max(1, at.text.length) });
  const message = options.what(placeInWords(text, span));
  const advice = options.hint === undefined ? "" : `. ${options.hint}`;
  return new SourceError(`${message}${advice}`, { span, source: text, code: "E-expression" });
}

function skip(text: string, offset: number): number {
  return offset + (match(BLANKS, text, offset)?.length ?? 0);
}

const KINDS = [
  { kind: "number", pattern: NUMBER },
  { kind: "name", pattern: NAME },
  { kind: "symbol", pattern: SYMBOL },
] as const;

function tokenAt(text: string, offset: number): Token {
  for (const { kind, pattern } of KINDS) {
    const found = match(pattern, text, offset);
    if (found !== undefined) return { kind, text: found, offset };
  }
  const character = { kind: "symbol", text: match(ANY, text, offset) ?? "", offset } as const;
  throw expressionError(text, character, {
    what: (place) =>
      `Cannot read expression: found ${JSON.stringify(character.text)} at ${place}, expected a number, ` +
      `a name or an operator`,
    hint: character.text === "="
      ? `Write "==" to compare two values.`
      : "The operators are + - * / % ^ == != < <= > >=.",
  });
}

function match(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.test(text) ? text.slice(offset, pattern.lastIndex) : undefined;
}
