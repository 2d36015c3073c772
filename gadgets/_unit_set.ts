/** Ranges of UTF-16 units, sorted, both ends included. */
export type UnitSet = readonly (readonly [number, number])[];

/** What every unit belongs to: units in the same sets have the same class. */
export interface UnitClasses {
  /** The class of each unit, by its number. */
  readonly ofUnit: Uint16Array;
  readonly count: number;
  /** For each set, in the order given: 1 for the classes it holds. */
  readonly members: readonly Uint8Array[];
}

const UNITS = 0x10000;
let everyUnit = "";

/**
 * The units that a regular expression for one unit matches. V8 reads it, so classes, escapes and folding of case mean
 * here what they mean in JavaScript.
 *
 * @throws {Error} when V8 cannot read it.
 */
export function unitSet(source: string, flags: string): UnitSet {
  everyUnit ||= Array.from({ length: UNITS }, (_, unit) => String.fromCharCode(unit)).join("");
  const ranges: [number, number][] = [];
  for (const run of everyUnit.matchAll(runs(source, flags))) {
    if (run[0] !== "") ranges.push([run.index, run.index + run[0].length - 1]);
  }
  return ranges;
}

function runs(source: string, flags: string): RegExp {
  try {
    return new RegExp(`(?:${source})+`, `g${flags}`);
  } catch {
    throw new Error(
      `Cannot read "${source}" in the regular expression: no such property, or an escape not allowed beside one`,
    );
  }
}

/** Parts all units into classes, so that a machine needs one column for each class and not for each unit. */
export function partition(sets: readonly UnitSet[]): UnitClasses {
  const bounds = new Set([0]);
  for (const [from, to] of sets.flat()) bounds.add(from).add(to + 1);
  const starts = [...bounds].filter((start) => start < UNITS).sort((a, b) => a - b);
  const held = sets.map((set) => heldStarts(set, starts));
  const ofUnit = new Uint16Array(UNITS);
  const classes = new Map<string, number>();
  const columns: number[] = [];
  starts.forEach((start, index) => {
    const signature = held.map((row) => row[index]).join("");
    const known = classes.get(signature);
    const id = known ?? classes.size;
    if (known === undefined) {
      classes.set(signature, id);
      columns.push(index);
    }
    ofUnit.fill(id, start, starts[index + 1] ?? UNITS);
  });
  const members = held.map((row) => Uint8Array.from(columns, (column) => row[column] ?? 0));
  return { ofUnit, count: classes.size, members };
}

/** For each start of an interval: 1 when the set holds it. Both are sorted, so one walk does. */
function heldStarts(set: UnitSet, starts: readonly number[]): Uint8Array {
  let range = 0;
  return Uint8Array.from(starts, (start) => {
    while ((set[range]?.[1] ?? Infinity) < start) range++;
    return start >= (set[range]?.[0] ?? Infinity) ? 1 : 0;
  });
}
