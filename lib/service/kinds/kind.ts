// What a kind of file and of run is: everything that commands and the service do with one goes through its row of the table (`kinds.ts`). A row
// is light; what does the work is loaded when it is wanted, since how fast a run starts counts.
import type { Json, JsonObject, RunStart, Span } from "../../core/core.ts";
import type { CheckedFiles, CheckOptions } from "../check/targets.ts";
import type { FoundProblem, PlacedProblem } from "../check/report.ts";
import type { ProjectSettings } from "../../project/project.ts";
import type { Run } from "../../run/run.ts";
import type { CallGraph } from "../../render/graph/graph.ts";
import type { StartRun } from "../service.ts";
import type { TestFailure, TestSource } from "../test/field.ts";
import type { TestProject } from "../test/project.ts";
import type { BegunRun, ReadyRun, ShownResult, StartPlace } from "../start/ready_run.ts";

/** A kind of file and of run. What it has no way to do, such as to be drawn, it leaves out. */
export interface Kind {
  /** As the journal and the events of its runs have it. */
  readonly name: string;
  /** Default: its runs begin with no file. */
  readonly file?: KindFiles;
  /** How its runs begin, and go on. */
  readonly run?: () => KindRuns | Promise<KindRuns>;
  /** What its files do, as a picture. */
  readonly graph?: () => KindGraphs | Promise<KindGraphs>;
  /** What is in its files, for people and for programs. */
  readonly show?: () => KindPages | Promise<KindPages>;
  /** Which files of it a project has. */
  readonly list?: () => KindLists | Promise<KindLists>;
  /** What is wrong with its files. */
  readonly check?: () => KindChecks | Promise<KindChecks>;
  /** Tests of them, which stand in files whose names end with `.NAME-test.yml`. */
  readonly test?: () => KindTests | Promise<KindTests>;
  /** How a run of it goes on whose next word comes from a person, since nothing else makes it ready again: behind "run ID". */
  readonly goesOn?: (id: string) => string;
  /** From where a new run can be made of one: behind a turn. Default: from a step. */
  readonly forks?: "turn";
  /** What is seen of its runs while they go on. Default: what a model says meanwhile. */
  readonly seen?: "operations" | "text";
}

/** The files of a kind. */
export interface KindFiles {
  /** What people call one: "document". Of several: with an s. */
  readonly word: string;
  /** How their names end, in words. */
  readonly endings: string;
  /** Whether a file of this name is one. */
  is(name: string): boolean;
  /** Whether one of this name is what a run leaves: it is checked as one, and not run. */
  isResult?(name: string): boolean;
  /** Whether one is passed over where a folder is looked through, by its path from there. */
  isDraft?(path: string): boolean;
  /** The settings of a project say where they are: they are checked behind those. */
  readonly isOfProject?: true;
  /** What is done with one, where none is started by itself. */
  readonly instead?: string;
}

/** A file that somebody wishes to run, named from the root of its project. */
export type FileWish = Extract<StartRun, { readonly kind: "file" }>;

/** How the files of a kind are looked at, running nothing: each by itself, or all of them together. */
export type KindChecks =
  | { checkFile(file: CheckedFile, options: CheckOptions): void | Promise<void> }
  | { check(files: CheckedFiles, options: CheckOptions): Promise<void> };

/** A file that is checked by itself. */
export interface CheckedFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  /** Tells what is wrong with it. Default: an error of the file as a whole. */
  tell(problem: Partial<Omit<FoundProblem, "kind" | "path">> & Pick<FoundProblem, "message">): void;
}

/** A test that was read. */
export interface FileTest {
  readonly name: string;
  /** Where it stands. */
  readonly span: Span;
  /** Runs it; gives what is not as expected. */
  run(project: TestProject): Promise<readonly TestFailure[]>;
}

/** How files of tests are read. */
export interface KindTests {
  /** Their JSON Schema: it says what fits, to editors and to whoever reads them. */
  schema(): JsonObject;
  /** The tests of a file. @throws {ProblemsError} with everything that is wrong with it, by file, line and column */
  read(source: TestSource): Promise<readonly FileTest[]>;
}

/** A file that is looked at. */
export interface LookedFile {
  /** As problems name it. */
  readonly file: string;
  /** Absolute; of stdin: the working folder. */
  readonly path: string;
  readonly text: string;
  readonly project: ProjectSettings;
}

/** What a file does. */
export interface DrawnGraph {
  readonly graph: CallGraph;
  readonly problems: readonly PlacedProblem[];
  /** For a terminal, in place of the picture. */
  readonly text?: string;
  /** Why there is nothing to be seen. */
  readonly nothing?: string;
}

/** How the files of a kind are drawn. */
export interface KindGraphs {
  graph(file: LookedFile): Promise<DrawnGraph>;
}

/** What is in a file, and what is wrong with it; or why that cannot be told. */
export type Shown =
  | { readonly json: unknown; readonly text: string; readonly problems?: readonly PlacedProblem[] }
  | { readonly refused: string };

/** How the files of a kind are shown. */
export interface KindPages {
  show(file: LookedFile): Shown | Promise<Shown>;
}

/** The files of a kind in a project. */
export interface FileList {
  /** For programs; named from the root. */
  readonly files: readonly { readonly file: string }[];
  /** For people: a row for each. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What cannot be read; where there are none: what they are. */
  readonly notes: string;
}

/** How the files of a kind are listed. */
export interface KindLists {
  list(project: ProjectSettings): Promise<FileList>;
}

/** The runs of a kind, of which most may say no more than what is done in one. */
export type KindRuns = MadeRuns | {
  /** Does what the text of a file says; gives the value. Where a step fails whose failure is not kept, it is tried again when the run goes on. */
  perform(run: Run, text: string, at: StartPlace): Promise<Json>;
};

/** How runs are made. */
export interface MadeRuns {
  /**
   * Makes ready what somebody wishes of a file; nothing of it has run by then. Absent where no run begins with a file alone.
   *
   * @throws {ServiceError} `not-found`, `outside`, `invalid`, `refused`; {UsageError}, {FileError}, {ProblemsError}, {ModelError}
   */
  start?(wish: FileWish, at: StartPlace): Promise<ReadyRun>;
  /**
   * Makes a run ready again as it was begun: to go on, or to be answered by a record.
   *
   * @throws {UsageError}, `ChangedError` where what it was made of is another one now; {PromptError}, {ModelError}
   */
  again(begun: BegunRun, at: StartPlace): Promise<ReadyRun>;
  /** How the value of a run that is done is shown, when it is delivered once more. Default: as it is. */
  shown?(run: RunStart): Pick<ShownResult, "isJson" | "endsLine">;
}
