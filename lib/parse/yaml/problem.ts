import type { ErrorCode, YAMLError } from "yaml";
import { SourceError, type SourceErrorOptions, type Span, spanAt } from "../../core/core.ts";

/** A text and where it came from. */
export interface YamlSource {
  readonly text: string;
  readonly file?: string;
}

/** Begin and end in the text, in UTF-16 units from 0. */
export type YamlRange = readonly [number, number, ...unknown[]];

/** A problem at a place of the text; a place has one line only. */
export function yamlProblemAt(
  source: YamlSource,
  range: YamlRange,
  say: { readonly message: string; readonly hint?: string },
): SourceError {
  const hint = say.hint === undefined ? {} : { hint: say.hint };
  return new SourceError(say.message, { ...placeOf(source, range), ...hint });
}

function placeOf(source: YamlSource, range: YamlRange): SourceErrorOptions {
  return { span: spanOfRange(source, range), source: source.text, code: "E-yaml" };
}

/** The place of a range, as far as its first line goes. */
export function spanOfRange({ text, ...file }: YamlSource, [start, end]: YamlRange): Span {
  const lineEnd = text.indexOf("\n", start);
  const length = Math.max(1, Math.min(end, lineEnd === -1 ? text.length : lineEnd) - start);
  return spanAt(text, start, { ...file, length });
}

/** A key that a mapping has twice, at its later place. */
export class RepeatedKeyError extends SourceError {
  readonly key: string;
  /** Where it was first: from 1. */
  readonly firstLine: number;

  constructor(
    source: YamlSource,
    range: YamlRange,
    { key, firstLine }: { readonly key: string; readonly firstLine: number },
  ) {
    super(repeatedKeyMessage(key, firstLine), {
      ...placeOf(source, range),
      hint: "Remove one of them, or join their values.",
    });
    this.key = key;
    this.firstLine = firstLine;
  }
}

/** @param firstLine as the reader of the message counts lines */
export function repeatedKeyMessage(key: string, firstLine: number): string {
  return `The key ${JSON.stringify(key)} is written twice (first on line ${firstLine})`;
}

/** A problem that the library found, in our words where they are clearer. */
export function yamlProblem(error: YAMLError, source: YamlSource): SourceError {
  const { message = `Cannot read YAML: ${lowerFirst(error.message)}`, hint } = wordsOf(error);
  const [start, end] = error.pos;
  // A problem at the end of the file is shown behind the last word, where there is something to see.
  const last = source.text.trimEnd().length;
  const range = [Math.min(start, last), Math.min(end, last)] as const;
  return yamlProblemAt(source, range, { message, hint });
}

interface Words {
  readonly message?: string;
  readonly hint?: string;
}

const WORDS: { readonly [code in ErrorCode]?: Words } = {
  TAB_AS_INDENT: {
    message: "Found a tab in the indentation, expected blanks",
    hint: "YAML allows no tabs there: use blanks.",
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: `Found a second ":" on the line, expected one value`,
    hint: `Put a value that holds ": " in quotes, or a nested mapping on lines of its own.`,
  },
  BAD_SCALAR_START: { hint: "Put the value in quotes." },
  BAD_DQ_ESCAPE: { hint: `In double quotes "\\" begins an escape: write "\\\\", or use single quotes.` },
  MULTILINE_IMPLICIT_KEY: {
    message: "Found a key of several lines, expected one line",
    hint: `A ":" is missing after it, or a text of several lines needs quotes or "|".`,
  },
  RESOURCE_EXHAUSTION: {
    message: "Found too many levels of YAML inside each other",
    hint: "Make it flatter.",
  },
  NON_STRING_KEY: { message: "Found a key that is not text, expected text", hint: "Put the key in quotes." },
};

/** For codes that stand for several problems. */
const WORDS_BY_MESSAGE: readonly (readonly [RegExp, Words])[] = [
  [/^Unresolved tag: /, { hint: `Orrery has no tags of its own; text that begins with "!" needs quotes.` }],
  [/must be sufficiently indented and end with a (.)/, {
    message: "Found the end of a list or mapping in brackets too early",
    hint: "Close the bracket, and indent its lines more than the key it belongs to.",
  }],
  [/^Missing closing/, { message: "Found the end of the file inside quotes", hint: "Close the quotes." }],
  [/must start at the same column/, {
    message: "Found a line that is indented differently, expected the column of its neighbours",
    hint: "Give all keys of a mapping, and all items of a list, the same indentation.",
  }],
  [/^Implicit map keys need to be followed by map values/, {
    message: `Found a line without ":", expected "key: value"`,
    hint: `Add ": " and a value, or indent a text that goes on from the line above.`,
  }],
  [/^Unexpected \S+ at node end/, {
    message: "Found more after the end of a value",
    hint: "Check the indentation, or put the value in quotes.",
  }],
];

function wordsOf({ code, message }: YAMLError): Words {
  return WORDS[code] ?? WORDS_BY_MESSAGE.find(([pattern]) => pattern.test(message))?.[1] ?? {};
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
