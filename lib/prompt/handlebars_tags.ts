/** A `{{…}}` of a Handlebars text. */
export interface HandlebarsTag {
  /** In UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** A text that has the same meaning on its own; undefined for what means something between other tags only, and for comments. */
  readonly alone: string | undefined;
  /** The name of the block that it opens. */
  readonly block?: string;
  /** It stands inside of a block or at its end. */
  readonly isInside: boolean;
}

/** The tags of a text, as far as they can be told apart without its grammar, in time linear in its length. */
export function handlebarsTags(body: string): readonly HandlebarsTag[] {
  const tags: HandlebarsTag[] = [];
  for (let start = body.indexOf("{{"); start !== -1;) {
    const end = isEscaped(body, start) ? start + 2 : endOfTag(body, start);
    if (end === undefined) break;
    if (!isEscaped(body, start)) tags.push(tagAt(body.slice(start, end), start));
    start = body.indexOf("{{", end);
  }
  return tags;
}

/** One backslash makes text of a tag, two are one. */
function isEscaped(body: string, start: number): boolean {
  return body[start - 1] === "\\" && body[start - 2] !== "\\";
}

function endOfTag(body: string, start: number): number | undefined {
  if (body.startsWith("{{{{", start)) return behind(body, "}}}}", start);
  if (/^\{\{~?!--/.test(body.slice(start, start + 6))) return behind(body, "--", start + 5, /^--~?\}\}/);
  if (/^\{\{~?!/.test(body.slice(start, start + 4))) return behind(body, "}}", start);
  const close = body.startsWith("{{{", start) || body.startsWith("{{~{", start) ? /^\}~?\}\}/ : /^~?\}\}/;
  for (let at = start + 2; at < body.length; at++) {
    const [shut] = close.exec(body.slice(at, at + 4)) ?? [];
    if (shut !== undefined) return at + shut.length;
    const quote = body[at];
    if (quote === '"' || quote === "'" || quote === "[") at = endOfQuote(body, at);
    if (body.startsWith("{{", at)) return at; // the one before it was never closed
  }
  return undefined;
}

function behind(body: string, close: string, from: number, whole?: RegExp): number | undefined {
  for (let at = body.indexOf(close, from); at !== -1; at = body.indexOf(close, at + 1)) {
    const found = whole === undefined ? close : whole.exec(body.slice(at, at + 5))?.[0];
    if (found !== undefined) return at + found.length;
  }
  return undefined;
}

/** A quote that is not closed on its line counts for nothing. */
function endOfQuote(body: string, start: number): number {
  const close = body[start] === "[" ? "]" : body[start];
  for (let at = start + 1; at < body.length && body[at] !== "\n"; at++) {
    if (body[at] === close) return at;
  }
  return start;
}

const OPENING = /^\{\{~?#[*>]?\s*([^\s}|~]+)/;

function tagAt(text: string, start: number): HandlebarsTag {
  const place = { start, end: start + text.length };
  if (/^\{\{~?!|^\{\{\{\{/.test(text)) return { ...place, alone: undefined, isInside: false };
  if (/^\{\{~?(?:\/|\^|else\s*~?\}\})/.test(text)) return { ...place, alone: undefined, isInside: true };
  const chained = /^\{\{~?\s*else(?=\s)/.exec(text)?.[0];
  const opening = chained === undefined
    ? text
    : text.replace(/else\s+/, (word) => `#${word.slice(5).padStart(word.length - 1)}`);
  const block = OPENING.exec(opening)?.[1];
  if (block === undefined) return { ...place, alone: text, isInside: false };
  const alone = `${opening}{{/${block}}}`;
  return chained === undefined
    ? { ...place, alone, block, isInside: false }
    : { ...place, alone, isInside: true };
}
