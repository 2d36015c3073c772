import { byPlace, pathFromFolder, ProblemsError, SourceError } from "../../core/core.ts";
import { lookAt } from "../../host/paths.ts";
import { findCutValues } from "../../parse/yaml/tags.ts";
import type { ToldProblem } from "../../render/problems.ts";
import type { ProblemJson } from "../look/look.ts";
import { resolve } from "node:path";

/** Something that was found. */
export interface FoundProblem {
  /** One without codes of its own has those of 9. */
  readonly kind: string;
  /** Absolute; empty for what is in no file. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly severity: ToldProblem["severity"];
  readonly message: string;
  /** Where it is known: what kind of problem it is. Default: what the message tells. */
  readonly code?: string;
  /** Default: that of its kind. */
  readonly hint?: string;
}

type ProblemToAdd = Omit<FoundProblem, "line" | "column" | "severity"> & Partial<FoundProblem>;

/** A problem with what is known of its kind. */
export interface ReportedProblem {
  readonly found: FoundProblem;
  readonly rule: ProblemRule;
}

/** What a check found, each problem once: files in the order in which they were looked at, their problems by line. */
export class CheckReport {
  readonly #files = new Map<string, Map<string, FoundProblem>>([["", new Map()]]);
  readonly #texts = new Map<string, string>();
  /** Modules of prompts that were not looked at. */
  readonly notLoaded: Set<string> = new Set();

