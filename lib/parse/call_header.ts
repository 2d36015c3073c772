import { trimBlanks } from "../core/blanks.ts";

/** What a START line says (calls.md 2). */
export interface CallHeader {
  readonly gadgetName: string;
  /** Absent: to be generated. */
  readonly invocationId?: string;
  readonly dependencies: readonly string[];
  readonly error?: string;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const NO_DEPENDENCIES: readonly string[] = [];

/** Reads `Name`, `Name:id` or `Name:id:dep1,dep2`: the rest of a START line. Never throws. */
export function readCallHeader(text: string): CallHeader {
  const first = text.indexOf(":");
  const second = first < 0 ? -1 : text.indexOf(":", first + 1);
  const gadgetName = trimBlanks(first < 0 ? text : text.slice(0, first));
  const id = first < 0 ? "" : trimBlanks(text.slice(first + 1, second < 0 ? text.length : second));
  const dependencies = second < 0 ? NO_DEPENDENCIES : splitList(text.slice(second + 1));
  const wrong = second >= 0 && text.includes(":", second + 1)
    ? "more than three parts"
    : firstWrong(gadgetName, id, dependencies);
  if (wrong !== undefined) return unreadable(text, { gadgetName, id, wrong });
  return id === "" ? { gadgetName, dependencies } : { gadgetName, invocationId: id, dependencies };
}

function splitList(list: string): readonly string[] {
  const only = list.includes(",") ? undefined : trimBlanks(list);
  if (only !== undefined) return only === "" ? NO_DEPENDENCIES : [only];
  return [...new Set(list.split(",").map(trimBlanks).filter((part) => part !== ""))];
}

function firstWrong(name: string, id: string, dependencies: readonly string[]): string | undefined {
  if (name === "") return "no name";
  if (!IDENTIFIER.test(name)) return `"${name}"`;
  if (id !== "" && !IDENTIFIER.test(id)) return `"${id}"`;
  const wrong = dependencies.find((dependency) => !IDENTIFIER.test(dependency));
  return wrong === undefined ? undefined : `"${wrong}"`;
}

function unreadable(text: string, parts: { gadgetName: string; id: string; wrong: string }): CallHeader {
  const { gadgetName, id, wrong } = parts;
  const error =
    `Cannot read header "${trimBlanks(text)}": found ${wrong}, expected Name, Name:id or Name:id:dep1,dep2 ` +
    `(an identifier is a letter or _, then letters, digits, _, - and .)`;
  return IDENTIFIER.test(id)
    ? { gadgetName, invocationId: id, dependencies: NO_DEPENDENCIES, error }
    : { gadgetName, dependencies: NO_DEPENDENCIES, error };
}

/** Reads START lines; the name is most often that of the line before. */
export class CallHeaders {
  readonly #marker: string;
  #known = "";
  #name = "";
  /** Where the line that was read last ends. */
  end = 0;

  constructor(marker: string) {
    this.#marker = marker;
  }

  /** The header of the line at `at`, when the name is that of the last one and the rest is plain and complete. */
  readKnown(s: string, at: number): CallHeader | undefined {
    const known = this.#known;
    const from = at + known.length;
    if (known === "" || s.slice(at, from) !== known) return undefined;
    const idEnd = identifierEnd(s, from);
    if (idEnd === from || idEnd === s.length) return undefined;
    const unit = s.charCodeAt(idEnd);
    if (unit === LF) {
      this.end = idEnd;
      return { gadgetName: this.#name, invocationId: s.slice(from, idEnd), dependencies: NO_DEPENDENCIES };
    }
    const end = unit === COLON ? identifierEnd(s, idEnd + 1) : idEnd;
    if (end <= idEnd + 1 || end === s.length || s.charCodeAt(end) !== LF) return undefined;
    this.end = end;
    return {
      gadgetName: this.#name,
      invocationId: s.slice(from, idEnd),
      dependencies: [s.slice(idEnd + 1, end)],
    };
  }

  read(text: string): CallHeader {
    const header = readCallHeader(text);
    const start = `${header.gadgetName}:`;
    if (header.error === undefined && text.startsWith(start)) {
      this.#known = this.#marker + start;
      this.#name = header.gadgetName;
    }
    return header;
  }
}

const LF = 0x0a;
const COLON = 0x3a;

/** Where the identifier at `from` ends; `from` itself when none begins there. */
function identifierEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    const isLetter = (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a || unit === 0x5f;
    if (!isLetter && (at === from || !(unit >= 0x30 && unit <= 0x39 || unit === 0x2d || unit === 0x2e))) {
      return at;
    }
    at++;
  }
  return at;
}
