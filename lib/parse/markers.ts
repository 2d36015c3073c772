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
export const DEFAULT_MARKERS: Markers = { start: "!!!GADGET_START:", end: "!!!GADGET_END", arg: "!!!ARG:" };

/**
 * The markers to use: what is not given is the default.
 *
 * @throws {TypeError} when one is empty, has a line ending or begins with `\`, or one is a prefix of another (calls.md 1).
 */
export function completeMarkers(given: Partial<Markers> = {}): Markers {
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
