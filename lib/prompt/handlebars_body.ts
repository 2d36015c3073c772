// The body of a `*.prompt` file is Handlebars, of which Orrery takes the part that makes one text of its values (prompts.md 12). What is
// beyond that is found when the file is read. The library is loaded when the first such file is there.

import { messageOf } from "../core/source_error.ts";
import type { LineProblem } from "../parse/front_matter.ts";
import { tooManyLevels } from "./handlebars_levels.ts";
import { HELPER_NAMES, treeProblems } from "./handlebars_problems.ts";
import { syntaxProblems } from "./handlebars_syntax.ts";
import { RenderError } from "./render_error.ts";

/** Handlebars, as far as `*.prompt` files may use it. */
export interface HandlebarsBodies {
  /** What is not supported in a body; lines and columns count from 1. */
  problems(body: string): readonly LineProblem[];
  /** @throws {RenderError} when the body cannot be read or rendered. */
  render(body: string, values: Readonly<Record<string, unknown>>): string;
}

/** Loads Handlebars. */
export async function loadHandlebars(): Promise<HandlebarsBodies> {
  const { default: library } = await import("handlebars");
  const own = library.create();
  own.registerHelper({ json, ifEquals, unlessEquals });
  const compiled = new Map<string, ReturnType<typeof own.compile>>();
  const templateOf = (body: string) => {
    const known = compiled.get(body);
    if (known !== undefined) return known;
    const template = own.compile(body, { noEscape: true, knownHelpersOnly: true, knownHelpers: KNOWN });
    if (compiled.size >= MOST_KEPT) compiled.clear();
    compiled.set(body, template);
    return template;
  };
  const parse = (body: string): unknown => own.parse(body);
  return {
    problems(body) {
      if (!body.includes("{{")) return []; // text only
      const levels = tooManyLevels(body);
      if (levels !== undefined) return [levels];
      try {
        return treeProblems(parse(body));
      } catch (thrown) {
        return syntaxProblems(body, { thrown, parse });
      }
    },
    render(body, values) {
      try {
        // Said outright, both are refused without a warning on the console.
        const safely = { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false };
        return templateOf(body)(values, safely);
      } catch (thrown) {
        throw new RenderError(messageOf(thrown).split("\n", 1)[0], { cause: thrown });
      }
    },
  };
}

const MOST_KEPT = 1000;

const KNOWN = Object.fromEntries(HELPER_NAMES.map((name) => [name, true]));

interface Block {
  fn(context: unknown): string;
  inverse(context: unknown): string;
}

function json(value: unknown, { hash }: { readonly hash: { readonly indent?: number } }): string | undefined {
  return JSON.stringify(value, null, hash.indent ?? 0);
}

function ifEquals(this: unknown, first: unknown, second: unknown, block: Block): string {
  return first === second ? block.fn(this) : block.inverse(this);
}

function unlessEquals(this: unknown, first: unknown, second: unknown, block: Block): string {
  return first === second ? block.inverse(this) : block.fn(this);
}
