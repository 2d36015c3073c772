import { encodeFrame, FrameReader } from "../core/frames.ts";
import type { FromGadget } from "../core/gadget_message.ts";
import type { BytePipe } from "../host/start_gadget_process.ts";
import type { EffectAnswer } from "./gadget_effects.ts";
import { MessageError } from "./message_fields.ts";
import { readMessage } from "./read_message.ts";

/** An effect that comes over the pipes. */
export type WaitedEffect = Extract<FromGadget, { readonly type: "effect" }>;

/**
 * Answers what a process asks for on its stdout and waits for on its stdin, one thing after the other; comes back at the end of its stdout.
 *
 * @throws {MessageError | FrameError} when something else is on it, and what the pipe throws
 */
export async function answerWaiting(
  pipe: BytePipe,
  { maxBytes, perform }: {
    readonly maxBytes: number;
    perform(effect: WaitedEffect, bytes: Uint8Array): Promise<EffectAnswer>;
  },
): Promise<void> {
  const reader = new FrameReader({ maxBytes });
  for (let piece = await pipe.read(); piece !== undefined; piece = await pipe.read()) {
    for (const { value, bytes } of reader.push(piece)) {
      const message = readMessage(value, bytes.length);
      if (message.type !== "effect") throw new MessageError(`found "${message.type}" on its stdout`);
      const answer = await perform(message, bytes);
      await pipe.write(encodeFrame(answer.value, answer.bytes));
    }
  }
}
