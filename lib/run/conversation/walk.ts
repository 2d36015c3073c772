// The way through the steps of a conversation (conversations.md 2.3, 2.4). A walk gives where it goes on, so that each chain and each
// combined step decides for what is inside of it; where it waits is told by the ids of steps, so that a later turn finds it again.
import { failingCondition } from "../../conversation/failing_condition.ts";
import { fillText, lookUpIn } from "../../conversation/fill_template.ts";
import type { BranchFlow, BranchPosition, Position } from "../../conversation/position.ts";
import { slotKey } from "../../conversation/slots.ts";
import type { StepOutcome, StepTree } from "../../conversation/step_tree.ts";
import { DivergedError, type JsonObject, messageOf } from "../../core/core.ts";
import type { AgentStep, StepFlow, StepOf } from "../../parse/agent/agent.ts";
import { gotoProblem } from "../../parse/agent/tree.ts";
import { BudgetError } from "../budget.ts";
import { type Branch, ChildBranch, orderedOutlets } from "./branch.ts";
import { ConversationStepError } from "./work.ts";

/** How a walk begins: anew, on the way to a step inside, or where it waited. */
export type Entry =
  | { readonly kind: "start" }
  | { readonly kind: "jump"; readonly target: string }
  | { readonly kind: "resume"; readonly position: Position };

/** Where it goes on behind a step. */
export type Walked =
  | { readonly kind: "next" | "end" }
  | { readonly kind: "repeat"; readonly from: string }
  | { readonly kind: "goto"; readonly from: string; readonly target: string }
  | { readonly kind: "held"; readonly position: Position };

/** A step that failed, or the outermost combined step around it: there the conversation stands. */
export class StepFailure extends Error {
  override readonly name = "StepFailure";
  readonly step: string;
  override readonly cause: ConversationStepError;

  constructor(step: string, cause: ConversationStepError) {
    super(cause.message, { cause });
    this.step = step;
    this.cause = cause;
  }
}

/** What a walk needs besides its steps. */
export interface WalkOptions {
  readonly tree: StepTree;
  readonly constants: JsonObject;
  readonly count: StepCount;
  /** @throws {Error} when no further step is to begin, and none that has failed counts */
  assertGoing(): void;
  /** Does what a leaf does. @throws {Error} */
  perform(step: AgentStep, branch: Branch): Promise<StepOutcome>;
}

const START: Entry = { kind: "start" };
const NEXT: Walked = { kind: "next" };

