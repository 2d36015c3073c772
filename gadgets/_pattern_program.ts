import { parsePattern, type PatternNode } from "./_pattern_tree.ts";
import { partition, type UnitClasses, type UnitSet, unitSet } from "./_unit_set.ts";

/** One instruction of a search program; `next` and `targets` are numbers of instructions. */
export type Instruction =
  | { readonly op: "set"; readonly set: number; readonly next: number }
  | { readonly op: "assert"; readonly what: "start" | "end" | "word" | "not-word"; readonly next: number }
  | { readonly op: "split"; readonly targets: readonly number[] }
  | { readonly op: "match" };

/** A regular expression as instructions (Thompson's construction). */
export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
  readonly classes: UnitClasses;
  /** 1 for the classes whose units are word characters, as `\b` means it. */
  readonly wordClasses: Uint8Array;
}

const MAX_INSTRUCTIONS = 2000;
const MAX_SOURCE_LENGTH = 2000;

/**
 * Compiles a regular expression.
 *
 * @throws {Error} when it cannot be read, has look-around or back-references, or is too big.
 */
export function compileProgram(source: string, options: { readonly ignoreCase?: boolean } = {}): Program {
  if (source.length > MAX_SOURCE_LENGTH) {
    throw new Error(
      `Cannot search with this regular expression: ${source.length} characters, at most ${MAX_SOURCE_LENGTH} are allowed`,
    );
  }
  const builder = new ProgramBuilder(options.ignoreCase === true ? "i" : "");
  const end = builder.push({ op: "match" });
  const start = builder.emit(parsePattern(source), end);
  const classes = partition(builder.sets);
  return {
    instructions: builder.instructions,
    start,
    classes,
    wordClasses: classes.members[0] ?? new Uint8Array(),
  };
}

/** Builds backwards: each part is told where to go on after it. */
class ProgramBuilder {
  readonly instructions: Instruction[] = [];
  readonly sets: UnitSet[] = [unitSet("\\w", "")];
  readonly #setNumbers = new Map<string, number>();
  readonly #caseFlag: string;

  constructor(caseFlag: string) {
    this.#caseFlag = caseFlag;
  }

  push(instruction: Instruction): number {
    if (this.instructions.length >= MAX_INSTRUCTIONS) {
      throw new Error(
        "Cannot search with this regular expression: it is too big; make the numbers in {} smaller",
      );
    }
    return this.instructions.push(instruction) - 1;
  }

  emit(node: PatternNode, next: number): number {
    switch (node.kind) {
      case "set":
        return this.push({ op: "set", set: this.#setNumber(node.source, node.flags), next });
      case "assert":
        return this.push({ op: "assert", what: node.what, next });
      case "sequence":
        return node.items.reduceRight((after, item) => this.emit(item, after), next);
      case "choice":
        return this.push({ op: "split", targets: node.items.map((item) => this.emit(item, next)) });
      case "repeat":
        return this.#repeat(node.item, { min: node.min, max: node.max, next });
    }
  }

  #repeat(item: PatternNode, { min, max, next }: { min: number; max: number; next: number }): number {
    let entry = max === Infinity ? this.#loop(item, next) : next;
    // Empty rounds are harmless but do not count instructions: without this bound, (){1000000000} would run for ever.
    const bound = Math.min(min, MAX_INSTRUCTIONS);
    if (max !== Infinity) {
      for (let i = min; i < Math.min(max, min + MAX_INSTRUCTIONS); i++) {
        entry = this.push({ op: "split", targets: [this.emit(item, entry), next] });
      }
    }
    for (let i = 0; i < bound; i++) entry = this.emit(item, entry);
    return entry;
  }

  #loop(item: PatternNode, next: number): number {
    const targets = [next];
    const loop = this.push({ op: "split", targets });
    targets.push(this.emit(item, loop));
    return loop;
  }

  #setNumber(source: string, flags: string): number {
    const key = `${flags}:${source}`;
    const known = this.#setNumbers.get(key);
    if (known !== undefined) return known;
    const number = this.sets.push(unitSet(source, flags + this.#caseFlag)) - 1;
    this.#setNumbers.set(key, number);
    return number;
  }
}
