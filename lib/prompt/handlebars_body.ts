// The body of a `*.prompt` file is Handlebars, of which Orrery takes the part that makes one text of its values (prompts.md 12). What is
// beyond that is found when the file is read. The library is loaded when the first such file is there.

import { isRecord } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { spanAt } from "../core/span_at.ts";
import type { LineProblem } from "../parse/front_matter.ts";
import { HELPER_NAMES, treeProblems } from "./handlebars_problems.ts";
import { RenderError } from "./render_error.ts";

/** Handlebars, as far as `*.prompt` files may use it. */
export interface HandlebarsBodies {
  /** What is not supported in a body, or where it cannot be read; lines and columns count from 1. */
  problems(body: string): readonly LineProblem[];
  /** @throws {RenderError} when the body cannot be read or rendered. */
  render(body: string, values: Readonly<Record<string, unknown>>): string;
}

/** Loads Handlebars. */
export async function loadHandlebars(): Promise<HandlebarsBodies> {
  const { default: library } = await import("handlebars");
  const own = library.create();
  own.registerHelper({ json, ifEquals, unlessEquals });
  const compile = (body: string) =>
    own.compile(body, { noEscape: true, knownHelpersOnly: true, knownHelpers: KNOWN });
  const compiled = new Map<string, ReturnType<typeof compile>>();
  return {
    problems(body) {
      const tooDeep = levelsProblem(body);
      if (tooDeep !== undefined) return [tooDeep];
      try {
        return treeProblems(own.parse(body));
      } catch (thrown) {
        return [syntaxProblem(body, thrown, Reflect.get(own, "Parser")?.lexer?.yylloc)];
      }
    },
    render(body, values) {
      try {
        const template = compiled.get(body) ?? compile(body);
        compiled.set(body, template);
        // Said outright, both are refused without a warning on the console.
        const safely = { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false };
        return template(values, safely);
      } catch (thrown) {
        throw new RenderError(messageOf(thrown).split("\n", 1)[0], { cause: thrown });
      }
    },
  };
}

const MOST_LEVELS = 200;

/** The library takes a time that grows with the square of the levels, so the levels are counted before it reads anything. */
function levelsProblem(body: string): LineProblem | undefined {
  let blocks = 0;
  let brackets = 0;
  let tag: number | undefined;
  for (const { 0: token, 1: kind, index } of body.matchAll(/\{\{~?(#|\^\s*[^\s~}]|\/)?|\}\}|[()]/g)) {
    if (token.startsWith("{{")) {
      [tag, brackets] = [index, 0];
      if (kind === "/") blocks = Math.max(0, blocks - 1);
      else if (kind !== undefined) blocks++;
    } else if (token === "}}") tag = undefined;
    else if (tag !== undefined) brackets += token === "(" ? 1 : -1;
    if (tag === undefined || blocks + brackets <= MOST_LEVELS) continue;
    const message = `there are more than ${MOST_LEVELS} levels of Handlebars inside each other`;
    return { ...spanAt(body, tag), message };
  }
  return undefined;
}

/** What the library calls these. */
const TOKENS: Readonly<Record<string, string>> = {
  CLOSE: '"}}"',
  OPEN_UNESCAPED: '"{{{"',
  CLOSE_UNESCAPED: '"}}}"',
  OPEN_SEXPR: '"("',
  CLOSE_SEXPR: '")"',
  OPEN_ENDBLOCK: '"{{/"',
  INVERSE: '"{{else}}"',
  OPEN_INVERSE_CHAIN: '"{{else"',
  EQUALS: '"="',
  SEP: '"/"',
};

/**
 * Why the library cannot read a body, at the tag that it cannot read.
 *
 * @param token where the token is that it does not expect: errors of its grammar say that in words only
 */
function syntaxProblem(body: string, thrown: unknown, token: unknown): LineProblem {
  const message = messageOf(thrown);
  const found = /, got '(.*)'$/.exec(message)?.[1];
  const place = found === undefined ? thrown : token;
  const { first_line, first_column, lineNumber = first_line, column = first_column } = isRecord(place)
    ? place
    : {};
  const lines = body.split("\n").slice(0, Number(lineNumber ?? 1) - 1);
  const at = lines.join("\n").length + Math.sign(lines.length) + Number(column ?? 0);
  const tag = found === "EOF" ? body.length : Math.max(0, body.lastIndexOf("{{", at));
  const words = found === "EOF"
    ? "a block is not closed"
    : found === undefined
    ? message.replace(/ - \d+:\d+$/, "").split("\n", 1)[0]
    : `${TOKENS[found] ?? "something"} is not expected here`;
  return { ...spanAt(body, tag), message: `cannot read the Handlebars of the body: ${words}` };
}

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
