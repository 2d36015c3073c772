// What a gadget says by the way: lines for the log, and how far it is.

import type { OpenCall } from "./call.ts";
import type { GadgetChannel } from "./channel.ts";
import { frameOf } from "./frames.ts";
import { bare, quote, startOf } from "./primordials.ts";
import { ToldBudget } from "./call.ts";

/** Bytes that wait to be sent. */
const MOST_WAITING = 4 * 1024 * 1024;
/** More names than this are told as all of them. */
const MOST_USED = 1_000;
const MOST_NAME = 256;

/** The way for what is said by the way. */
export class GadgetTelling {
  readonly #channel: Pick<GadgetChannel, "send" | "waitingBytes">;
  /** For what belongs to no open call. */
  #stray = new ToldBudget();
  readonly #used: { [key: string]: true } = bare({});
  #usedCount = 0;

  constructor(channel: Pick<GadgetChannel, "send" | "waitingBytes">) {
    this.#channel = channel;
  }

  /** @param call whose log it is; absent for what belongs to no call */
  log(text: string, call: OpenCall | undefined): void {
    const open = call?.state === "open" ? call : undefined;
    const room = (open?.told ?? this.#stray).roomFor(text.length, this.#isFull);
    if (room > 0) this.#log(room < text.length ? startOf(text, room) : text, open);
  }

  /** @param done a finite number, as `total` */
  progress(call: OpenCall, done: number, total: number | undefined): void {
    if (call.state === "open" && call.told.takes({ done, total }, this.#isFull)) {
      this.#progress(call, done, total);
    }
  }

  /** A variable or a fact of the system that was asked for. @param name `*` for all of them */
  used(kind: "env" | "sys", name: string): void {
    const wanted = this.#usedCount < MOST_USED && name.length <= MOST_NAME ? name : "*";
    const key = `${kind} ${wanted}`;
    if (key in this.#used) return;
    this.#used[key] = true;
    this.#usedCount++;
    this.#channel.send(frameOf(`{"type":"used","kind":"${kind}","name":${quote(wanted)}}`));
  }

  /** A call begins: what belongs to none is counted anew. */
  begin(): void {
    const words = this.#stray.lastWords;
    if (words !== "") this.#log(words, undefined);
    this.#stray = new ToldBudget();
  }

  /** A call is about to end: says what of it was left out. */
  finish(call: OpenCall): void {
    const { lastReport, lastWords } = call.told;
    if (lastReport !== undefined) this.#progress(call, lastReport.done, lastReport.total);
    if (lastWords !== "") this.#log(lastWords, call);
  }

  get #isFull(): boolean {
    return this.#channel.waitingBytes > MOST_WAITING;
  }

  #log(text: string, call: OpenCall | undefined): void {
    const id = call === undefined ? "" : `"id":${call.id},`;
    this.#channel.send(frameOf(`{"type":"log",${id}"text":${quote(text)}}`));
  }

  #progress({ id }: OpenCall, done: number, total: number | undefined): void {
    const whole = total === undefined ? "" : `,"total":${total}`;
    this.#channel.send(frameOf(`{"type":"progress","id":${id},"done":${done}${whole}}`));
  }
}
