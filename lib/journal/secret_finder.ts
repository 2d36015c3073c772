import { secretForms } from "./secret_forms.ts";

/** A piece of a text that is one secret, or several that overlap; `name` is that of the one that begins it. */
export interface SecretPlace {
  readonly start: number;
  /** Behind its last character. */
  readonly end: number;
  readonly name: string;
}

interface Form {
  readonly text: string;
  readonly name: string;
  /** It can overlap itself, as `abcab` does. */
  readonly overlaps: boolean;
}

/** Finds the forms of a set of secrets. */
export class SecretFinder {
  readonly #forms: readonly Form[];
  readonly #byFirst = new Map<string, readonly Form[]>();
  /** All forms at once: what says within a millisecond that a megabyte holds none. */
  readonly #any: RegExp;
  readonly #shortest: number;
  readonly #longest: number;

  /** @param secrets by value */
  constructor(secrets: ReadonlyMap<string, string>) {
    const names = new Map<string, string>();
    for (const [value, name] of secrets) {
      for (const text of secretForms(value)) if (!names.has(text)) names.set(text, name);
    }
    // The longest first: of two that begin at one place it is the one that is named.
    this.#forms = [...names].map(([text, name]) => ({ text, name, overlaps: overlapsItself(text) }))
      .sort((a, b) => b.text.length - a.text.length);
    for (const form of this.#forms) {
      const first = form.text.charAt(0);
      this.#byFirst.set(first, [...this.#byFirst.get(first) ?? [], form]);
    }
    this.#any = new RegExp(this.#forms.map(({ text }) => RegExp.escape(text)).join("|") || "(?!)");
    this.#shortest = this.#forms.at(-1)?.text.length ?? Infinity;
    this.#longest = this.#forms[0]?.text.length ?? 0;
  }

  /** All places in their order; those that overlap are one. */
  find(text: string): readonly SecretPlace[] {
    if (text.length < this.#shortest || !this.#any.test(text)) return [];
    const found = this.#forms.flatMap((form) => placesOf(form, text));
    const merged: SecretPlace[] = [];
    for (const place of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
      const last = merged.at(-1);
      if (last === undefined || place.start >= last.end) merged.push(place);
      else if (place.end > last.end) merged[merged.length - 1] = { ...last, end: place.end };
    }
    return merged;
  }

  /** Where the end of the text begins that may be the beginning of a form; the text's length when there is none. */
  openFrom(text: string): number {
    for (let at = Math.max(0, text.length - this.#longest + 1); at < text.length; at++) {
      const forms = this.#byFirst.get(text.charAt(at));
      if (forms === undefined) continue;
      const rest = text.slice(at);
      if (forms.some((form) => form.text.length > rest.length && form.text.startsWith(rest))) return at;
    }
    return text.length;
  }
}

function placesOf({ text: form, name, overlaps }: Form, text: string): readonly SecretPlace[] {
  const places: SecretPlace[] = [];
  for (let start = text.indexOf(form); start >= 0;) {
    let end = start + form.length;
    if (overlaps) end = endOfChain(form, { text, start });
    places.push({ start, end, name });
    start = text.indexOf(form, end);
  }
  return places;
}

/** Follows occurrences that overlap each other, the furthest one each time: a long row of one letter costs no more than its length. */
function endOfChain(
  form: string,
  { text, start }: { readonly text: string; readonly start: number },
): number {
  for (let at = start;;) {
    const next = text.slice(at + 1, at + 2 * form.length - 1).lastIndexOf(form);
    if (next < 0) return at + form.length;
    at += 1 + next;
  }
}

/** Whether a proper beginning of the text is its end too (the prefix function of Knuth, Morris and Pratt). */
function overlapsItself(text: string): boolean {
  const borders = [0];
  for (let i = 1, border = 0; i < text.length; i++) {
    while (border > 0 && text[i] !== text[border]) border = borders[border - 1] ?? 0;
    if (text[i] === text[border]) border++;
    borders.push(border);
  }
  return (borders.at(-1) ?? 0) > 0;
}
