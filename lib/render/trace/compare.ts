// Two runs, step by step: steps of the same key are the same step. What one of them alone has stands where it stood there.

import { textDiff } from "../text_diff.ts";
import type { TraceRow } from "./page.ts";
import type { TraceValue } from "./values.ts";

/** A step of either or both. */
export interface ComparedRow {
  readonly key: string;
  readonly change: "same" | "changed" | "only-a" | "only-b";
  readonly a?: TraceRow;
  readonly b?: TraceRow;
  /** Values that are not the same in both: all of a step that one of them alone has. */
  readonly values: readonly ComparedValue[];
}

/** A value that is not the same in both, as a difference of lines. */
export interface ComparedValue {
  readonly title: string;
  /** In the unified form without its head; empty where only one of them has the value. */
  readonly diff: string;
  readonly a?: string;
  readonly b?: string;
}

/** Longer texts are shown side by side: a difference of them takes too long. */
const MAX_DIFF_CHARACTERS = 60_000;

/** The rows of two runs beside each other. Times and tokens do not count as a change. */
export function comparedRows(a: readonly TraceRow[], b: readonly TraceRow[]): readonly ComparedRow[] {
  const [inA, inB] = [byIdentity(a), byIdentity(b)];
  const onlyB = [...inB].filter(([identity]) => !inA.has(identity)).map(([, place]) => place);
  const rows: ComparedRow[] = [];
  let next = 0;
  /** What only the other one has, up to this row of it. */
  const catchUp = (until: number): void => {
    for (let place = onlyB[next]; place !== undefined && place.index < until; place = onlyB[++next]) {
      rows.push({
        key: place.row.key,
        change: "only-b",
        b: place.row,
        values: comparedValues([], place.row.values),
      });
    }
  };
  for (const [identity, { row }] of inA) {
    const other = inB.get(identity);
    if (other === undefined) {
      rows.push({ key: row.key, change: "only-a", a: row, values: comparedValues(row.values, []) });
    } else {
      catchUp(other.index);
      rows.push(compared(row, other.row));
    }
  }
  catchUp(b.length);
  return rows;
}

/** A key may have several rows, such as a step that was skipped and a jump to it: then their order counts. */
function byIdentity(
  rows: readonly TraceRow[],
): ReadonlyMap<string, { readonly row: TraceRow; readonly index: number }> {
  const places = rows.map((row, index) => ({ row, index }));
  return byName(places, ({ row }) => `${row.kind} ${row.depth} ${row.key}`);
}

/** By name and number: several may have one name. */
function byName<T>(all: readonly T[], nameOf: (each: T) => string): ReadonlyMap<string, T> {
  const counts = new Map<string, number>();
  return new Map(all.map((each) => {
    const name = nameOf(each);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return [`${name} #${count}`, each] as const;
  }));
}

function compared(a: TraceRow, b: TraceRow): ComparedRow {
  const values = comparedValues(a.values, b.values);
  const isSame = values.length === 0 && a.state === b.state && a.name === b.name;
  return { key: a.key, change: isSame ? "same" : "changed", a, b, values };
}

function comparedValues(a: readonly TraceValue[], b: readonly TraceValue[]): readonly ComparedValue[] {
  const titled = (values: readonly TraceValue[]) => byName(values, ({ title }) => title);
  const [inA, inB] = [titled(a), titled(b)];
  const titles = new Set([...inA.keys(), ...inB.keys()]);
  return [...titles].flatMap((title) => {
    const [left, right] = [inA.get(title)?.text, inB.get(title)?.text];
    if (left === right) return [];
    return [{
      title: title.replace(/ #1$/, ""),
      diff: left === undefined || right === undefined ? "" : diffOf(left, right),
      a: left,
      b: right,
    }];
  });
}

/** Its first two lines name files, which these are not. */
function diffOf(a: string, b: string): string {
  if (a.length + b.length > MAX_DIFF_CHARACTERS) return "";
  return textDiff(a, b).split("\n").slice(2).join("\n");
}
