// What comes in, checked by the schemas of its route: the same ones that the OpenAPI document has.

import type { JsonSchema } from "../core/gadget.ts";
import { undecided } from "../schema/text_value.ts";
import { issuesText, validateInput } from "../schema/validate.ts";
import { HttpProblem } from "./problem.ts";

/** Values that come as text, typed and checked. @throws {HttpProblem} 400 `invalid` */
export async function checkedTexts(
  schema: JsonSchema,
  texts: Readonly<Record<string, string>>,
  what: string,
): Promise<unknown> {
  const tree = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, undecided(text)]));
  return await checked(schema, tree, what);
}

/** What fits its schema. @throws {HttpProblem} 400 `invalid` */
export async function checked(schema: JsonSchema, tree: unknown, what: string): Promise<unknown> {
  const result = await validateInput(schema, tree);
  if (result.ok) return result.value;
  throw new HttpProblem(400, "invalid", {
    detail: `${what} is not as expected: ${issuesText(result.issues)}`,
    more: {
      issues: result.issues.map(({ pointer, message }) => ({ pointer: pointer && `/${pointer}`, message })),
    },
  });
}

/** The query of a URL. @throws {HttpProblem} 400 `invalid` for a name that is there twice */
export function queryOf(url: string): Readonly<Record<string, string>> {
  const at = url.indexOf("?");
  if (at < 0) return {};
  const entries = [...new URLSearchParams(url.slice(at).replace(/#.*$/, ""))];
  const texts = Object.fromEntries(entries);
  const names = Object.keys(texts);
  if (names.length === entries.length && !names.includes("__proto__")) return texts;
  throw new HttpProblem(400, "invalid", {
    detail: "the query names something twice, expected each name once",
  });
}
