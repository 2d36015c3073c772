import { TagParser } from "./tag_parser.ts";
import type { TagSpec } from "./tag_spec.ts";

/**
 * A parser that takes tags, code blocks and signals out of an answer, and refuses an answer without the required ones (prompts.md 3).
 *
 * ```ts
 * import { ParseError, tags } from "orrery";
 *
 * const review = tags({ requiredXmlTags: ["answer"], mdTags: ["ts"], signalTags: ["DONE"] });
 * const { xmlTags, mdTags, signalTags } = review.parse("<answer>42</answer> <DONE>");
 * console.log(xmlTags.answer[0], mdTags.ts.length, signalTags.DONE); // => 42 0 true
 *
 * const score = tags({ requiredXmlTags: ["score"] }).refine(({ xmlTags }) => {
 *   const score = Number(xmlTags.score[0]);
 *   if (Number.isNaN(score)) throw new ParseError(`<score> must be a number, got ${xmlTags.score[0]}`);
 *   return { score };
 * });
 * console.log(await score.parse("<score>0.5</score>")); // => { score: 0.5 }
 * ```
 *
 * @throws {PromptError} `define` for a key or a tag name that is none.
 */
export function tags<
  const X extends string = never,
  const Q extends string = never,
  const M extends string = never,
  const N extends string = never,
  const S extends string = never,
>(spec: TagSpec<X, Q, M, N, S>): TagParser<X, Q, M, N, S> {
  return new TagParser(spec);
}
