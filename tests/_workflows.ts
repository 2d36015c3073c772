// The workflows of .github/workflows/, read as far as the tests ask about them.

import { join } from "node:path";
import { parse } from "yaml";
import { PROJECT_ROOT } from "./_run.ts";

/** A step of a job: an action that is used, or a command. */
export interface WorkflowStep {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, unknown>>;
}

/** A job. One that uses a workflow has neither steps nor a runner. */
export interface WorkflowJob {
  readonly uses?: string;
  readonly needs?: string | readonly string[];
  readonly "runs-on"?: string;
  readonly "timeout-minutes"?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: Matrix };
  readonly steps?: readonly WorkflowStep[];
}

type Combination = Readonly<Record<string, string>>;
type Matrix = { readonly include?: readonly Combination[] } & Readonly<Record<string, readonly unknown[]>>;

/** A workflow. */
export interface Workflow {
  /** The name of its file. */
  readonly file: string;
  readonly text: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly concurrency?: { readonly group: string };
  readonly jobs: Readonly<Record<string, WorkflowJob>>;
}

const FOLDER = join(PROJECT_ROOT, ".github", "workflows");

/** All of them, by the names of their files. */
export async function readWorkflows(): Promise<readonly Workflow[]> {
  const files = (await Array.fromAsync(Deno.readDir(FOLDER))).map(({ name }) => name).sort();
  return await Promise.all(files.map(async (file) => {
    const text = await Deno.readTextFile(join(FOLDER, file));
    const data: Omit<Workflow, "file" | "text"> = parse(text, { strict: true, uniqueKeys: true });
    return { ...data, file, text };
  }));
}

/** What stands in a job, once for each combination of its matrix, with `${{ matrix.NAME }}` filled in. */
export function expanded(job: WorkflowJob): readonly WorkflowJob[] {
  const text = JSON.stringify({ ...job, strategy: undefined });
  return combinations(job.strategy?.matrix).map((values) =>
    JSON.parse(text.replaceAll(/\$\{\{ matrix\.(\w+) \}\}/g, (whole, name) => values[name] ?? whole))
  );
}

function combinations(matrix: Matrix | undefined): readonly Combination[] {
  if (matrix === undefined) return [{}];
  if (matrix.include !== undefined) return matrix.include;
  return Object.entries(matrix).reduce<readonly Combination[]>(
    (found, [name, values]) =>
      found.flatMap((one) => values.map((value) => ({ ...one, [name]: `${value}` }))),
    [{}],
  );
}
