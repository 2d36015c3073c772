import { byPlace } from "../core/by_place.ts";
import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { isRecord } from "../core/json.ts";
import { FILE_START, type LineProblem, type Place } from "../parse/front_matter.ts";

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
export const HELPER_NAMES: readonly string[] = Object.keys(HELPERS);

/** They make several messages of one file. */
const OF_MESSAGES: readonly string[] = ["role", "history", "media", "section"];

type Node = Readonly<Record<string, unknown>>;

/** What a syntax tree of Handlebars has that `*.prompt` files may not have; every node is looked at, from the first to the last. */
export function treeProblems(tree: unknown): readonly LineProblem[] {
  const problems: LineProblem[] = [];
  const rest: unknown[] = [tree];
  while (rest.length > 0) {
    const node = rest.pop();
    if (Array.isArray(node)) pushReversed(rest, node);
    else if (isRecord(node)) {
      const message = problemOf(node);
      if (message !== undefined) problems.push({ ...placeOf(node), message });
      if (node.type !== "ContentStatement" && node.type !== "PathExpression") {
        pushReversed(rest, partsOf(node));
      }
    }
  }
  return problems.sort(byPlace);
}

function pushReversed(rest: unknown[], nodes: readonly unknown[]): void {
  for (let index = nodes.length - 1; index >= 0; index--) rest.push(nodes[index]);
}

/** Where nodes have other nodes, in the order of the text. */
const PARTS: readonly string[] = [
  "path",
  "name",
  "params",
  "hash",
  "pairs",
  "value",
  "program",
  "body",
  "inverse",
];

function partsOf(node: Node): readonly unknown[] {
  return PARTS.flatMap((key) => {
    const part = node[key];
    return typeof part === "object" && part !== null ? [part] : [];
  });
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
