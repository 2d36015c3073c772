import { trimBlanks } from "../../schema/text_value.ts";

/** What a START line says (calls.md 2). */
export interface CallHeader {
  readonly gadgetName: string;
  /** Absent: to be generated. */
  readonly invocationId?: string;
  readonly dependencies: readonly string[];
  readonly error?: string;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** Reads `Name`, `Name:id` or `Name:id:dep1,dep2`: the rest of a START line. Never throws. */
export function readCallHeader(text: string): CallHeader {
  const parts = text.split(":").map(trimBlanks);
  const [gadgetName = "", id = "", list = ""] = parts;
  const dependencies = list === ""
    ? []
    : [...new Set(list.split(",").map(trimBlanks).filter((part) => part !== ""))];
  const wrong = parts.length > 3 ? "more than three parts" : firstWrong(gadgetName, id, dependencies);
  if (wrong === undefined) return { gadgetName, invocationId: id === "" ? undefined : id, dependencies };
  const error =
    `Cannot read header "${trimBlanks(text)}": found ${wrong}, expected Name, Name:id or Name:id:dep1,dep2 ` +
    `(an identifier is a letter or _, then letters, digits, _, - and .)`;
  return { gadgetName, invocationId: IDENTIFIER.test(id) ? id : undefined, dependencies: [], error };
}

function firstWrong(name: string, id: string, dependencies: readonly string[]): string | undefined {
  if (name === "") return "no name";
  if (!IDENTIFIER.test(name)) return `"${name}"`;
  if (id !== "" && !IDENTIFIER.test(id)) return `"${id}"`;
  const wrong = dependencies.find((dependency) => !IDENTIFIER.test(dependency));
  return wrong === undefined ? undefined : `"${wrong}"`;
}

/** The names of gadgets in the START lines of a text. */
export function calledNames(text: string, { start }: Pick<Markers, "start">): ReadonlySet<string> {
  const names = new Set<string>();
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + start.length)) {
    if (at > 0 && text[at - 1] !== "\n") continue;
    const end = text.indexOf("\n", at);
    const { gadgetName } = readCallHeader(text.slice(at + start.length, end < 0 ? undefined : end));
    if (gadgetName !== "") names.add(gadgetName);
  }
  return names;
}

/** The three line beginnings that make a call block (calls.md 1). */
export interface Markers {
  /** Opens a block; the rest of its line is the header. Default `!!!GADGET_START:`. */
  readonly start: string;
  /** Closes a block; nothing but blanks may follow on its line. Default `!!!GADGET_END`. */
  readonly end: string;
  /** Opens an argument inside a block; the rest of its line is the pointer. Default `!!!ARG:`. */
  readonly arg: string;
}

/** The markers of the block format as published. */
const DEFAULT_MARKERS: Markers = Object.freeze({
  start: "!!!GADGET_START:",
  end: "!!!GADGET_END",
  arg: "!!!ARG:",
});

/**
 * The markers to use: what is not given is the default.
 *
 * @throws {TypeError} when one is empty, has a line ending or begins with `\`, or one is a prefix of another (calls.md 1).
 */
export function completeMarkers(given: Partial<Markers> = DEFAULT_MARKERS): Markers {
  const markers = { ...DEFAULT_MARKERS, ...given };
  const list = Object.entries(markers);
  for (const [role, marker] of list) {
    if (marker === "") throw new TypeError(`Cannot use an empty ${role} marker: it would match every line`);
    if (/[\r\n]/.test(marker)) {
      throw new TypeError(`Cannot use the ${role} marker ${quote(marker)}: a marker is one line`);
    }
    if (marker.startsWith("\\")) {
      throw new TypeError(`Cannot use the ${role} marker ${quote(marker)}: "\\" is the escape`);
    }
  }
  for (const [role, marker] of list) {
    for (const [otherRole, other] of list) {
      if (role !== otherRole && other.startsWith(marker)) {
        const relation = other === marker ? "equals" : "is a prefix of";
        throw new TypeError(
          `Cannot tell the markers apart: ${role} ${quote(marker)} ${relation} ${otherRole} ${quote(other)}`,
        );
      }
    }
  }
  return markers;
}

const quote = (text: string): string => JSON.stringify(text);