/** What walks through the steps of one agent: a whole tree or a branch, from an entry. */
export function conversationWalk(
  options: WalkOptions,
): (step: AgentStep, entry: Entry, branch: Branch) => Promise<Walked> {
  /** A whole tree or branch: a jump to its own beginning starts it again. @throws {StepFailure}; what `assertGoing` throws */
  async function walk(step: AgentStep, first: Entry, branch: Branch): Promise<Walked> {
    let entry = first;
    while (true) {
      const walked = await enterStep(step, entry, branch);
      if (walked.kind !== "goto" || !isIn(walked.target, step)) return walked;
      entry = jump(walked, branch);
    }
  }

  async function enterStep(step: AgentStep, entry: Entry, branch: Branch): Promise<Walked> {
    if (step.kind === "chain") return await chain(step, entry, branch);
    if (step.kind === "combined" && entry.kind === "resume" && entry.position.at === "combined") {
      return await combined(step, branch, entry.position.branches);
    }
    const isAnswered = entry.kind === "resume" && entry.position.at === "held";
    if (isAnswered) return NEXT;
    options.assertGoing();
    count(step, branch);
    if (entry.kind !== "resume" && !mayBegin(step, branch)) return NEXT;
    return step.kind === "combined"
      ? await combined(step, branch)
      : gone(step, await leaf(step, branch), branch);
  }

  /** @throws {StepFailure} */
  function count(step: AgentStep, branch: Branch): void {
    const tooMany = options.count.add(step.id);
    if (tooMany === undefined) return;
    branch.outlet.push({ type: "warning", text: `the last steps were ${tooMany.last.join(", ")}` });
    throw failure(step, tooMany.problem);
  }

  async function chain(chain: StepOf<"chain">, entry: Entry, branch: Branch): Promise<Walked> {
    if (entry.kind !== "resume" && !mayBegin(chain, branch)) return NEXT;
    let [index, next] = enter(chain, entry);
    while (true) {
      const step = chain.steps[index];
      if (step === undefined) return NEXT;
      const walked = await enterStep(step, next, branch);
      [index, next] = [index + 1, START];
      if (walked.kind === "next") continue;
      if (walked.kind === "repeat") {
        if (!mayBegin(chain, branch)) return NEXT;
        index = 0;
      } else if (walked.kind === "goto" && leads(walked.target, chain)) {
        [index, next] = enter(chain, jump(walked, branch));
      } else return walked;
    }
  }

  /** Into a chain, but not to its first step: that counts as starting the chain, which is for whoever is around it. */
  function leads(target: string, chain: StepOf<"chain">): boolean {
    return isIn(target, chain) && options.tree.firstLeaf(chain.id).id !== target;
  }

  function enter(chain: StepOf<"chain">, entry: Entry): [number, Entry] {
    if (entry.kind === "start") return [0, START];
    const wanted = entry.kind === "jump" ? entry.target : entry.position.step;
    const path = options.tree.path(wanted);
    return [chain.steps.findIndex((step) => path.includes(step)), entry];
  }

  async function combined(
    step: StepOf<"combined">,
    branch: Branch,
    before: readonly BranchPosition[] = [],
  ): Promise<Walked> {
    const { outlets, ended } = orderedOutlets(
      step.steps.length,
      (told) => told.type === "say" ? branch.say(told.step, told.text) : branch.outlet.push(told),
    );
    const children = step.steps.map((child, index) => {
      const position = before.find(({ id }) => id === child.id);
      const outlet = outlets[index] ?? branch.outlet;
      return { child, position, own: new ChildBranch(branch, { id: child.id, outlet, position }) };
    });
    const works = children.map(async ({ child, position, own }, index): Promise<BranchEnd> => {
      try {
        const walked = await enterBranch(child, own, position);
        ended(index);
        return { branch: own, walked };
      } catch (error) {
        if (error instanceof StepFailure) ended(index); // else it will be gone on with, and nothing behind it is told before
        throw error;
      }
    });
    const settled = await Promise.allSettled(works);
    throwFailure(settled, step.id);
    const ends = settled.flatMap((one) => one.status === "fulfilled" ? [one.value] : []);
    return ends.some(({ walked }) => walked.kind === "held")
      ? { kind: "held", position: positionOf(step, ends) }
      : join(step, { branch, ends });
  }

  async function enterBranch(
    child: AgentStep,
    branch: ChildBranch,
    position: BranchPosition | undefined,
  ): Promise<Walked> {
    if (position === undefined) return await walk(child, START, branch);
    if (position.position !== undefined) {
      return await walk(child, { kind: "resume", position: position.position }, branch);
    }
    return position.flow === undefined ? NEXT : walkedFlow(position.flow);
  }

  /** All are done: what they have written counts, in the order of the file, and the last of their jumps. */
  function join(
    step: StepOf<"combined">,
    { branch, ends }: { readonly branch: Branch; readonly ends: readonly BranchEnd[] },
  ): Walked {
    const warn = (text: string): void =>
      branch.outlet.push({ type: "warning", text: `step "${step.id}": ${text}` });
    const writers = new Map<string, string>();
    for (const { branch: { id, slots } } of ends) {
      for (const write of slots.writes) {
        const key = slotKey(write.path);
        const earlier = writers.get(key);
        if (earlier !== undefined) {
          warn(`"${earlier}" and "${id}" both write slot "${key}"; that of "${id}" counts`);
        }
        writers.set(key, id);
        branch.write(write);
      }
    }
    const leaving = ends.flatMap(({ walked }) => walked.kind === "next" ? [] : [walked]);
    const last = leaving.at(-1);
    if (leaving.length > 1) warn(`${leaving.length} of its branches go elsewhere; the last one counts`);
    return last ?? NEXT;
  }

  async function leaf(step: AgentStep, branch: Branch): Promise<StepOutcome> {
    try {
      return await options.perform(step, branch);
    } catch (error) {
      options.assertGoing();
      if (error instanceof DivergedError || error instanceof BudgetError) throw error;
      if (error instanceof ConversationStepError) throw new StepFailure(step.id, error);
      throw failure(step, messageOf(error), { cause: error });
    }
  }

  function gone(step: AgentStep, outcome: StepOutcome, branch: Branch): Walked {
    if (outcome.kind === "flow") return flow(step, outcome.flow, branch);
    return outcome.isHeld === true ? { kind: "held", position: { at: "held", step: step.id } } : NEXT;
  }

  function flow(step: AgentStep, flow: StepFlow, branch: Branch): Walked {
    if ("action" in flow) return walkedFlow({ from: step.id, flow });
    const target = fillText(flow.goto, lookUpIn(branch.slots, options.constants));
    const problem = target === flow.goto ? undefined : gotoProblem(options.tree, { from: step.id, target });
    if (problem !== undefined) throw failure(step, `goto: ${problem}`);
    return { kind: "goto", from: step.id, target };
  }

  function jump({ from, target }: Extract<Walked, { readonly kind: "goto" }>, branch: Branch): Entry {
    branch.outlet.push({ type: "jump", from, to: target });
    return { kind: "jump", target };
  }

  function mayBegin(step: AgentStep, branch: Branch): boolean {
    const failing = failingCondition(step.conditions, (path) => branch.slots.get(path));
    if (failing !== undefined) branch.outlet.push({ type: "step-skip", step: step.id, condition: failing });
    return failing === undefined;
  }

  function isIn(id: string, step: AgentStep): boolean {
    return options.tree.path(id).includes(step);
  }

  return walk;
}

