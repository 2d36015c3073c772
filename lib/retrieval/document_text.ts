/** A part of a text: offsets in UTF-16 units, from 0. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** A page, or what a file has in its place: a slide, or all of it. */
export interface TextPage extends TextSpan {
  /** From 1. */
  readonly number: number;
}

/** A heading, where it stands. */
export interface TextHeading extends TextSpan {
  /** From 1, the highest. */
  readonly level: number;
  readonly title: string;
}

/** The text of a document. */
export interface DocumentText {
  readonly text: string;
  /** In order; what lies between them is not searched. */
  readonly pages: readonly TextPage[];
  /** In order, and inside pages. */
  readonly headings: readonly TextHeading[];
}

/** A span without the blanks at its ends; undefined when nothing else is in it. */
export function trimmedSpan(text: string, { start, end }: TextSpan): TextSpan | undefined {
  let [from, to] = [start, end];
  while (from < to && isBlank(text, from)) from++;
  while (to > from && isBlank(text, to - 1)) to--;
  return from < to ? { start: from, end: to } : undefined;
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code <= 32 || code > 127 && /\s/.test(text.charAt(at));
}
