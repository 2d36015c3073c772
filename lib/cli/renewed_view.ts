import type { RunEvent } from "../core/event.ts";
import type { RunView } from "./run_view.ts";

/** The view of several runs, one after another: each has one of its own. */
export class RenewedView implements RunView {
  readonly #between: RunView;
  #current: RunView;

  /** @param between what is seen while nothing runs */
  constructor(between: RunView) {
    this.#between = this.#current = between;
  }

  /** A run begins. */
  renew(view: RunView): void {
    this.#current = view;
  }

  event(event: RunEvent): Promise<void> {
    return this.#current.event(event);
  }

  notice(text: string): Promise<void> {
    return this.#current.notice(text);
  }

  log(source: string, text: string): Promise<void> {
    return this.#current.log(source, text);
  }

  pause(): Promise<void> {
    return this.#current.pause();
  }

  resume(): void {
    this.#current.resume();
  }

  async end(): Promise<void> {
    const ended = this.#current;
    this.#current = this.#between;
    await ended.end();
  }

  abandon(): void {
    this.#current.abandon();
  }
}
