import type { RunEvent } from "../core/event.ts";
import type { Output } from "../host/output.ts";

/** Writes each answer when it is whole, a line end behind it; what a model said while it called something is none. */
export class FinalAnswers {
  readonly #stdout: Output;
  readonly #calling = new Set<string>();

  constructor(stdout: Output) {
    this.#stdout = stdout;
  }

  async event(event: RunEvent): Promise<void> {
    if (event.type === "call-open" && event.step !== undefined) this.#calling.add(event.step);
    if (event.type !== "message" || this.#calling.has(event.step)) return;
    await this.#stdout.write(event.text.endsWith("\n") ? event.text : `${event.text}\n`);
  }

  end(): Promise<void> {
    return Promise.resolve();
  }
}
