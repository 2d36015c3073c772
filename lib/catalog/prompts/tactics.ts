import type { Problem } from "../../core/core.ts";
import { loadExports, type LoadModule, moduleProblem } from "../module_loader.ts";
import { projectSources, type SourcesOptions } from "../sources/sources.ts";
import type { SourceFile } from "../sources/files.ts";
import { sortedProblems } from "../project_file.ts";
import { lineOfExport } from "./claim.ts";

/** What discovery has to know of a tactic. */
export interface NamedTactic {
  readonly name: string;
}

/** What is looked for, and how. */
export interface DiscoverTacticsOptions<T extends NamedTactic> extends Omit<SourcesOptions, "folders"> {
  readonly loadModule: LoadModule;
  isTactic(value: unknown): value is T;
}

/** A tactic and where it was found. */
export interface FoundTactic<T extends NamedTactic> {
  readonly tactic: T;
  readonly file: string;
  readonly line: number;
}

/** The tactics by name, and what was wrong: by file, then by line. */
export interface DiscoveredTactics<T extends NamedTactic> {
  readonly tactics: ReadonlyMap<string, FoundTactic<T>>;
  /** Every file that may define some. */
  readonly sources: readonly SourceFile[];
  readonly problems: readonly Problem[];
}

/** Finds the tactics of a project: what the modules of its folders export (prompts.md 10). Names that begin with `_` are left out. */
export async function discoverTactics<T extends NamedTactic>(
  options: DiscoverTacticsOptions<T>,
): Promise<DiscoveredTactics<T>> {
  const sources = await projectSources("tactics", options);
  const found: Problem[] = [...sources.problems];
  const tactics = new Map<string, FoundTactic<T>>();
  for (const source of sources.files) {
    const read = await tacticsOf(source, options);
    found.push(...read.problems);
    for (const each of read.tactics) {
      const first = tactics.get(each.tactic.name);
      if (first === undefined) tactics.set(each.tactic.name, each);
      else if (first.tactic !== each.tactic) found.push(taken(each, first));
    }
  }
  return { tactics, sources: sources.files, problems: sortedProblems(found) };
}

async function tacticsOf<T extends NamedTactic>(
  { path, file }: SourceFile,
  { root, files, loadModule, isTactic }: DiscoverTacticsOptions<T>,
): Promise<{ readonly tactics: readonly FoundTactic<T>[]; readonly problems: readonly Problem[] }> {
  try {
    const exported = await loadExports(path, loadModule);
    const text = await files.readText(path).catch(() => ""); // only lines are looked up in it
    const tactics = Object.entries(exported).flatMap(([name, value]) =>
      !name.startsWith("_") && isTactic(value)
        ? [{ tactic: value, file, line: lineOfExport(text, name) }]
        : []
    );
    return { tactics, problems: [] };
  } catch (thrown) {
    return { tactics: [], problems: [{ file, ...moduleProblem(thrown, { path, root }) }] };
  }
}

function taken({ tactic, file, line }: FoundTactic<NamedTactic>, first: FoundTactic<NamedTactic>): Problem {
  return { file, line, message: `tactic ${JSON.stringify(tactic.name)} is already defined in ${first.file}` };
}
