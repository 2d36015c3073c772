// What a gadget says by the way: lines for the log, and how far it is. It may say more than anybody can read, in a loop that lets nothing
// be sent; then what is too much is left out and counted.

import type { GadgetChannel } from "./gadget_channel.ts";
import { frameOf } from "./gadget_frames.ts";
import { quote, startOf } from "./gadget_primordials.ts";
import type { OpenCall } from "./gadget_call.ts";

const MOST_WAITING = 4 * 1024 * 1024;
const MOST_TEXT = 262_144;

/** The way for what is said by the way. */
export class GadgetTelling {
  readonly #channel: Pick<GadgetChannel, "send" | "waitingBytes">;
  #leftOut = 0;

  constructor(channel: Pick<GadgetChannel, "send" | "waitingBytes">) {
    this.#channel = channel;
  }

  /** @param call whose log it is; absent for what belongs to no open call */
  log(text: string, call: OpenCall | undefined): void {
    if (this.#channel.waitingBytes > MOST_WAITING) {
      this.#leftOut++;
      return;
    }
    if (this.#leftOut > 0) {
      const missing = this.#leftOut;
      this.#leftOut = 0;
      this.#send(`[${missing} messages are left out: they came faster than they could be read]\n`, call);
    }
    this.#send(
      text.length <= MOST_TEXT
        ? text
        : `${startOf(text, MOST_TEXT)}\n[cut: ${
          text.length - MOST_TEXT
        } of ${text.length} characters are missing]\n`,
      call,
    );
  }

  /** @param done a finite number, as `total` */
  progress(call: OpenCall, done: number, total: number | undefined): void {
    if (call.state !== "open" || this.#channel.waitingBytes > MOST_WAITING) return;
    const whole = total === undefined ? "" : `,"total":${total}`;
    this.#channel.send(frameOf(`{"type":"progress","id":${call.id},"done":${done}${whole}}`));
  }

  #send(text: string, call: OpenCall | undefined): void {
    const id = call?.state === "open" ? `"id":${call.id},` : "";
    this.#channel.send(frameOf(`{"type":"log",${id}"text":${quote(text)}}`));
  }
}
