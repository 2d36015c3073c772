import type { RunEvent } from "../core/event.ts";

/** What the person at the terminal sees of a run, on stderr. */
export interface RunView {
  event(event: RunEvent): Promise<void>;
  /** Something that is no event of the run, such as a setting that was ignored. */
  notice(text: string): Promise<void>;
  /** A line that something besides the run says, such as a server. */
  log(source: string, text: string): Promise<void>;
  /** Shows a question in place of everything that moves, until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  /** The last state stays on the screen. */
  end(): Promise<void>;
  /** The process ends now: leaves the terminal as it was. */
  abandon(): void;
}
