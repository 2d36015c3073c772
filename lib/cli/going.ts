import type { Json } from "../core/json.ts";
import type { Terminal } from "../host/terminal.ts";
import type { RunGrants } from "../project/trust/grants.ts";
import type { KeptRun } from "../project/open_run.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import type { JournalHere } from "./journal_here.ts";

/** What a run goes on with. */
export interface Going {
  readonly here: JournalHere;
  readonly grants: RunGrants;
  readonly flags: ParsedCommand<typeof COMMANDS.resume>["flags"];
  readonly terminal: Terminal;
  readonly kept: KeptRun;
  /** What the run began with, with what the flags say now. */
  readonly input: Json;
}
