import { compilePattern } from "./_pattern.ts";

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
  const reader: GlobReader = { glob: rooted, at: 0, open: 0 };
  const body = translate(reader);
  const anywhere = rooted === glob && !rooted.includes("/") ? "(?:[^]*/)?" : "";
  const pattern = compilePattern(`^${anywhere}(?:${body})$`);
  return (path) => pattern.test(path);
}

interface GlobReader {
  readonly glob: string;
  at: number;
  /** How many `{` are open. */
  open: number;
}

function translate(reader: GlobReader): string {
  let out = "";
  while (reader.at < reader.glob.length) {
    const unit = reader.glob.charAt(reader.at);
    if (reader.open > 0 && (unit === "," || unit === "}")) break;
    out += translateOne(reader, unit);
  }
  return out;
}

function translateOne(reader: GlobReader, unit: string): string {
  switch (unit) {
    case "*":
      return translateStars(reader);
    case "[":
      return translateClass(reader);
    case "{":
      return translateBraces(reader);
    case "?":
      reader.at++;
      return "[^/]";
    case "\\":
      reader.at += 2;
      return escapeUnit(reader.glob.charAt(reader.at - 1) || "\\");
    default:
      reader.at++;
      return escapeUnit(unit);
  }
}

/** `**` stands for folders only when it is a whole part of the path; elsewhere it is one `*`. */
function translateStars(reader: GlobReader): string {
  const start = reader.at;
  while (reader.glob[reader.at] === "*") reader.at++;
  const before = reader.glob[start - 1] ?? "/";
  const after = reader.glob[reader.at] ?? "/";
  if (reader.at - start < 2 || !"/{,".includes(before) || !"/},".includes(after)) return "[^/]*";
  if (reader.glob[reader.at] !== "/") return "[^]*";
  reader.at++;
  return "(?:[^]*/)?";
}

function translateClass(reader: GlobReader): string {
  // A "]" directly after the opening is one of the characters.
  const found = /^\[([!^]?)(\]?(?:[^\]\\]|\\[^])*)\]/.exec(reader.glob.slice(reader.at));
  if (found === null) throw notClosed(reader, reader.at);
  reader.at += found[0].length;
  const inside = (found[2] ?? "").replaceAll(
    /\\?([^])/g,
    (whole, unit) => whole === "-" ? "-" : escapeUnit(unit),
  );
  return `(?:${found[1] === "" ? `[${inside}]` : `[^/${inside}]`})`;
}

function translateBraces(reader: GlobReader): string {
  const start = reader.at;
  const choices: string[] = [];
  reader.open++;
  while (reader.glob[reader.at] !== "}") {
    reader.at++;
    if (reader.at >= reader.glob.length) throw notClosed(reader, start);
    choices.push(translate(reader));
    if (reader.at >= reader.glob.length) throw notClosed(reader, start);
  }
  reader.at++;
  reader.open--;
  return `(?:${choices.join("|")})`;
}

function notClosed(reader: GlobReader, at: number): Error {
  const sign = reader.glob.charAt(at);
  return new Error(
    `Cannot read the glob "${reader.glob}": the "${sign}" at character ${
      at + 1
    } is not closed; for the character itself write "\\${sign}"`,
  );
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
