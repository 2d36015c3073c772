import type { TextWanted } from "./test_field.ts";

/** How a text is to be, as it stands in a difference. */
export function wantedText({ test, text }: TextWanted): string {
  return test === "equals" ? text : `(${test} ${JSON.stringify(text)})`;
}

/** Texts as the lines of a difference. */
export function linesOf(texts: readonly string[]): string {
  return texts.map((text) => `${text.trimEnd()}\n`).join("");
}
