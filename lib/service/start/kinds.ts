// The kinds of runs that can be made ready again from what is kept of them, whoever does it: to go on, or to be answered by a record. Chats and
// conversations are not among them: their next message comes from a person.
import { callsAgain } from "./calls.ts";
import { askAgain } from "./dialog.ts";
import { documentAgain } from "./document.ts";
import { promptAgain } from "./prompt.ts";
import type { BegunRun, ReadyRun, StartPlace } from "./ready_run.ts";

/** Makes a run ready again, as it was begun. @throws {UsageError}, `ChangedError` where what it was made of is another one now; {PromptError}, {ModelError} */
type RunAgain = (begun: BegunRun, at: StartPlace) => Promise<ReadyRun>;

/** By the kind of the run. */
export const RUNS_AGAIN: ReadonlyMap<string, RunAgain> = new Map([
  ["calls", callsAgain],
  ["document", documentAgain],
  ["prompt", promptAgain],
  ["ask", askAgain],
]);
