import type { Secrets } from "./world.ts";

/**
 * Secrets are taken out of text by their values: raw, JSON- and URL-escaped and as one whole base64 value (turn.md 3). Where several
 * overlap, one `[secret NAME]` stands for all of them. Of two names with one value the first is shown.
 *
 * @param options.minLength of a value: a shorter one cannot be told from ordinary text. Default 8
 */
export function createSecrets(
  { label = (name) => `[secret ${name}]`, minLength = 8 }: {
    /** What stands for a value. */
    readonly label?: (name: string) => string;
    readonly minLength?: number;
  } = {},
): Secrets {
  const secrets = new Map<string, string>();
  let finder: ReturnType<typeof secretFinder> | undefined;
  const found = (text: string) =>
    secrets.size === 0 ? [] : (finder ??= secretFinder(secrets, minLength)).find(text);

  function mask(text: string): string {
    let out = "";
    let at = 0;
    for (const { start, end, name } of found(text)) {
      out += text.slice(at, start) + label(name);
      at = end;
    }
    return at === 0 ? text : out + text.slice(at);
  }

  function stream(): ReturnType<Secrets["stream"]> {
    let held = "";
    /** So much of what is held belongs to a secret whose label is out. */
    let covered = 0;

    function give(text: string, until: number): string {
      let out = "";
      let at = covered;
      for (const { start, end, name } of found(text)) {
        if (start >= until) break;
        if (start >= at) out += text.slice(at, start) + label(name);
        at = Math.max(at, end);
      }
      held = text.slice(until);
      covered = Math.max(0, at - until);
      return at < until ? out + text.slice(at, until) : out;
    }

    return {
      push(text) {
        if (secrets.size === 0 && held === "") return text;
        const whole = held + text;
        finder ??= secretFinder(secrets, minLength);
        return give(whole, finder.openFrom(whole));
      },
      end: () => give(held, held.length),
    };
  }

  return {
    add(name, value) {
      // The blanks around a value come from a file and seldom go where the value goes.
      const kept = value.trim();
      if (kept.length < minLength || secrets.has(kept)) return;
      secrets.set(kept, name);
      finder = undefined;
    },
    mask,
    maskJson: (value) => secrets.size === 0 ? value : maskedJson(value, mask),
    stream,
  };
}

/** The value with every string and every key in it masked; the same value when that changes nothing. */
function maskedJson<T>(value: T, mask: (text: string) => string): T;
function maskedJson(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? maskedList(value, mask) : maskedObject(value, mask);
}

function maskedList(list: readonly unknown[], mask: (text: string) => string): readonly unknown[] {
  const masked = list.map((item) => maskedJson(item, mask));
  return masked.every((item, index) => item === list[index]) ? list : masked;
}

function maskedObject(object: object, mask: (text: string) => string): object {
  const out = new Map<string, unknown>();
  let changed = false;
  for (const [key, item] of Object.entries(object)) {
    const maskedItem = maskedJson(item, mask);
    const maskedKey = mask(key);
    changed ||= maskedItem !== item || maskedKey !== key;
    out.set(freeKey(maskedKey, out), maskedItem);
  }
  return changed ? Object.fromEntries(out) : object;
}

/** Two keys may differ in nothing but the form of a secret; none of their values may be lost. */
function freeKey(key: string, taken: ReadonlyMap<string, unknown>): string {
  for (let n = 2, free = key;; n++) {
    if (!taken.has(free)) return free;
    free = `${key} ${n}`;
  }
}

/** A piece of a text that is one secret, or several that overlap; `name` is that of the one that begins it. */
interface SecretPlace {
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

/** Finds the forms of a set of secrets. @param secrets by value */
function secretFinder(secrets: ReadonlyMap<string, string>, minLength: number) {
  const names = new Map<string, string>();
  for (const [value, name] of secrets) {
    for (const text of secretForms(value)) {
      if (text.length >= minLength && !names.has(text)) names.set(text, name);
    }
  }
  // The longest first: of two that begin at one place it is the one that is named.
  const forms = [...names].map(([text, name]): Form => ({ text, name, overlaps: overlapsItself(text) }))
    .sort((a, b) => b.text.length - a.text.length);
  const byFirst = Map.groupBy(forms, ({ text }) => text.charAt(0));
  /** All forms at once: what says within a millisecond that a megabyte holds none. */
  const any = new RegExp(forms.map(({ text }) => RegExp.escape(text)).join("|") || "(?!)");
  const shortest = forms.at(-1)?.text.length ?? Infinity;
  const longest = forms[0]?.text.length ?? 0;

  /** All places in their order; those that overlap are one. */
  function find(text: string): readonly SecretPlace[] {
    if (text.length < shortest || !any.test(text)) return [];
    const found = forms.flatMap((form) => placesOf(form, text));
    const merged: SecretPlace[] = [];
    for (const place of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
      const last = merged.at(-1);
      if (last === undefined || place.start >= last.end) merged.push(place);
      else if (place.end > last.end) merged[merged.length - 1] = { ...last, end: place.end };
    }
    return merged;
  }

  /** Where the end of the text begins that may be the beginning of a form; the text's length when there is none. */
  function openFrom(text: string): number {
    for (let at = Math.max(0, text.length - longest + 1); at < text.length; at++) {
      const forms = byFirst.get(text.charAt(at));
      if (forms === undefined) continue;
      const rest = text.slice(at);
      if (forms.some((form) => form.text.length > rest.length && form.text.startsWith(rest))) return at;
    }
    return text.length;
  }

  return { find, openFrom };
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

/**
 * Every way a secret is looked for: raw, as part of JSON, as part of a URL or a form, and as one whole base64 value. Writers differ in what
 * they escape beside what they have to, and in the case of hexadecimal digits.
 */
function secretForms(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const wellFormed = value.toWellFormed();
  const url = encodeURIComponent(wellFormed);
  const { pathname } = new URL(`http://a/${wellFormed.replaceAll(/[?#]/g, encodeURIComponent)}`);
  const { search } = new URL(`http://a/?${wellFormed.replaceAll("#", "%23")}`);
  const strictUrl = url.replace(/[!'()*]/g, percentEscape);
  const form = new URLSearchParams({ "": value }).toString().slice(1);
  const urls = [url, strictUrl, form, encodeURI(wellFormed), pathname.slice(1), search.slice(1)];
  return [
    ...new Set([
      value,
      json,
      json.replaceAll("/", "\\/"),
      json.replace(/[\u007f-\uffff]/g, unicodeEscape),
      ...urls.flatMap((text) => [text, text.replace(/%../g, (hex) => hex.toLowerCase())]),
      ...base64Forms(value),
    ]),
  ];
}

const percentEscape = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

const unicodeEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

function base64Forms(value: string): readonly string[] {
  const bytes = new TextEncoder().encode(value);
  const padded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return [padded, padded.replaceAll("+", "-").replaceAll("/", "_")].flatMap((
    text,
  ) => [text, text.replace(/=+$/, "")]);
}