function failure({ id }: AgentStep, reason: string, options?: ErrorOptions): StepFailure {
  return new StepFailure(id, new ConversationStepError(id, reason, options));
}

/** Where a combined step is of which a branch waits. */
function positionOf({ id }: AgentStep, ends: readonly BranchEnd[]): Position {
  const branches = ends.map(({ branch, walked }) => {
    if (walked.kind === "held") return branch.position({ position: walked.position });
    const flow = leavingFlow(walked);
    return branch.position(flow === undefined ? {} : { flow });
  });
  return { at: "combined", step: id, branches };
}

/** How a branch of a combined step has ended. */
interface BranchEnd {
  readonly branch: ChildBranch;
  readonly walked: Walked;
}

function walkedFlow({ from, flow }: BranchFlow): Walked {
  if ("goto" in flow) return { kind: "goto", from, target: flow.goto };
  switch (flow.action) {
    case "continue":
      return NEXT;
    case "repeat":
      return { kind: "repeat", from };
    case "end":
      return { kind: "end" };
    default:
      return flow.action satisfies never;
  }
}

function leavingFlow(walked: Walked): BranchFlow | undefined {
  switch (walked.kind) {
    case "goto":
      return { from: walked.from, flow: { goto: walked.target } };
    case "repeat":
      return { from: walked.from, flow: { action: "repeat" } };
    case "end":
      return { from: "", flow: { action: "end" } };
    case "next":
    case "held":
      return undefined;
    default:
      return walked satisfies never;
  }
}

/** What went wrong in a branch is a failure of the whole step; whatever ends the turn counts more. */
function throwFailure(settled: readonly PromiseSettledResult<BranchEnd>[], step: string): void {
  const reasons: readonly unknown[] = settled.flatMap((one) => one.status === "rejected" ? [one.reason] : []);
  const ending = reasons.find((reason) => !(reason instanceof StepFailure));
  if (ending !== undefined) throw ending;
  const first = reasons.find((reason) => reason instanceof StepFailure);
  if (first !== undefined) throw new StepFailure(step, first.cause);
}

/** So many steps may be made without waiting for the person (conversations.md 2.3). */
const DEFAULT_STEPS = 250;
/** So many of the last ones are named when there were too many. */
const SHOWN = 12;

/** Counts the steps between two holds: an endless loop is told, not made. */
export class StepCount {
  readonly #max: number;
  readonly #last: string[] = [];
  #count = 0;

  constructor(max: number = DEFAULT_STEPS) {
    this.#max = max;
  }

  /** Counts one more; why it may not be made, when there were too many. */
  add(step: string): { readonly problem: string; readonly last: readonly string[] } | undefined {
    this.#last.push(step);
    if (this.#last.length > SHOWN) this.#last.shift();
    if (++this.#count <= this.#max) return undefined;
    const problem =
      `stopped after ${this.#max} steps without waiting for the user; there is probably a loop without a hold`;
    return { problem, last: this.#last };
  }

  /** The person is heard. */
  reset(): void {
    this.#count = 0;
  }
}
