/** What a text has of the tags that were looked for. */
export interface TagScan {
  /** The contents of each element that is closed, by its name. */
  readonly contents: ReadonlyMap<string, readonly string[]>;
  /** The names of all opening tags. */
  readonly opened: ReadonlySet<string>;
}

interface Element {
  readonly contents: string[];
  /** Where the content of the open element begins; -1 when none is open. */
  start: number;
}

/**
 * Finds elements from exactly `<t>` to the next `</t>`, and opening tags, in one walk over the text: its time does not
 * depend on the number of names, nor on what is left open.
 */
export function scanTags(text: string, names: Iterable<string>): TagScan {
  const elements = new Map<string, Element>();
  let longest = 0;
  for (const name of names) {
    elements.set(name, { contents: [], start: -1 });
    longest = Math.max(longest, name.length);
  }
  const opened = new Set<string>();
  for (let at = longest === 0 ? -1 : text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
    const isClosing = text.charCodeAt(at + 1) === SLASH;
    const from = isClosing ? at + 2 : at + 1;
    const end = endOfName(text, { from, longest });
    if (text.charCodeAt(end) !== GREATER) continue;
    const name = text.slice(from, end);
    const element = elements.get(name);
    if (element === undefined) continue;
    if (!isClosing) {
      opened.add(name);
      if (element.start < 0) element.start = end + 1;
    } else if (element.start >= 0) {
      element.contents.push(text.slice(element.start, at));
      element.start = -1;
    }
  }
  return { contents: new Map([...elements].map(([name, { contents }]) => [name, contents])), opened };
}

const SLASH = 47;
const LESS = 60;
const GREATER = 62;

/** A name has neither `<` nor `>`, so no part of the text is looked at for two tags. */
function endOfName(
  text: string,
  { from, longest }: { readonly from: number; readonly longest: number },
): number {
  const last = Math.min(text.length, from + longest);
  let end = from;
  while (end < last && text.charCodeAt(end) !== LESS && text.charCodeAt(end) !== GREATER) end++;
  return end;
}
