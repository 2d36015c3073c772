// The effects that one process asks for. How many are done at once, and how many wait, is bounded: a process can ask faster than anybody
// can do, and what it gets takes our memory until it reads it.
import {
  type EffectOp,
  type FromGadget,
  linkedSignal,
  type PermissionRefused,
  type ToGadget,
} from "../../core/core.ts";
import { type EffectOutcome, failedEffect } from "../effects.ts";
import type { OpenCall } from "./call.ts";
import { MessageError } from "./messages.ts";

const MOST_AT_ONCE = 16;
const MOST_WAITING = 100_000;
const MOST_WAITING_BYTES = 256 * 1024 * 1024;
const MOST_REFUSALS = 1_000;

/** Does an effect with what the gadget may do. */
export type PerformEffect = (
  op: EffectOp,
  bytes: Uint8Array,
  options: { readonly signal: AbortSignal },
) => Promise<EffectOutcome>;

/** An effect as it was asked for. */
export interface AskedEffect {
  readonly effect: number;
  readonly op: EffectOp;
  readonly bytes: Uint8Array;
  /** Of the call that asks, as far as one does. */
  readonly signal?: AbortSignal;
  readonly within?: OpenCall["within"];
}

/** The answer to an effect. */
export interface EffectAnswer {
  readonly value: Extract<ToGadget, { readonly type: "effect-done" | "effect-failed" }>;
  readonly bytes?: Uint8Array;
}

/** How effects are done. */
export interface GadgetEffectsOptions {
  readonly perform: PerformEffect;
  /** Whether more answers can be taken; asked again by {@linkcode GadgetEffects.goOn}. */
  hasRoom(): boolean;
  onAnswer(answer: EffectAnswer): void;
}

interface OpenEffect extends AskedEffect {
  readonly abort: AbortController;
}

/** The effects of one process. */
export class GadgetEffects {
  readonly #options: GadgetEffectsOptions;
  readonly #open = new Map<number, OpenEffect>();
  /** Not begun yet, in order. */
  readonly #waiting = new Set<OpenEffect>();
  #waitingBytes = 0;
  #running = 0;
  /** By effect, oldest first. */
  readonly #refusals = new Map<number, PermissionRefused>();
  #isOver = false;

  constructor(options: GadgetEffectsOptions) {
    this.#options = options;
  }

  /** How many have no answer yet. */
  get count(): number {
    return this.#open.size;
  }

  /** Does it when there is room. @throws {MessageError} when nobody may ask so */
  ask(asked: AskedEffect): void {
    const effect = this.#opened(asked);
    this.#waiting.add(effect);
    this.#waitingBytes += effect.bytes.length;
    this.goOn();
    if (this.#waiting.size > MOST_WAITING || this.#waitingBytes > MOST_WAITING_BYTES) {
      throw new MessageError(
        `asked for more than ${MOST_WAITING} things, or ${MOST_WAITING_BYTES} bytes, at once`,
      );
    }
  }

  /** Does it at once: its process does nothing else until then. @throws {MessageError} when nobody may ask so */
  askNow(asked: AskedEffect): Promise<EffectAnswer> {
    return this.#perform(this.#opened(asked));
  }

  /** Somebody has no use for it any more; it is answered nevertheless. */
  cancel(effect: number): void {
    this.#open.get(effect)?.abort.abort(new DOMException("The gadget gave it up", "AbortError"));
  }

  /** The refusal of an effect, for a call that failed with it. */
  refusalOf(effect: number | undefined): PermissionRefused | undefined {
    return effect === undefined ? undefined : this.#refusals.get(effect);
  }

  /** Begins what waits, as far as there is room. */
  goOn(): void {
    for (const effect of this.#waiting) {
      if (this.#isOver || this.#running >= MOST_AT_ONCE || !this.#options.hasRoom()) return;
      this.#waiting.delete(effect);
      this.#waitingBytes -= effect.bytes.length;
      void this.#performInTurn(effect);
    }
  }

  /** The process is gone: everything is aborted, and nothing answered. */
  end(reason: Error): void {
    this.#isOver = true;
    this.#waiting.clear();
    for (const { abort } of this.#open.values()) abort.abort(reason);
    this.#open.clear();
  }

  #opened(asked: AskedEffect): OpenEffect {
    if (this.#open.has(asked.effect)) throw new MessageError("asked for an effect by a number that is taken");
    const effect = { ...asked, abort: new AbortController() };
    this.#open.set(asked.effect, effect);
    return effect;
  }

  async #performInTurn(effect: OpenEffect): Promise<void> {
    this.#running++;
    const answer = await this.#perform(effect);
    this.#running--;
    if (!this.#isOver) this.#options.onAnswer(answer);
    this.goOn();
  }

  /** Never fails. */
  async #perform({ effect, op, bytes, signal, within, abort }: OpenEffect): Promise<EffectAnswer> {
    using linked = linkedSignal([abort.signal, signal]);
    const perform = () => this.#outcome(op, bytes, linked.signal);
    const outcome = await (within === undefined ? perform() : within(perform));
    this.#open.delete(effect);
    if ("ok" in outcome) {
      return { value: { type: "effect-done", effect, ok: outcome.ok }, bytes: outcome.bytes };
    }
    if (outcome.refused !== undefined) this.#keep(effect, outcome.refused);
    return { value: { type: "effect-failed", effect, error: outcome.error } };
  }

  async #outcome(op: EffectOp, bytes: Uint8Array, signal: AbortSignal): Promise<EffectOutcome> {
    try {
      signal.throwIfAborted();
      return await this.#options.perform(op, bytes, { signal });
    } catch (error) {
      return failedEffect(error, signal);
    }
  }

  #keep(effect: number, refused: PermissionRefused): void {
    this.#refusals.set(effect, refused);
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size > MOST_REFUSALS && oldest !== undefined) this.#refusals.delete(oldest);
  }
}

/** An effect that comes over the pipes. */
export type WaitedEffect = Extract<FromGadget, { readonly type: "effect" }>;
