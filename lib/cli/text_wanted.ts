import type { TestFailure } from "./file_test.ts";
import type { TextWanted } from "./test_field.ts";
import { textDiff } from "../render/text_diff.ts";

/** What is not as it should be with a text; undefined when nothing is. White space at the end does not count where texts are to be equal. */
export function textFailure(
  found: string | undefined,
  { what, wanted }: { readonly what: string; readonly wanted: TextWanted },
): TestFailure | undefined {
  const { test, text, span } = wanted;
  if (found === undefined) return { what, span, message: `there is no ${what}` };
  if (test === "equals") {
    const [a, b] = [text.trimEnd(), found.trimEnd()];
    return a === b ? undefined : { what, span, message: `${what} is another one`, diff: textDiff(a, b) };
  }
  const holds = test === "contains" ? found.includes(text) : new RegExp(text, "u").test(found);
  if (holds) return undefined;
  const verb = test === "contains" ? "does not contain" : "does not match";
  return { what, span, message: `${what} ${verb} ${JSON.stringify(text)}: ${shown(found)}` };
}

const SHOWN = 2000;

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}\u2026` : text);
}
