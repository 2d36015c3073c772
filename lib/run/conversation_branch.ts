import { GrowingLog } from "../conversation/message_log.ts";
import type { Messages } from "../conversation/message_log.ts";
import type { BranchFlow, BranchPosition, Position } from "../conversation/position.ts";
import { BranchSlots } from "../conversation/slots.ts";
import type { BranchWrite, ConversationSlots, Slots } from "../conversation/slots.ts";
import type { Outlet } from "./conversation_outlet.ts";

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
