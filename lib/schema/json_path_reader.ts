import { readTest } from "./json_path_filter.ts";
import { maybeInteger, maybeText } from "./json_path_literal.ts";
import { PathScanner } from "./json_path_scanner.ts";
import type { PathQuery, PathSegment, PathSelector } from "./json_path_tree.ts";

const ADVICE = ' A JSONPath begins with "$", such as $.items[0].name.';
const NAME = /[A-Za-z_\u{80}-\u{d7ff}\u{e000}-\u{10ffff}][A-Za-z0-9_\u{80}-\u{d7ff}\u{e000}-\u{10ffff}]*/uy;

/** Reads a whole JSONPath by the grammar of RFC 9535, appendix A. @throws {PathProblem} */
export function readPath(text: string): PathQuery {
  const scanner = new PathScanner(text);
  if (!scanner.take("$")) scanner.refuse(scanner.found, 0, `.${ADVICE}`);
  const segments = readSegments(scanner);
  if (!scanner.isAtEnd) scanner.fail('".", "[" or the end');
  return { isRelative: false, segments };
}

function maybeQuery(scanner: PathScanner): PathQuery | undefined {
  const isRelative = scanner.take("@");
  if (!isRelative && !scanner.take("$")) return undefined;
  return { isRelative, segments: readSegments(scanner) };
}

function readSegments(scanner: PathScanner): readonly PathSegment[] {
  const segments: PathSegment[] = [];
  while (true) {
    const start = scanner.at;
    scanner.skipBlanks();
    const segment = maybeSegment(scanner);
    if (segment !== undefined) {
      segments.push(segment);
      continue;
    }
    scanner.at = start; // blanks that no segment follows are not the query's
    return segments;
  }
}

function maybeSegment(scanner: PathScanner): PathSegment | undefined {
  const isDescendant = scanner.take("..");
  const selectors = maybeBrackets(scanner);
  if (selectors !== undefined) return { isDescendant, selectors };
  if (!isDescendant && !scanner.take(".")) return undefined;
  if (scanner.take("*")) return { isDescendant, selectors: [{ kind: "wildcard" }] };
  const name = scanner.maybeMatch(NAME) ??
    scanner.fail(isDescendant ? 'a name, "*" or "["' : 'a name or "*"');
  return { isDescendant, selectors: [{ kind: "name", name }] };
}

function maybeBrackets(scanner: PathScanner): readonly PathSelector[] | undefined {
  if (!scanner.take("[")) return undefined;
  const selectors: PathSelector[] = [];
  do {
    scanner.skipBlanks();
    selectors.push(readSelector(scanner));
    scanner.skipBlanks();
  } while (scanner.take(","));
  if (!scanner.take("]")) scanner.fail('"," or "]"');
  return selectors;
}

function readSelector(scanner: PathScanner): PathSelector {
  if (scanner.take("*")) return { kind: "wildcard" };
  if (scanner.take("?")) return { kind: "filter", test: readTest(scanner, maybeQuery) };
  const name = maybeText(scanner);
  if (name !== undefined) return { kind: "name", name };
  return maybeIndexOrSlice(scanner) ??
    scanner.fail('a selector such as 0, 1:3, "name", * or ?@.price < 10');
}

function maybeIndexOrSlice(scanner: PathScanner): PathSelector | undefined {
  const index = maybeInteger(scanner);
  const behind = scanner.at;
  scanner.skipBlanks();
  if (scanner.take(":")) return sliceFrom(scanner, index);
  scanner.at = behind;
  return index === undefined ? undefined : { kind: "index", index };
}

function sliceFrom(scanner: PathScanner, start: number | undefined): PathSelector {
  scanner.skipBlanks();
  const end = maybeInteger(scanner);
  scanner.skipBlanks();
  let step: number | undefined;
  if (scanner.take(":")) {
    scanner.skipBlanks();
    step = maybeInteger(scanner);
  }
  return {
    kind: "slice",
    start,
    end,
    step: step ?? 1,
  };
}
