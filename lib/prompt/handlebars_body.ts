// The body of a `*.prompt` file is Handlebars, of which Orrery takes the part that makes one text of its values (prompts.md 12). What is
// beyond that is found when the file is read. The library is loaded when the first such file is there.

import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { isRecord } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import type { LineProblem } from "../parse/front_matter.ts";
import { RenderError } from "./render_error.ts";

/** Handlebars, as far as `*.prompt` files may use it. */
export interface HandlebarsBodies {
  /** What is not supported in a body; lines count from 1. */
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
  return {
    problems(body) {
      try {
        return problemsIn(own.parse(body));
      } catch (thrown) {
        return [syntaxProblem(thrown)];
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

/** The helpers: how many arguments they take, and whether they have an inside. */
const HELPERS: Readonly<Record<string, { readonly takes: number; readonly isBlock: boolean }>> = {
  if: { takes: 1, isBlock: true },
  unless: { takes: 1, isBlock: true },
  each: { takes: 1, isBlock: true },
  with: { takes: 1, isBlock: true },
  lookup: { takes: 2, isBlock: false },
  json: { takes: 1, isBlock: false },
  ifEquals: { takes: 2, isBlock: true },
  unlessEquals: { takes: 2, isBlock: true },
};

const KNOWN = Object.fromEntries(Object.keys(HELPERS).map((name) => [name, true]));

/** They make several messages of one file. */
const OF_MESSAGES: readonly string[] = ["role", "history", "media", "section"];

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

type Node = Readonly<Record<string, unknown>>;

/** Looks at every node of a syntax tree, from the first to the last. */
function problemsIn(tree: unknown): readonly LineProblem[] {
  const problems: LineProblem[] = [];
  const rest: unknown[] = [tree];
  while (rest.length > 0) {
    const node = rest.pop();
    if (!isRecord(node)) continue;
    const message = problemOf(node);
    if (message !== undefined) problems.push({ line: lineOf(node), message });
    for (const part of Object.values(node).flat().reverse()) rest.push(part);
  }
  return problems.sort((a, b) => a.line - b.line);
}

function problemOf(node: Node): string | undefined {
  switch (node.type) {
    case "PartialStatement":
    case "PartialBlockStatement":
      return "a partial is not supported";
    case "Decorator":
    case "DecoratorBlock":
      return "a decorator is not supported";
    case "MustacheStatement":
    case "BlockStatement":
    case "SubExpression":
      return callProblem(node);
    default:
      return undefined;
  }
}

function callProblem({ type, path, params, hash }: Node): string | undefined {
  const name = isRecord(path) ? String(path.original) : "";
  const found = Array.isArray(params) ? params.length : 0;
  const isBlock = type === "BlockStatement";
  if (OF_MESSAGES.includes(name)) return "a role, history, media or section helper is not supported";
  const helper = Object.hasOwn(HELPERS, name) ? HELPERS[name] : undefined;
  if (helper === undefined) {
    const isValue = type === "MustacheStatement" && found === 0 && hash === undefined;
    return isValue
      ? undefined
      : `unknown helper ${JSON.stringify(name)}${didYouMeanNames(name, Object.keys(HELPERS))}`;
  }
  if (helper.isBlock !== isBlock) {
    return helper.isBlock
      ? `the helper "${name}" needs an inside: {{#${name} …}}…{{/${name}}}`
      : `the helper "${name}" has no inside: {{${name} …}}`;
  }
  const takes = `${helper.takes} argument${helper.takes === 1 ? "" : "s"}`;
  return found === helper.takes ? undefined : `the helper "${name}" takes ${takes}, found ${found}`;
}

function lineOf({ loc }: Node): number {
  const start = isRecord(loc) && isRecord(loc.start) ? loc.start.line : undefined;
  return typeof start === "number" ? start : 1;
}

/** What the library calls these. */
const TOKENS: Readonly<Record<string, string>> = {
  OPEN: '"{{"',
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

/** `Parse error on line 3:` and a picture, or `if doesn't match each - 3:3`. */
function syntaxProblem(thrown: unknown): LineProblem {
  const message = messageOf(thrown);
  const line = Number(
    /^Parse error on line (\d+)/.exec(message)?.[1] ?? / - (\d+):\d+$/.exec(message)?.[1] ?? 1,
  );
  const token = /, got '(.*)'$/.exec(message)?.[1];
  const why = token === undefined
    ? message.replace(/ - \d+:\d+$/, "").split("\n", 1)[0] ?? ""
    : token === "EOF"
    ? "a block is not closed"
    : `${TOKENS[token] ?? "something"} is not expected here`;
  return { line, message: `cannot read the Handlebars of the body: ${why}` };
}