  /** A file is looked at. @param text what is in it, where that is at hand */
  file(path: string, text?: string): void {
    if (!this.#files.has(path)) this.#files.set(path, new Map());
    if (text !== undefined) this.#texts.set(path, text);
  }

  /** Default: an error of the file as a whole. */
  add({ line = 1, column = 1, severity = "error", ...problem }: ProblemToAdd): void {
    const { path, message } = problem;
    this.file(path);
    const problems = this.#files.get(path);
    const key = `${line}:${column}:${severity}:${message}`;
    if (!problems?.has(key)) problems?.set(key, { line, column, severity, ...problem });
  }

  /** What is given, or undefined with what was wrong with settings and scripts told. @param folders that their files may be named from */
  async unlessProblems<Given>(
    given: Promise<Given>,
    folders: readonly [string, ...string[]],
    kind: FoundProblem["kind"] = "settings",
  ): Promise<Given | undefined> {
    try {
      return await given;
    } catch (thrown) {
      for (const problem of thrown instanceof ProblemsError ? thrown.problems : [thrown]) {
        if (!(problem instanceof SourceError)) throw thrown;
        const { span, source, message } = problem;
        const { file } = span ?? {};
        const isThere = (folder: string): boolean =>
          file !== undefined && lookAt(resolve(folder, file)) !== "nothing";
        const path = file === undefined ? "" : resolve(folders.find(isThere) ?? folders[0], file);
        this.file(path, source);
        this.add({ kind, path, line: span?.line, column: span?.column, message });
      }
      return undefined;
    }
  }

  /** Tells which values of a YAML text comments cut. @param linesAbove of the file before the text */
  async cutValues(
    yaml: string,
    { path, kind, linesAbove = 0 }: Pick<FoundProblem, "path" | "kind"> & { readonly linesAbove?: number },
  ): Promise<void> {
    for (const { line, ...cut } of await findCutValues(yaml)) {
      this.add({ kind, path, ...cut, line: line + linesAbove, severity: "warning" });
    }
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  textOf(path: string): string | undefined {
    return this.#texts.get(path);
  }

  /** Of every file that was looked at. */
  get paths(): readonly string[] {
    return [...this.#files.keys()].filter((path) => path !== "");
  }

  problems(): readonly ReportedProblem[] {
    return [...this.#files.values()].flatMap((problems) =>
      [...problems.values()]
        .sort(byPlace)
        .map((found) => ({ found, rule: ruleOf(found.kind, found) }))
    );
  }
}

// What each message is about, told by its words, which the specifications fix (documents.md, calls.md): a code that scripts can rely on, and
// what to do where the message does not say it. What each code is called and means stands in lib/help/exit-codes.md.

/** What the codes of each kind of problem begin with. */
const FIRST_DIGITS: Readonly<Record<string, string>> = {
  document: "1",
  calls: "2",
  prompt: "3",
  settings: "4",
  command: "5",
  conversation: "6",
  collection: "7",
  test: "8",
};

const LIST_GADGETS = "orrery list gadgets shows what there is";

/** What messages are told by; the first that fits counts. */
const RULES: readonly (readonly [code: string, says: RegExp, hint?: string])[] = [
  [
    "101",
    /^(unknown operation |nothing may follow |an empty line is needed |text directly under |"@|this \S+ is never closed|front matter (must|is not))/,
  ],
  ["102", /( has no parameter |^unknown front matter key )/],
  ["103", /^no block "/, "orrery show document FILE lists the ids of all blocks"],
  ["104", /^file not found: /, "Paths begin at the folder of the file that names them"],
  [
    "105",
    /^(import|run) cycle: /,
    "Move what both need to a third file; a run that is to end needs a condition",
  ],
  ["106", /( permission|which the front matter of )/],
  [
    "107",
    /^(unknown (model|provider) |no model is configured|provider "|the aliases of the model |the model )/,
    "orrery list models shows what there is",
  ],
  ["108", /^unknown tool /, LIST_GADGETS],
  ["109", /(^input ".*" needs a value| has no input ")/],
  ["110", /^id ".*" is (already used|taken)/],
  ["201", /^Unknown gadget /, LIST_GADGETS],
  ["202", /, which is never called$/],
  ["203", /^".*" is on a cycle: /],
  ["204", /^[A-Za-z_][\w-]* does not take this: /, "orrery show gadget NAME shows what it takes"],
  [
    "401",
    /^you have not accepted what /,
    "orrery list --trust-project accepts it, as --trust-project does with every run",
  ],
];

/** What a message is about. An error and a warning of one kind differ in the letter of their codes; everything else of a kind has its code 00. */
export function ruleOf(
  kind: FoundProblem["kind"],
  { severity, message, code }: Pick<FoundProblem, "severity" | "message" | "code">,
): ProblemRule {
  const first = FIRST_DIGITS[kind] ?? "9";
  const [number = `${first}00`, , hint] = code === undefined
    ? RULES.find(([each, says]) => each.startsWith(first) && says.test(message)) ?? []
    : [code.slice(1)];
  return { code: `${severity === "error" ? "E" : "W"}${number}`, hint };
}

/** What is known of a kind of problem. */
interface ProblemRule {
  /** Stable, for scripts: `E104`. */
  readonly code: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** What a check found, as it is told. @param folder that files are named from */
export function toldProblem(folder: string, { found, rule }: ReportedProblem): ToldProblem & ProblemJson {
  const { path, line, column, severity, message, hint = rule.hint } = found;
  const isSaid = hint === undefined || /did you mean/i.test(message);
  return {
    file: pathFromFolder(path, folder),
    line,
    column,
    severity,
    code: rule.code,
    message,
    ...(isSaid ? {} : { hint }),
  };
}

/** Something that is wrong at a place of a file. */
export interface PlacedProblem extends Pick<ProblemJson, "message"> {
  readonly line: number;
  /** Default 1. */
  readonly column?: number;
  /** Default `error`. */
  readonly severity?: ProblemJson["severity"];
  readonly hint?: string;
}

/** A problem of something that was looked at. @param file relative to the root */
export function problemJson(
  kind: FoundProblem["kind"],
  file: string,
  { severity = "error", line, column = 1, message, hint }: PlacedProblem,
): ProblemJson {
  const { hint: advice, code } = ruleOf(kind, { severity, message });
  return { code, severity, message, file, line, column, hint: hint ?? advice };
}
