// What the gadget wants done outside is asked of Orrery: over the socket as a promise, over stdout and stdin where the gadget blocks.

import type { EffectFailure, EffectOp, EffectReply, Effects, FromGadget } from "../../core/gadget_message.ts";
import type { Json } from "../../core/json.ts";
import type { RunningCall } from "./calls.ts";
import { exchangeSync, type GadgetChannel } from "./channel.ts";

interface Pending {
  readonly call: RunningCall | undefined;
  settle(reply: EffectReply): void;
}

/** How effects leave the process. */
export interface EffectWay {
  readonly channel: Pick<GadgetChannel, "send">;
  /** The call that the work belongs to which asks now. */
  current(): RunningCall | undefined;
  /** Of a frame. */
  readonly maxFrameBytes: number;
}

/** What is asked of Orrery. */
export class AskedEffects implements Effects {
  readonly #way: EffectWay;
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  constructor(way: EffectWay) {
    this.#way = way;
  }

  ask(
    op: EffectOp,
    { bytes, signal }: { readonly bytes?: Uint8Array; readonly signal?: AbortSignal } = {},
  ): Promise<EffectReply> {
    const effect = ++this.#last;
    const call = this.#way.current();
    return new Promise((resolve) => {
      const failure = this.#failure(call, bytes);
      if (failure !== undefined) return resolve({ error: failure, effect });
      if (signal?.aborted) return resolve({ error: ABORTED, effect });
      const onAbort = (): void => {
        this.#way.channel.send({ type: "effect-cancel", effect });
        pending.settle({ error: ABORTED, effect });
      };
      const pending: Pending = {
        call,
        settle: (reply) => {
          this.#pending.delete(effect);
          signal?.removeEventListener("abort", onAbort);
          resolve(reply);
        },
      };
      signal?.addEventListener("abort", onAbort);
      this.#pending.set(effect, pending);
      this.#way.channel.send(this.#message(effect, call, op), { bytes });
    });
  }

  askSync(op: EffectOp, { bytes }: { readonly bytes?: Uint8Array } = {}): EffectReply {
    const effect = ++this.#last;
    const call = this.#way.current();
    const failure = this.#failure(call, bytes);
    if (failure !== undefined) return { error: failure, effect };
    const answer = exchangeSync(this.#message(effect, call, op), bytes);
    const { message } = answer;
    if (message.type === "effect-done") return { ok: message.ok, bytes: answer.bytes };
    return { error: message.type === "effect-failed" ? message.error : ABORTED, effect };
  }

  /** Orrery has done it. An effect that nobody waits for any more is none of ours. */
  done(effect: number, ok: Json, bytes: Uint8Array): void {
    this.#pending.get(effect)?.settle({ ok, bytes });
  }

  failed(effect: number, error: EffectFailure): void {
    this.#pending.get(effect)?.settle({ error, effect });
  }

  /** The call is over: what it waits for will not come. */
  giveUp(call: RunningCall): void {
    for (const [effect, pending] of this.#pending) {
      if (pending.call === call) pending.settle({ error: ABORTED, effect });
    }
  }

  #message(effect: number, call: RunningCall | undefined, op: EffectOp): FromGadget {
    return { type: "effect", effect, call: call?.state === "open" ? call.id : undefined, op };
  }

  /** Why it cannot be asked. */
  #failure(call: RunningCall | undefined, bytes: Uint8Array | undefined): EffectFailure | undefined {
    if (call?.state === "cancelled") return ABORTED;
    const { maxFrameBytes } = this.#way;
    const length = bytes?.length ?? 0;
    if (length <= maxFrameBytes) return undefined;
    const message = `found ${length} bytes, expected at most ${maxFrameBytes}: do it in smaller parts`;
    return { code: "too-large", message };
  }
}

const ABORTED: EffectFailure = { code: "aborted", message: "The operation was aborted" };
