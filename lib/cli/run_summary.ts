import type { CallErrorCode, RunEvent, RunStatus } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { EXIT } from "./exit_code.ts";

/** What `--json` says of one call. */
type CallReport = {
  readonly invocationId: string;
  readonly gadgetName: string;
  readonly dependencies: readonly string[];
  readonly line: number;
  status: "result" | "error" | "skip" | "unfinished";
  result?: Json;
  error?: string;
  code?: CallErrorCode;
  flag?: string;
  reason?: string;
  /** How long its gadget ran. */
  ms?: number;
};

const REFUSALS: ReadonlySet<CallErrorCode> = new Set(["permission", "not-trusted"]);

/** What is left of a run when it is over: its value, its exit code, and for `--json` its calls. */
export class RunSummary {
  readonly #withCalls: boolean;
  readonly #calls = new Map<string, CallReport>();
  readonly #ranAt = new Map<string, number>();
  readonly #flags: string[] = [];
  #run = "";
  #opened = 0;
  #ran = 0;
  #isRefused = false;
  #end: { readonly status: RunStatus; readonly value?: Json; readonly error?: string } = { status: "failed" };
  #ms = 0;

  constructor(options: { readonly withCalls: boolean }) {
    this.#withCalls = options.withCalls;
  }

  add(event: RunEvent): void {
    this.#run = event.run;
    this.#ms = event.at;
    if (event.type === "call-open") this.#opened++;
    if (event.type === "call-run") this.#ran++;
    if (event.type === "run-end") this.#end = event;
    if (event.type === "call-error" && REFUSALS.has(event.code)) {
      this.#isRefused = true;
      if (event.flag !== undefined) this.#flags.push(event.flag);
    }
    if (this.#withCalls) this.#report(event);
  }

  get value(): Json | undefined {
    return this.#end.value;
  }

  get hasCalls(): boolean {
    return this.#opened > 0;
  }

  /** Of refused calls: the flags that would have allowed them. */
  get flags(): readonly string[] {
    return this.#flags;
  }

  /** Of a run that was not interrupted (cli.md). An error before anything ran is one of the input: 2. */
  get exitCode(): number {
    if (this.#end.status === "done") return EXIT.ok;
    if (this.#isRefused) return EXIT.refused;
    return this.#end.error !== undefined && this.#ran === 0 ? EXIT.usage : EXIT.failed;
  }

  /** `{run, kind, status, value, error?, calls, usage, ms}` (cli.md). No model was called: no tokens. */
  toJson(): unknown {
    const { status, value = null, error } = this.#end;
    return {
      run: this.#run,
      kind: "calls",
      status,
      value,
      ...(error === undefined ? {} : { error }),
      calls: [...this.#calls.values()],
      usage: { input: 0, output: 0 },
      ms: this.#ms,
    };
  }

  #report(event: RunEvent): void {
    if (!("invocationId" in event)) return;
    const key = `${event.invocationId}@${event.line}`;
    if (event.type === "call-open") {
      const { invocationId, gadgetName, dependencies, line } = event;
      this.#calls.set(key, { invocationId, gadgetName, dependencies, line, status: "unfinished" });
    }
    if (event.type === "call-run") this.#ranAt.set(key, event.at);
    const call = this.#calls.get(key);
    if (call !== undefined) this.#endReport(call, event, this.#ranAt.get(key));
  }

  #endReport(call: CallReport, event: RunEvent, ranAt: number | undefined): void {
    if (event.type === "call-result") Object.assign(call, { status: "result", result: event.result });
    else if (event.type === "call-skip") Object.assign(call, { status: "skip", reason: event.reason });
    else if (event.type === "call-error") {
      const { error, code, flag } = event;
      Object.assign(call, { status: "error", error, code, ...(flag === undefined ? {} : { flag }) });
    } else return;
    if (ranAt !== undefined) call.ms = Math.round((event.at - ranAt) * 1000) / 1000;
  }
}
