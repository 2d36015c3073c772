import type { Clock } from "../core/clock.ts";
import type { Sessions } from "./session.ts";
import type { TextStreams } from "./text_streams.ts";

/** What the routes have in common, besides the service. */
export interface ServerSettings {
  /** `http://127.0.0.1:7337`: as the server is bound, for links that are printed. */
  readonly origin: string;
  /** Absent: nobody needs one. */
  readonly token?: string;
  /** The name of the cookie of the page. */
  readonly cookie: string;
  readonly sessions: Sessions;
  /** Every answer that goes on: SSE and the like. */
  readonly streams: TextStreams;
  readonly clock: Clock;
  /** Aborted when the server is about to end: who waits, waits no more. */
  readonly stopping: AbortSignal;
  /** Something that has to be ended with the server, when all runs have ended: sessions of one's own. */
  readonly atStop: (work: () => void | Promise<void>) => void;
  /** Tells the person at the terminal; a line or more. */
  readonly tell: (text: string) => void;
}
