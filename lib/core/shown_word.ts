/** A word as it is, or in quotes with everything escaped that a terminal would not show as it is: foreign words cannot look like ours. */
export function shownWord(word: string): string {
  if (/^[\w@%+=:,./?&~${}-]+$/.test(word)) return word;
  return JSON.stringify(word).replaceAll(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
