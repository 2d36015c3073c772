import {
  type CallErrorCode,
  type Json,
  type JsonObject,
  type RunEvent,
  type RunKind,
  type RunStatus,
  toldMs,
  type Usage,
} from "../../core/core.ts";
import { keyOf } from "../../render/rows.ts";
import { EXIT, EXIT_OF_REASON } from "../exit_code.ts";

/** How a call has ended, by the event that says so. */
const STATUSES: { readonly [type in RunEvent["type"]]?: string } = {
  "call-result": "result",
  "call-error": "error",
  "call-skip": "skip",
};

/** A conversation that waits for its person has not failed. */
const WELL_ENDED: ReadonlySet<RunStatus> = new Set(["done", "held", "completed"]);

const REFUSALS: ReadonlySet<CallErrorCode> = new Set(["permission", "not-trusted"]);

/** What is left of a run when it is over: its value, its exit code, and for `--json` its calls. */
export class RunSummary {
  readonly #withCalls: boolean;
  /** What `--json` says of each: what its events say, how it ended, and how many ms its gadget ran. */
  readonly #calls = new Map<string, JsonObject>();
  readonly #ranAt = new Map<string, number>();
  /** Of refused calls: the flags that would have allowed them. */
  readonly flags: string[] = [];
  #run = "";
  #kind: RunKind = "calls";
  #opened = 0;
  #ran = 0;
  #isRefused = false;
  #end: {
    readonly status: RunStatus;
    readonly value?: Json;
    readonly error?: string;
    readonly reason?: string;
    readonly usage: Usage;
  } = { status: "failed", usage: { input: 0, output: 0 } };
  #ms = 0;

  constructor(options: { readonly withCalls: boolean }) {
    this.#withCalls = options.withCalls;
  }

  add(event: RunEvent): void {
    this.#run = event.run;
    this.#ms = event.at;
    if (event.type === "run-start") this.#kind = event.kind;
    if (event.type === "call-open") this.#opened++;
    if (event.type === "call-run") this.#ran++;
    if (event.type === "run-end") this.#end = event;
    if (event.type === "call-error" && REFUSALS.has(event.code)) {
      this.#isRefused = true;
      if (event.flag !== undefined) this.flags.push(event.flag);
    }
    if (this.#withCalls) this.#report(event);
  }

  /** As its events name it; empty when there was none. */
  get run(): string {
    return this.#run;
  }

  get status(): RunStatus {
    return this.#end.status;
  }

  get value(): Json | undefined {
    return this.#end.value;
  }

  /** There was no call in it. */
  get isEmpty(): boolean {
    return this.#opened === 0;
  }

  /** Of a run that was not interrupted (cli.md). An error before anything ran is one of the input: 2. */
  get exitCode(): number {
    if (WELL_ENDED.has(this.#end.status)) return EXIT.ok;
    const { reason = "" } = this.#end;
    if (this.#kind === "document") return documentCode(reason);
    const code = EXIT_OF_REASON.get(reason);
    if (code !== undefined) return code;
    if (this.#isRefused) return EXIT.refused;
    const nothingRan = this.#kind === "calls" && this.#end.error !== undefined && this.#ran === 0;
    return nothingRan ? EXIT.usage : EXIT.failed;
  }

  /** Those that there were by now, when they are wanted. */
  get calls(): readonly Json[] {
    return [...this.#calls.values()].map((call) => ({ ...call }));
  }

  /** `{run, kind, status, value, error?, reason?, calls, usage, ms}` (cli.md). */
  toJson(): unknown {
    const { status, value = null, error, reason, usage } = this.#end;
    return {
      run: this.#run,
      kind: this.#kind,
      status,
      value,
      error,
      reason,
      calls: this.calls,
      usage,
      ms: this.#ms,
    };
  }

  #report(event: RunEvent): void {
    if (!("invocationId" in event)) return;
    const { type, at, seq: _seq, run: _run, ...told } = event;
    const key = keyOf(event);
    const status = STATUSES[type];
    if (type === "call-open") this.#calls.set(key, { ...told, status: "unfinished" });
    if (type === "call-run") this.#ranAt.set(key, at);
    const call = this.#calls.get(key);
    if (call === undefined || status === undefined) return;
    const ranAt = this.#ranAt.get(key);
    Object.assign(call, told, { status }, ranAt !== undefined && { ms: toldMs(at - ranAt) });
  }
}

/** Documents have codes of their own: an operation that failed is 1, whatever it failed of (cli.md). */
function documentCode(reason: string): number {
  if (reason === "time") return EXIT.timeout;
  const code = EXIT_OF_REASON.get(reason);
  return code === EXIT.budget || code === EXIT.interrupted ? code : EXIT.failed;
}
