// The body of a `*.prompt` file is Handlebars, of which Orrery takes the part that makes one text of its values (prompts.md 12). What is
// beyond that is found when the file is read. The library is loaded when the first such file is there.
import { byPlace, didYouMeanNames, isRecord, messageOf, spanAt } from "../../core/core.ts";
import { FILE_START, type LineProblem, type Place } from "../../parse/yaml/front_matter.ts";
import { RenderError } from "../value_text.ts";

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

/** The helpers that a body may use. */
const HELPER_NAMES: readonly string[] = Object.keys(HELPERS);

/** They make several messages of one file. */
const OF_MESSAGES: readonly string[] = ["role", "history", "media", "section"];

type Node = Readonly<Record<string, unknown>>;

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
      : `unknown helper ${JSON.stringify(name)}${didYouMeanNames(name, HELPER_NAMES)}`;
  }
  if (helper.isBlock !== isBlock) {
    return helper.isBlock
      ? `the helper "${name}" needs an inside: {{#${name} …}}…{{/${name}}}`
      : `the helper "${name}" has no inside: {{${name} …}}`;
  }
  const takes = `${helper.takes} argument${helper.takes === 1 ? "" : "s"}`;
  return found === helper.takes ? undefined : `the helper "${name}" takes ${takes}, found ${found}`;
}

/** The library counts lines from 1 and columns from 0. */
function placeOf({ loc }: Node): Place {
  const { line, column } = isRecord(loc) && isRecord(loc.start) ? loc.start : {};
  return typeof line === "number" && typeof column === "number" ? { line, column: column + 1 } : FILE_START;
}

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
  /** What a syntax tree has that `*.prompt` files may not have. */
  class Look extends library.Visitor {
    readonly problems: LineProblem[] = [];

    override accept(node: Parameters<InstanceType<typeof library.Visitor>["accept"]>[0]): void {
      const message = problemOf({ ...node });
      if (message !== undefined) this.problems.push({ ...placeOf({ ...node }), message });
      super.accept(node);
    }
  }
  return {
    problems(body) {
      const tooDeep = levelsProblem(body);
      if (tooDeep !== undefined) return [tooDeep];
      try {
        const look = new Look();
        look.accept(own.parse(body));
        return look.problems.sort(byPlace);
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
const MOST_BRANCHES = 1000;

/**
 * The library takes a time that grows with the square of the levels, and so with the branches of a block (`{{else if …}}`), each of which is a
 * level to it. So they are counted before it reads anything.
 */
function levelsProblem(body: string): LineProblem | undefined {
  const branches: number[] = []; // of each block that is open
  let brackets = 0;
  let tag: number | undefined;
  for (const { 0: token, 1: kind, index } of body.matchAll(TAGS)) {
    if (token.startsWith("{{")) {
      [tag, brackets] = [index, 0];
      if (kind === "/") branches.pop();
      else if (kind?.includes("else")) branches.push((branches.pop() ?? 0) + 1);
      else if (kind !== undefined) branches.push(0);
    } else if (token === "}}") tag = undefined;
    else if (tag !== undefined) brackets += token === "(" ? 1 : -1;
    if (tag === undefined) continue;
    if (branches.length + brackets > MOST_LEVELS) {
      const message = `there are more than ${MOST_LEVELS} levels of Handlebars inside each other`;
      return { ...spanAt(body, tag), message };
    }
    if ((branches.at(-1) ?? 0) > MOST_BRANCHES) {
      return {
        ...spanAt(body, tag),
        message: `a block has more than ${MOST_BRANCHES} branches with {{else …}}`,
      };
    }
  }
  return undefined;
}

/** What opens a tag, with what makes it one of a block; what closes one; brackets. */
const TAGS = /\{\{~?(#|\^\s*[^\s~}]|\/|\s*else\s+[^\s~}])?|\}\}|[()]/g;

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
