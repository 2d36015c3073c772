import type { Problem } from "../core/core.ts";

/** Something wrong with a file that may define prompts. */
export interface PromptFileProblem extends Problem {
  /**
   * The path of the prompt that it is about; with a `/` at its end what the paths of a module begin with; null where that cannot be known.
   * Undefined for what is no problem of prompts.
   */
  readonly key?: string | null;
  /** The path is what the file's name says: what it says itself cannot be read. */
  readonly isUnsure?: true;
}

/** Why a prompt may be missing. */
export interface PromptTrouble {
  /** A file defines it, and cannot be used. */
  readonly isThere: boolean;
  /** What keeps it away, a line each; where that is not known at most one line, which says how many files have problems. */
  readonly lines: readonly string[];
  /** The prompts that are there and cannot be used, each with its first problem's place: `prompts/a.prompt.md:4`. */
  readonly broken: ReadonlyMap<string, string>;
}

const MOST_LINES = 5;

/** What the problems of a project say of a prompt that is not among its prompts; those of other prompts are left out. */
export function promptTrouble(path: string, problems: readonly PromptFileProblem[]): PromptTrouble {
  const own = problems.filter(({ key }) => key === path);
  const ofModule = problems.filter(({ key }) => typeof key === "string" && isBelow(path, key));
  const isOpen = ({ key, isUnsure }: PromptFileProblem) => key === null || isUnsure === true;
  const unknown = new Set(problems.filter(isOpen).map(({ file }) => file));
  const told = own.length > 0 ? own : ofModule;
  return {
    isThere: own.length > 0,
    lines: told.length > 0 ? problemLines(told) : unknown.size > 0 ? [countLine(unknown.size)] : [],
    broken: brokenPrompts(problems),
  };
}

/** A module's prompts are below its name, but for one that has it itself. */
function isBelow(path: string, key: string): boolean {
  return key.endsWith("/") && `${path}/`.startsWith(key);
}

/** A line for each of the first problems, and how many more there are. */
export function problemLines(problems: readonly PromptFileProblem[]): readonly string[] {
  const more = problems.length - MOST_LINES;
  return [
    ...problems.slice(0, MOST_LINES).map(({ file, line, message }) => `${file}:${line}: ${message}`),
    ...(more > 0 ? [`and ${more} more such problem${more === 1 ? "" : "s"}`] : []),
  ];
}

function countLine(count: number): string {
  const files = count === 1 ? "A file of prompts has" : `${count} files of prompts have`;
  return `${files} problems and may define it: orrery list prompts shows them`;
}

function brokenPrompts(problems: readonly PromptFileProblem[]): ReadonlyMap<string, string> {
  const broken = new Map<string, string>();
  for (const { key, file, line } of problems) {
    if (typeof key === "string" && !key.endsWith("/") && !broken.has(key)) broken.set(key, `${file}:${line}`);
  }
  return broken;
}
