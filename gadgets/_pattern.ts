// Searching by V8's own RegExp can take time exponential in the length of a line: (a+)+$ on thirty letters hangs the
// process, and nothing in it can stop that. So patterns from outside run on this machine, a deterministic automaton
// built while it runs (as in RE2), whose time is linear in the text.
import { compileProgram, type Program } from "./_pattern_program.ts";

/** Where a pattern was found. Offsets count UTF-16 units from the start of the text. */
export interface PatternMatch {
  readonly lineStart: number;
  /** The first offset after the line, its line break not counted. */
  readonly lineEnd: number;
  /** Where in the line the leftmost match begins, from 0. */
  readonly column: number;
}

/** A compiled pattern. `^` and `$` are the ends of a line, and a match never goes over a line break. */
export interface Pattern {
  /** The first line at or after `from`, which is the start of a line, that has a match. */
  maybeFind(text: string, from: number): PatternMatch | undefined;
  /** Whether there is a match in the text taken as one line, whatever it holds. */
  test(text: string): boolean;
}

interface PatternOptions {
  readonly ignoreCase?: boolean;
  /** Called now and then while a search is slow; it may throw to end it. */
  readonly onSlow?: () => void;
}

/**
 * Compiles a regular expression to a search that takes linear time.
 *
 * @throws {Error} when it cannot be read, has look-around or back-references, or is too big.
 */
export function compilePattern(source: string, options: PatternOptions = {}): Pattern {
  const machine = new Machine(compileProgram(source, options), options.onSlow ?? (() => {}));
  return {
    maybeFind: (text, from) => machine.maybeFind(text, from),
    test: (text) => machine.test(text),
  };
}

/** What stood before a place: the start of the line, a word character, another one. */
type Before = 0 | 1 | 2;
/** What comes after it: a word character, another one, the end of the line. */
type After = 1 | 2 | 3;
const [AT_START, WORD, OTHER, AT_END] = [0, 1, 2, 3] as const;

/** The instructions that wait for the next unit, before the ways without a unit were followed. */
interface State {
  readonly waiting: readonly number[];
  readonly before: Before;
}

const MAX_STATES = 2000;
const SLOW_STEPS = 1024;
const LINE_FEED = 10;
/** Fields of the table that are not a state. */
const [UNKNOWN, MATCHED] = [-1, -2] as const;

class Machine {
  readonly #program: Program;
  readonly #onSlow: () => void;
  /** Columns of the table: one for each class of units, and one for the end of a line. */
  readonly #width: number;
  readonly #end: number;
  /** The column of each unit in a text of many lines, and in a text taken as one line. */
  readonly #columns: Uint16Array;
  readonly #columnsOfOneLine: Uint16Array;
  #states: State[] = [];
  #offsets = new Map<string, number>();
  /** For each state and column: the offset of the next state's row. The first row is the start of a line. */
  #table = new Int32Array();
  #slowSteps = 0;

  constructor(program: Program, onSlow: () => void) {
    this.#program = program;
    this.#onSlow = onSlow;
    this.#end = program.classes.count;
    this.#width = this.#end + 1;
    this.#columnsOfOneLine = program.classes.ofUnit;
    this.#columns = program.classes.ofUnit.with(LINE_FEED, this.#end);
    this.#forget();
  }

  maybeFind(text: string, from: number): PatternMatch | undefined {
    const matchEnd = this.#run(text, { from, columns: this.#columns });
    // After the line break at the end of a text there is no further, empty line.
    if (matchEnd === undefined || (matchEnd === text.length && (from === matchEnd || text.endsWith("\n")))) {
      return undefined;
    }
    const lineStart = matchEnd === from ? from : Math.max(from, text.lastIndexOf("\n", matchEnd - 1) + 1);
    const lineFeed = text.indexOf("\n", lineStart);
    const lineEnd = lineFeed < 0 ? text.length : lineFeed;
    return { lineStart, lineEnd, column: this.#leftmost(text, { from: lineStart, to: lineEnd }) };
  }

  test(text: string): boolean {
    return this.#run(text, { from: 0, columns: this.#columnsOfOneLine }) !== undefined;
  }

  /** Where the match ends that ends first. The one loop that has to be fast. */
  #run(text: string, { from, columns }: { from: number; columns: Uint16Array }): number | undefined {
    let table = this.#table;
    let state = 0;
    for (let i = from; i < text.length; i++) {
      const column = columns[text.charCodeAt(i)] ?? 0;
      let step = table[state + column] ?? UNKNOWN;
      if (step < 0) {
        if (step === UNKNOWN) step = this.#learn(state, column);
        if (step === MATCHED) return i;
        table = this.#table;
      }
      state = step;
    }
    return this.#learn(state, this.#end) === MATCHED ? text.length : undefined;
  }

