import { RE2JS } from "re2js";

const TOKEN = /\\.?|\*+\/?|\[[!^]?\]?(?:[^\]\\]|\\.)*\]|./gsu;
const ANY = "(?s:.)*";

/**
 * Compiles a glob to a test of paths with `/` between their parts and none at the start; linear in the path.
 *
 * `*` is any text without `/`, `?` one character but `/`, `**` any folders or none, `[a-z]` and `[!a-z]` one character,
 * `{a,b}` one of these, `\` takes the next character as it is. A glob without `/` is held against the name alone, at any
 * depth; names that begin with a dot are like others.
 *
 * @throws {Error} when a `[` or `{` is not closed.
 */
export function compileGlob(glob: string): (path: string) => boolean {
  const rooted = glob.replace(/^(?:\.?\/)+/, "");
  const open: number[] = [];
  const body = rooted.replace(TOKEN, (token: string, at: number) => {
    switch (token[0]) {
      case "*":
        return stars(token, rooted[at - 1] ?? "/", rooted[at + token.length] ?? "/");
      case "?":
        return "[^/]";
      case "[":
        if (token.length === 1) throw notClosed(rooted, at);
        return oneOf(token.slice(1, -1));
      case "{":
        open.push(at);
        return "(?:";
      case "}":
        return open.pop() === undefined ? literal(token) : ")";
      case ",":
        return open.length === 0 ? literal(token) : "|";
      case "\\":
        return literal(token.slice(1) || "\\");
      default:
        return literal(token);
    }
  });
  const unclosed = open.at(-1);
  if (unclosed !== undefined) throw notClosed(rooted, unclosed);
  const anywhere = rooted === glob && !rooted.includes("/") ? `(?:${ANY}/)?` : "";
  const pattern = RE2JS.compile(`${anywhere}(?:${body})`);
  return (path) => pattern.testExact(path);
}

/** `**` stands for folders only when it is a whole part of the path; elsewhere it is one `*`. */
function stars(token: string, before: string, after: string): string {
  const slash = token.endsWith("/") ? "/" : "";
  const isWhole = token.startsWith("**") && "/{,".includes(before) && (slash !== "" || "/},".includes(after));
  if (!isWhole) return `[^/]*${slash}`;
  return slash === "" ? ANY : `(?:${ANY}/)?`;
}

function oneOf(inside: string): string {
  const isNot = /^[!^]/.test(inside);
  const members = inside.slice(isNot ? 1 : 0).replaceAll(
    /\\?(.)/gsu,
    (whole, character) => whole === "-" ? "-" : literal(character),
  );
  return isNot ? `[^/${members}]` : `[${members}]`;
}

function literal(character: string): string {
  return `\\x{${character.codePointAt(0)?.toString(16)}}`;
}

function notClosed(glob: string, at: number): Error {
  const sign = glob.charAt(at);
  return new Error(
    `Cannot read the glob "${glob}": the "${sign}" at character ${
      at + 1
    } is not closed; for the character itself write "\\${sign}"`,
  );
}
