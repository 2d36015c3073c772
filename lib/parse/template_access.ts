/** `a.b[c d]` in a template: the variable `a`, and what is looked up in it, one after the other. */
export interface TemplateAccess {
  readonly source: string;
  readonly name: string;
  readonly keys: readonly string[];
}

/** The longest access that starts here (prompts.md 2), or undefined when no name does. */
export function templateAccessAt(text: string, start: number): TemplateAccess | undefined {
  const nameEnd = endOfName(text, start);
  if (nameEnd === start) return undefined;
  const keys: string[] = [];
  let at = nameEnd;
  for (let end = endOfKey(text, at); end > at; end = endOfKey(text, at)) {
    keys.push(text.slice(at + 1, text[at] === "[" ? end - 1 : end));
    at = end;
  }
  return { source: text.slice(start, at), name: text.slice(start, nameEnd), keys };
}

/** Where `.name` or `[key]` ends; where it would start when there is none. */
function endOfKey(text: string, at: number): number {
  if (text[at] === ".") {
    const end = endOfName(text, at + 1);
    return end === at + 1 ? at : end;
  }
  if (text[at] !== "[") return at;
  let end = at + 1;
  while (end < text.length && !"[]{}".includes(text.charAt(end))) end++;
  return text[end] === "]" && end > at + 1 ? end + 1 : at;
}

function endOfName(text: string, start: number): number {
  let at = start;
  for (let code = text.codePointAt(at); isNameCharacter(code); code = text.codePointAt(at)) {
    at += code > 0xffff ? 2 : 1;
  }
  return at;
}

// One character at a time: a pattern over all of a name would keep a place to go back to for each of them.
function isNameCharacter(code: number | undefined): code is number {
  if (code === undefined) return false;
  if (code > 0x7f) return /^[\p{L}\p{M}\p{Nd}]$/u.test(String.fromCodePoint(code));
  return IS_ASCII_NAME[code] === true;
}

const IS_ASCII_NAME = Array.from({ length: 0x80 }, (_, code) => /[\w-]/.test(String.fromCharCode(code)));
