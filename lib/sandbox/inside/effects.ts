// The effects of a gadget, asked of Orrery: on the socket where somebody waits for a promise, over stdout and stdin where the gadget blocks.

import type { EffectFailure, EffectOp, EffectReply, Effects } from "../../core/gadget_message.ts";
import type { Json } from "../../core/json.ts";
import { exchangeSync } from "./channel.ts";
import { frameOf } from "./frames.ts";
import { jsonText } from "./json.ts";
import type { OpenCall } from "./call.ts";
import {
  apply,
  bare,
  getterOf,
  lengthOf,
  mapDelete,
  mapEach,
  mapGet,
  mapSet,
  OwnMap,
  OwnPromise,
  parseJson,
} from "./primordials.ts";

interface Pending {
  readonly number: number;
  readonly call: OpenCall | undefined;
  settle(reply: EffectReply): void;
}

/** How effects leave the process. */
export interface EffectWay {
  send(frame: Uint8Array<ArrayBuffer>): void;
  /** The call that the work belongs to which asks now. */
  current(): OpenCall | undefined;
  /** Of a frame. */
  readonly maxFrameBytes: number;
}

const { addEventListener, removeEventListener } = EventTarget.prototype;
const abortedOf = getterOf(AbortSignal.prototype, "aborted");

/** What is asked of Orrery. */
export class GadgetEffects implements Effects {
  readonly #way: EffectWay;
  readonly #pending = new OwnMap<number, Pending>();
  #last = 0;

  constructor(way: EffectWay) {
    this.#way = way;
  }

  ask(
    op: EffectOp,
    options?: { readonly bytes?: Uint8Array; readonly signal?: AbortSignal },
  ): Promise<EffectReply> {
    const number = ++this.#last;
    const call = this.#way.current();
    const signal = options?.signal;
    return new OwnPromise((resolve) => {
      const frame = this.#frame(number, call, op, options?.bytes);
      if (!("frame" in frame)) return resolve(failed(number, frame));
      if (signal !== undefined && isAborted(signal)) return resolve(failed(number, ABORTED));
      const onAbort = (): void => {
        this.#way.send(frameOf(`{"type":"effect-cancel","effect":${number}}`));
        pending.settle(failed(number, ABORTED));
      };
      const pending: Pending = {
        number,
        call,
        settle: (reply) => {
          mapDelete(this.#pending, number);
          if (signal !== undefined) apply(removeEventListener, signal, ["abort", onAbort]);
          resolve(reply);
        },
      };
      if (signal !== undefined) apply(addEventListener, signal, ["abort", onAbort]);
      mapSet(this.#pending, number, pending);
      this.#way.send(frame.frame);
    });
  }

  askSync(op: EffectOp, options?: { readonly bytes?: Uint8Array }): EffectReply {
    const number = ++this.#last;
    const frame = this.#frame(number, this.#way.current(), op, options?.bytes);
    if (!("frame" in frame)) return failed(number, frame);
    const { text, bytes } = exchangeSync(frame.frame);
    const message = parseJson(text);
    return message.type === "effect-done" ? done(message.ok, bytes) : failed(number, message.error);
  }

  /** Orrery has done it. An effect that nobody waits for any more is none of ours. */
  done(effect: number, ok: Json, bytes: Uint8Array): void {
    mapGet(this.#pending, effect)?.settle(done(ok, bytes));
  }

  failed(effect: number, error: EffectFailure): void {
    mapGet(this.#pending, effect)?.settle(failed(effect, error));
  }

  /** The call is over: what it waits for will not come. */
  giveUp(call: OpenCall): void {
    mapEach(this.#pending, (pending) => {
      if (pending.call === call) pending.settle(failed(pending.number, ABORTED));
    });
  }

  /** The frame that asks, or why it cannot be asked. */
  #frame(
    number: number,
    call: OpenCall | undefined,
    op: EffectOp,
    bytes: Uint8Array | undefined,
  ): { readonly frame: Uint8Array<ArrayBuffer> } | EffectFailure {
    if (call?.state === "cancelled") return ABORTED;
    const { maxFrameBytes } = this.#way;
    const length = bytes === undefined ? 0 : lengthOf(bytes);
    if (length > maxFrameBytes) return tooLarge(length, maxFrameBytes);
    const owner = call?.state === "open" ? `,"call":${call.id}` : "";
    const frame = frameOf(`{"type":"effect","effect":${number}${owner},"op":${jsonText(op)}}`, bytes);
    return lengthOf(frame) > maxFrameBytes ? tooLarge(lengthOf(frame), maxFrameBytes) : { frame };
  }
}

const ABORTED: EffectFailure = Object.freeze({ code: "aborted", message: "The operation was aborted" });

function tooLarge(found: number, most: number): EffectFailure {
  return {
    code: "too-large",
    message: `found ${found} bytes, expected at most ${most}: do it in smaller parts`,
  };
}

function done(ok: Json, bytes: Uint8Array): EffectReply {
  return bare({ ok, bytes });
}

function failed(effect: number, error: EffectFailure): EffectReply {
  return bare({ error, effect });
}

function isAborted(signal: AbortSignal): boolean {
  return apply(abortedOf, signal, []) === true;
}
