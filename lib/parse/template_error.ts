/** A template that cannot be read; the message says nothing of the place. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  /** From 1; a line ends with LF. */
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;

  /** @param at where it is wrong: `offset` counts UTF-16 units of `source` from 0 */
  constructor(message: string, at: { readonly source: string; readonly offset: number }) {
    super(message);
    const before = at.source.slice(0, at.offset);
    this.line = before.split("\n").length;
    this.column = Array.from(before.slice(before.lastIndexOf("\n") + 1)).length + 1;
  }
}

/** How an error shows a piece of a template: in quotes, cut to 40 code points. */
export function quoted(text: string): string {
  return JSON.stringify(Array.from(text.slice(0, 80)).slice(0, 40).join(""));
}
