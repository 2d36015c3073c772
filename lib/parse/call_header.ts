import { trimBlanks } from "../schema/text_value.ts";

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

const NO_SLOTS = new Int32Array(0);
const FIRST_SLOTS = 64;
/** So few ids are looked through: most texts have no more, and a table for them costs as much as to parse one. */
const MAX_LISTED = 8;
const MAX_PROBES = 64;

/**
 * The ids of a text and the lines they were first used on. A hash table of its own: nearly all ids are new, and adding to a
 * `Map` costs several times as much. When ids collide, by chance or by design, a `Map` takes over.
 */
export class UsedIds {
  readonly #ids: string[] = [];
  readonly #lines: number[] = [];
  /** In pairs: the hash of an id or 0, its place in `#ids`. At most half full; none before there are some ids. */
  #slots = NO_SLOTS;
  #crowded: Map<string, number> | undefined;

  /** The line an id was first used on; undefined when it is new, and from then on used. */
  use(id: string, line: number): number | undefined {
    if (this.#crowded !== undefined) return useIn(this.#crowded, { id, line });
    if (this.#slots === NO_SLOTS) {
      const place = this.#ids.indexOf(id);
      if (place >= 0) return this.#lines[place];
      this.#ids.push(id);
      this.#lines.push(line);
      if (this.#ids.length === MAX_LISTED) this.#makeSlots();
      return undefined;
    }
    const slots = this.#slots;
    const mask = slots.length - 1;
    const hash = hashOf(id);
    let at = (hash << 1) & mask;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const there = slots[at];
      if (there === 0) {
        slots[at] = hash;
        slots[at + 1] = this.#ids.length;
        this.#ids.push(id);
        this.#lines.push(line);
        if (this.#ids.length * 4 > mask) this.#grow();
        return undefined;
      }
      const place = slots[at + 1] ?? 0;
      if (there === hash && this.#ids[place] === id) return this.#lines[place];
      at = (at + 2) & mask;
    }
    this.#crowded = new Map(this.#ids.map((used, place) => [used, this.#lines[place] ?? 0]));
    return useIn(this.#crowded, { id, line });
  }

  #makeSlots(): void {
    const slots = this.#slots = new Int32Array(FIRST_SLOTS);
    const mask = slots.length - 1;
    for (const [place, id] of this.#ids.entries()) {
      const hash = hashOf(id);
      let at = (hash << 1) & mask;
      while (slots[at] !== 0) at = (at + 2) & mask;
      slots[at] = hash;
      slots[at + 1] = place;
    }
  }

  /** Keeps the order in which ids came, so none comes to lie further from its home than before. */
  #grow(): void {
    const old = this.#slots;
    const slots = this.#slots = new Int32Array(old.length * 4);
    const mask = slots.length - 1;
    for (let from = 0; from < old.length; from += 2) {
      const hash = old[from] ?? 0;
      if (hash === 0) continue;
      let at = (hash << 1) & mask;
      while (slots[at] !== 0) at = (at + 2) & mask;
      slots[at] = hash;
      slots[at + 1] = old[from + 1] ?? 0;
    }
  }
}

function useIn(map: Map<string, number>, use: { id: string; line: number }): number | undefined {
  const first = map.get(use.id);
  if (first === undefined) map.set(use.id, use.line);
  return first;
}

function hashOf(id: string): number {
  let hash = id.length;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x9e3779b1);
  return (hash ^ (hash >>> 15)) | 1 << 30;
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
export const DEFAULT_MARKERS: Markers = Object.freeze({
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
  const known = COMPLETE.get(given);
  if (known !== undefined) return known;
  const markers = Object.freeze({ ...DEFAULT_MARKERS, ...given });
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
  COMPLETE.set(markers, markers);
  return markers;
}

/** Every run looks at them, and most have those of the settings. */
const COMPLETE = new WeakMap<Partial<Markers>, Markers>([[DEFAULT_MARKERS, DEFAULT_MARKERS]]);

const quote = (text: string): string => JSON.stringify(text);
