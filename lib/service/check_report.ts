import { resolve } from "node:path";
import { byPlace } from "../core/by_place.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { SourceError } from "../core/source_error.ts";
import { lookAt } from "../host/paths.ts";
import { findCutValues } from "../parse/yaml/tags.ts";
import type { ProblemRule } from "../render/problems_sarif.ts";
import type { ToldProblem } from "../render/told_problem.ts";
import { type CheckedKind, ruleOf } from "./problem_rules.ts";

/** Something that was found. */
export interface FoundProblem {
  readonly kind: CheckedKind;
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

/** A problem with what is known of its kind. */
export interface ReportedProblem {
  readonly found: FoundProblem;
  readonly rule: ProblemRule;
}

/** What a check found, each problem once: files in the order in which they were looked at, their problems by line. */
export class CheckReport {
  readonly #files = new Map<string, Map<string, FoundProblem>>([["", new Map()]]);
  readonly #texts = new Map<string, string>();

  /** A file is looked at. @param text what is in it, where that is at hand */
  file(path: string, text?: string): void {
    if (!this.#files.has(path)) this.#files.set(path, new Map());
    if (text !== undefined) this.#texts.set(path, text);
  }

  add(problem: FoundProblem): void {
    const { path, line, column, severity, message } = problem;
    this.file(path);
    const problems = this.#files.get(path);
    const key = `${line}:${column}:${severity}:${message}`;
    if (!problems?.has(key)) problems?.set(key, problem);
  }

  /** What is given, or undefined with what was wrong with settings and scripts told. @param folders that their files may be named from */
  async unlessProblems<Given>(
    given: Promise<Given>,
    folders: readonly [string, ...string[]],
    kind: CheckedKind = "settings",
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
        const { line, column } = span ?? { line: 1, column: 1 };
        this.add({ kind, path, line, column, severity: "error", message });
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