  /** Computes one field of the table. */
  #learn(offset: number, column: number): number {
    this.#tick();
    const state = this.#states[offset / this.#width] ?? { waiting: [], before: AT_START };
    const { instructions, classes, start } = this.#program;
    const after = this.#kindOf(column);
    const open = this.#follow(state, after);
    if (open.some((at) => instructions[at]?.op === "match")) return this.#table[offset + column] = MATCHED;
    if (after === AT_END) return this.#table[offset + column] = 0;
    const next = new Set([start]);
    for (const at of open) {
      const instruction = instructions[at];
      if (instruction?.op === "set" && classes.members[instruction.set]?.[column] === 1) {
        next.add(instruction.next);
      }
    }
    const nextState: State = { waiting: [...next].sort((a, b) => a - b), before: after };
    const full = this.#states.length >= MAX_STATES;
    if (full) this.#forget();
    const nextOffset = this.#offsetOf(nextState);
    if (!full) this.#table[offset + column] = nextOffset;
    return nextOffset;
  }

  /** Follows the ways that take no unit; what is left waits for a unit, or has matched. In order of discovery. */
  #follow(state: State, after: After, seen = new Set<number>()): number[] {
    const open: number[] = [];
    const todo = state.waiting.toReversed();
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const instruction = this.#program.instructions[at];
      if (instruction?.op === "split") todo.push(...instruction.targets);
      else if (instruction?.op !== "assert") open.push(at);
      else if (holds(instruction.what, state.before, after)) todo.push(instruction.next);
    }
    return open;
  }

  /** The start of the leftmost match in a line that has one, by following all ways at once, oldest first. */
  #leftmost(text: string, { from, to }: { from: number; to: number }): number {
    const { instructions, classes, start } = this.#program;
    let best = Infinity;
    let threads = new Map<number, number>();
    let before: Before = AT_START;
    for (let i = from; i <= to && best > 0; i++) {
      this.#tick();
      if (best === Infinity && !threads.has(start)) threads.set(start, i - from);
      const column = i === to ? this.#end : classes.ofUnit[text.charCodeAt(i)] ?? this.#end;
      const next = new Map<number, number>();
      // The oldest threads come first, so every instruction gets the oldest start it can have.
      for (const [at, born] of this.#followThreads(threads, { before, after: this.#kindOf(column) })) {
        const instruction = instructions[at];
        if (instruction?.op === "match") best = Math.min(best, born);
        else if (instruction?.op !== "set" || classes.members[instruction.set]?.[column] !== 1) continue;
        else if (!next.has(instruction.next)) next.set(instruction.next, born);
      }
      threads = new Map([...next].filter(([, born]) => born < best));
      if (threads.size === 0 && best < Infinity) break;
      before = this.#kindOf(column) === WORD ? WORD : OTHER;
    }
    return best;
  }

  #followThreads(
    threads: ReadonlyMap<number, number>,
    { before, after }: { before: Before; after: After },
  ): Map<number, number> {
    const born = new Map<number, number>();
    const oldestFirst = [...threads].sort(([, a], [, b]) => a - b);
    let sameAge: number[] = [];
    oldestFirst.forEach(([at, age], index) => {
      sameAge.push(at);
      if (oldestFirst[index + 1]?.[1] === age) return;
      for (const found of this.#follow({ waiting: sameAge, before }, after)) {
        if (!born.has(found)) born.set(found, age);
      }
      sameAge = [];
    });
    return born;
  }

  #kindOf(column: number): After {
    if (column === this.#end) return AT_END;
    return this.#program.wordClasses[column] === 1 ? WORD : OTHER;
  }

  #offsetOf(state: State): number {
    const key = `${state.before}:${state.waiting.join()}`;
    const known = this.#offsets.get(key);
    if (known !== undefined) return known;
    const offset = (this.#states.push(state) - 1) * this.#width;
    this.#offsets.set(key, offset);
    if (offset + this.#width > this.#table.length) this.#grow();
    return offset;
  }

  #grow(): void {
    const bigger = new Int32Array(Math.max(64 * this.#width, this.#table.length * 2)).fill(UNKNOWN);
    bigger.set(this.#table);
    this.#table = bigger;
  }

  /** Empties the table: some patterns have more states than memory should hold. */
  #forget(): void {
    this.#states = [];
    this.#offsets = new Map();
    this.#table = new Int32Array();
    this.#offsetOf({ waiting: [this.#program.start], before: AT_START });
  }

  #tick(): void {
    if (++this.#slowSteps % SLOW_STEPS === 0) this.#onSlow();
  }
}

function holds(what: "start" | "end" | "word" | "not-word", before: Before, after: After): boolean {
  switch (what) {
    case "start":
      return before === AT_START;
    case "end":
      return after === AT_END;
    case "word":
      return (before === WORD) !== (after === WORD);
    case "not-word":
      return (before === WORD) === (after === WORD);
  }
}
