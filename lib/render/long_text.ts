const MAX_CHARACTERS = 4000;

/** A text for people to read: a very long one is cut, and says how much is missing and where all of it is. */
export function longText(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS)}… (${
    text.length - MAX_CHARACTERS
  } more characters; --jsonl shows all)`;
}
