// Which known id a misspelt one is near to, by the rule of parse/document/near.ts. Going through all ids for each of many misspelt
// ones would take minutes in a long document: ids that begin alike are compared once, as far as they are alike.

import { idKey } from "../document/block_index.ts";

const FARTHEST = 2;

/** A longer word is near to no id. */
const LONGEST = 200;

interface Entry {
  readonly id: string;
  readonly rank: number;
  /** From where on it is known. */
  readonly at: number;
}

interface Branch {
  readonly next: Map<string, Branch>;
  entry?: Entry;
}

/** Known ids, in the order in which they are added. */
export class NearIds {
  readonly #root: Branch = { next: new Map() };
  #count = 0;

  /** Adds an id that is known from a place on; one that is there already stays as it is. */
  add(id: string, at = 0): void {
    if (id.length > LONGEST + FARTHEST) return;
    let branch = this.#root;
    for (const letter of idKey(id).split("")) {
      let next = branch.next.get(letter);
      if (next === undefined) branch.next.set(letter, next = { next: new Map() });
      branch = next;
    }
    branch.entry ??= { id, at, rank: this.#count++ };
  }

  /** The nearest id that is known before a place, the first of equally near ones. */
  nearest(word: string, before = Infinity): string | undefined {
    if (word.length > LONGEST) return undefined;
    const search: Search = { word: idKey(word), before, distance: FARTHEST, found: undefined };
    const row = BAND.map((_, at) => at < FARTHEST ? Infinity : at - FARTHEST);
    goOn(search, { branch: this.#root, letter: "", depth: 0, row, rowBefore: [] });
    return search.found?.id;
  }

  /** ` (did you mean "x"?)` with its leading blank, or the empty text. */
  didYouMean(word: string, before?: number): string {
    const near = this.nearest(word, before);
    return near === undefined ? "" : ` (did you mean "${near}"?)`;
  }
}

interface Search {
  readonly word: string;
  readonly before: number;
  /** Of what was found; before that, the farthest that counts. */
  distance: number;
  found: Entry | undefined;
}

/** The cells of a row that can be near enough: those about as far in the word as the row is in the id. */
const BAND: readonly undefined[] = Array.from({ length: 2 * FARTHEST + 1 }, () => undefined);

/** A place in the ids with the last two rows of distances to it (optimal string alignment). */
interface Step {
  readonly branch: Branch;
  /** The last letter on the way. */
  readonly letter: string;
  /** How many letters there are on the way. */
  readonly depth: number;
  readonly row: readonly number[];
  readonly rowBefore: readonly number[];
}

/** Looks at what comes below; first along the word itself, since a near id makes the others too far away. */
function goOn(search: Search, step: Step): void {
  const likely = search.word[step.depth] ?? "";
  const first = step.branch.next.get(likely);
  if (first !== undefined) look(search, step, { branch: first, letter: likely });
  for (const [letter, branch] of step.branch.next) {
    if (letter !== likely) look(search, step, { branch, letter });
  }
}

function look(search: Search, above: Step, { branch, letter }: Pick<Step, "branch" | "letter">): void {
  const depth = above.depth + 1;
  const row = nextRow(search.word, above, letter);
  if (Math.min(...row) > search.distance) return;
  if (branch.entry !== undefined) {
    consider(search, branch.entry, at(row, search.word.length - depth + FARTHEST));
  }
  goOn(search, { branch, letter, depth, row, rowBefore: above.row });
}

/** A cell of a row stands for one letter farther in the word than the same cell of the row above. */
function nextRow(
  word: string,
  { letter: letterBefore, depth, row, rowBefore }: Step,
  letter: string,
): number[] {
  const next: number[] = [];
  for (let cell = 0; cell < BAND.length; cell++) {
    const j = depth + 1 + cell - FARTHEST;
    if (j <= 0 || j > word.length) next.push(j === 0 ? depth + 1 : Infinity);
    else {
      const isSwap = j > 1 && letter === word[j - 2] && letterBefore === word[j - 1];
      const removed = at(row, cell + 1) + 1;
      const added = at(next, cell - 1) + 1;
      const changed = at(row, cell) + (letter === word[j - 1] ? 0 : 1);
      next.push(Math.min(removed, added, changed, isSwap ? at(rowBefore, cell) + 1 : Infinity));
    }
  }
  return next;
}

function consider(search: Search, entry: Entry, distance: number): void {
  if (distance > search.distance || distance >= entry.id.length || entry.at >= search.before) return;
  const { found } = search;
  if (found !== undefined && distance === search.distance && found.rank < entry.rank) return;
  search.found = entry;
  search.distance = distance;
}

const at = (row: readonly number[], index: number): number => row[index] ?? Infinity;
