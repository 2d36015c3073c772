// What a kind of file and of run is: everything that commands and the service do with one goes through its row of the table (`kinds.ts`). A row
// is light; what does the work is loaded when it is wanted, since how fast a run starts counts.
import type { RunStart } from "../../core/core.ts";
import type { BegunRun, ReadyRun, ShownResult, StartPlace } from "../start/ready_run.ts";

/** A kind of file and of run. What it has no way to do, such as to be drawn, it leaves out. */
export interface Kind {
  /** As the journal and the events of its runs have it. */
  readonly name: string;
  /** How its runs begin, and go on. */
  readonly run?: () => Promise<KindRuns>;
  /** How a run of it goes on whose next word comes from a person, since nothing else makes it ready again: behind "run ID". */
  readonly goesOn?: (id: string) => string;
  /** What is seen of its runs while they go on. Default: what a model says meanwhile. */
  readonly seen?: "operations" | "text";
}

/** The runs of a kind. */
export interface KindRuns {
  /**
   * Makes a run ready again as it was begun: to go on, or to be answered by a record.
   *
   * @throws {UsageError}, `ChangedError` where what it was made of is another one now; {PromptError}, {ModelError}
   */
  again(begun: BegunRun, at: StartPlace): Promise<ReadyRun>;
  /** How the value of a run that is done is shown, when it is delivered once more. Default: as it is. */
  shown?(run: RunStart): Pick<ShownResult, "isJson" | "endsLine">;
}
