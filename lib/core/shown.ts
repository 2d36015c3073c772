// Values in the words of messages.

const MAX_SHOWN = 60;

/** A value in the words of a message: short, and one line. */
export function shown(value: unknown): string {
  if (typeof value === "string") return shownText(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

/** JSON of a value a schema lists, cut when it is long. */
export function shownJson(value: unknown): string {
  const json = typeof value === "bigint" ? `${value}n` : JSON.stringify(value) ?? String(value);
  return json.length <= MAX_SHOWN ? json : `${json.slice(0, MAX_SHOWN)}…`;
}

/** A text in the words of a message. */
export function shownText(text: string): string {
  if (text === "") return "empty text";
  const cut = text.length <= MAX_SHOWN ? text : text.slice(0, MAX_SHOWN).replace(/[\uD800-\uDBFF]$/, "");
  return cut === text ? JSON.stringify(text) : `${JSON.stringify(cut)}… (${text.length} characters)`;
}

/** A value that is not what it has to be, in the words of an error: the text of a function would say too much. */
export function foundValue(value: unknown): string {
  return typeof value === "function" ? "a function" : shown(value);
}

/** A word as it is, or in quotes with everything escaped that a terminal would not show as it is: foreign words cannot look like ours. */
export function shownWord(word: string): string {
  if (/^[\w@%+=:,./?&~${}-]+$/.test(word)) return word;
  return JSON.stringify(word).replaceAll(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
