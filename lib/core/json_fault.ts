// `JSON.parse` says where some texts are wrong, and of others only what it has met; a message with a column needs the place always.

const BLANKS = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"/y;

type Expected = "value" | "first item" | "first key" | "key" | "colon" | "after value";

/** The offset where the text stops being the JSON of one value; its length when it ends too early. Undefined for JSON. */
export function jsonFaultAt(text: string): number | undefined {
  const open: ("}" | "]")[] = [];
  let expected: Expected = "value";
  for (let at = end(BLANKS, text, 0) ?? 0;; at = end(BLANKS, text, at) ?? at) {
    const char = text.charAt(at);
    if (expected === "after value" && open.length === 0) return char === "" ? undefined : at;
    let next: number | undefined = at + 1;
    if (expected === "after value" && char === ",") expected = open.at(-1) === "}" ? "key" : "value";
    else if (expected === "colon" && char === ":") expected = "value";
    else if (closes(expected, char, open.at(-1))) {
      open.pop();
      expected = "after value";
    } else if (expected === "key" || expected === "first key") {
      next = end(STRING, text, at);
      expected = "colon";
    } else if (expected === "value" || expected === "first item") {
      if (char === "{" || char === "[") open.push(char === "{" ? "}" : "]");
      else next = end(STRING, text, at) ?? end(SCALAR, text, at);
      expected = char === "{" ? "first key" : char === "[" ? "first item" : "after value";
    } else next = undefined;
    if (next === undefined || char === "") return at;
    at = next;
  }
}

function closes(expected: Expected, char: string, closing: "}" | "]" | undefined): boolean {
  if (char === "" || char !== closing) return false;
  return expected === "after value" || expected === (closing === "}" ? "first key" : "first item");
}

/** Where the match that begins at `at` ends. */
function end(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
