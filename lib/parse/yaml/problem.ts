import type { ErrorCode, YAMLError } from "yaml";
import { SourceError, type SourceErrorOptions, type Span } from "../../core/core.ts";

/** A text, where it came from, and the place of a range in it: as far as its first line goes. */
export interface YamlSource {
  readonly text: string;
  readonly file?: string;
  spanOf(range: YamlRange): Span & Required<Pick<Span, "length">>;
}

/** Begin and end in the text, in UTF-16 units from 0. */
export type YamlRange = readonly [number, number, ...unknown[]];

/** What is said of a YAML text. */
interface Say {
  readonly message: string;
  readonly hint?: string;
}

/** Something that is wrong with a YAML text. */
export class YamlProblem extends SourceError {
  /** What it is about. */
  readonly range: YamlRange;
  /** What the library said; absent for what it takes. */
  readonly error: YAMLError | undefined;
  /** Of a key that a mapping has twice, at its later place: the key, and the line where it was first, from 1. */
  readonly repeated: { readonly key: string; readonly firstLine: number } | undefined;

  constructor(
    { text, spanOf }: YamlSource,
    range: YamlRange,
    { message, error, repeated, ...more }: Say & Pick<SourceErrorOptions, "span"> & {
      readonly error?: YAMLError;
      readonly repeated?: YamlProblem["repeated"];
    },
  ) {
    super(message, { span: spanOf(range), source: text, code: "E-yaml", ...more });
    this.range = range;
    this.error = error;
    this.repeated = repeated;
  }
}

/** @param firstLine as the reader of the message counts lines */
export function repeatedKeyMessage(key: string, firstLine: number): string {
  return `The key ${JSON.stringify(key)} is written twice (first on line ${firstLine})`;
}

/** A problem that the library found, in our words where they are clearer. */
export function libraryProblem(error: YAMLError, source: YamlSource): YamlProblem {
  const { message = `Cannot read YAML: ${lowerFirst(error.message)}`, hint } = wordsOf(error);
  const [start, end] = error.pos;
  // A problem at the end of the file is shown behind the last word, where there is something to see.
  const last = source.text.trimEnd().length;
  const span = source.spanOf([Math.min(start, last), Math.min(end, last)]);
  return new YamlProblem(source, error.pos, { message, hint, error, span });
}

const WORDS: { readonly [code in ErrorCode]?: Partial<Say> } = {
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
const WORDS_BY_MESSAGE: readonly (readonly [RegExp, Partial<Say>])[] = [
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

function wordsOf({ code, message }: YAMLError): Partial<Say> {
  return WORDS[code] ?? WORDS_BY_MESSAGE.find(([pattern]) => pattern.test(message))?.[1] ?? {};
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
