import { GrowingLog, type Messages } from "../../conversation/message_log.ts";
import type { BranchFlow, BranchPosition, Position } from "../../conversation/position.ts";
import {
  BranchSlots,
  type BranchWrite,
  type ConversationSlots,
  type Slots,
} from "../../conversation/slots.ts";
import type { RunEventBody } from "../../core/core.ts";

/** What the steps of one branch see and do: its slots, the log as it stands for it, and its way out. */
export interface Branch {
  readonly slots: Slots;
  readonly outlet: Outlet;
  /** A step of it writes a slot. It is told when it counts for all. */
  write(write: BranchWrite): void;
  /** What was said, as far as this branch may know. */
  readonly log: Messages;
  /** A step of it says something. */
  say(step: string, text: string): void;
}

/** Everything that is in no combined step. */
export class RootBranch implements Branch {
  readonly slots: ConversationSlots;
  readonly outlet: Outlet;
  readonly log: Messages;

  /** @param log grows with what leaves `outlet` */
  constructor(
    slots: ConversationSlots,
    { outlet, log }: { readonly outlet: Outlet; readonly log: Messages },
  ) {
    this.slots = slots;
    this.outlet = outlet;
    this.log = log;
  }

  write({ step, path, value }: BranchWrite): void {
    this.slots.set(path, value);
    this.outlet.push({ type: "slot-set", step, ...path, value });
  }

  say(step: string, text: string): void {
    this.outlet.push({ type: "say", step, text });
  }
}

/** One child of a combined step: the others do not see what it writes and says before all are done. */
export class ChildBranch implements Branch {
  readonly id: string;
  readonly slots: BranchSlots;
  readonly outlet: Outlet;
  readonly log: GrowingLog;

  constructor(
    parent: Branch,
    { id, outlet, position }: {
      readonly id: string;
      readonly outlet: Outlet;
      readonly position: BranchPosition | undefined;
    },
  ) {
    this.id = id;
    this.slots = new BranchSlots(parent.slots, position?.writes);
    this.outlet = outlet;
    this.log = new GrowingLog(parent.log);
  }

  write(write: BranchWrite): void {
    this.slots.set(write);
  }

  /** Its place in the whole log is not known yet. */
  say(step: string, text: string): void {
    this.log.add({ who: "assistant", text, steps: [step] });
    this.outlet.push({ type: "say", step, text });
  }

  position(ended: { readonly position?: Position; readonly flow?: BranchFlow }): BranchPosition {
    return { id: this.id, writes: this.slots.writes, ...ended };
  }
}

// What a conversation tells, in the order of its file: of steps that run side by side, each waits until those before it are done.

/** What leaves a step: an event, or a whole message, whose place in the log is known when its turn has come. */
export type Told = RunEventBody | { readonly type: "say"; readonly step: string; readonly text: string };

/** A way out that may have to wait. */
export class Outlet {
  readonly #sink: (told: Told) => void;
  #waiting: Told[] | undefined;

  constructor(sink: (told: Told) => void, { isOpen }: { readonly isOpen: boolean }) {
    this.#sink = sink;
    this.#waiting = isOpen ? undefined : [];
  }

  push(told: Told): void {
    if (this.#waiting === undefined) this.#sink(told);
    else this.#waiting.push(told);
  }

  open(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const told of waiting) this.#sink(told);
  }
}

/** Ways out for works that run side by side: each opens when all before it have ended. */
export function orderedOutlets(
  count: number,
  sink: (told: Told) => void,
): { readonly outlets: readonly Outlet[]; ended(index: number): void } {
  const outlets = Array.from({ length: count }, (_, index) => new Outlet(sink, { isOpen: index === 0 }));
  const hasEnded = outlets.map(() => false);
  let current = 0;
  return {
    outlets,
    ended(index) {
      hasEnded[index] = true;
      while (hasEnded[current] === true) outlets[++current]?.open();
    },
  };
}
