// Where an agent may go on behind each of its steps (conversations.md 2.3, 2.4), as far as its file tells.

import type { StepTree } from "../conversation/step_tree.ts";
import type { AgentStep, StepFlow } from "../parse/agent/agent.ts";
import { flowsOf } from "../parse/agent/tree.ts";

/** Stands for the end of the conversation: the ids of steps are text. */
export const END: unique symbol = Symbol("end");

/** The id of a step, or the end. */
export type GraphNode = string | typeof END;

/** What may come behind each step. A chain and a combined step come before what is inside of them. */
export class AgentGraph {
  readonly #tree: StepTree;
  readonly #next = new Map<GraphNode, readonly GraphNode[]>();

  constructor(tree: StepTree) {
    this.#tree = tree;
    for (const id of tree.ids) this.#next.set(id, this.#nextOf(id));
  }

  next(node: GraphNode): readonly GraphNode[] {
    return this.#next.get(node) ?? [];
  }

  /** What can be come to from some steps, these included. */
  reachable(from: Iterable<GraphNode>): ReadonlySet<GraphNode> {
    return spread(from, (node) => this.next(node));
  }

  /** From where some steps can be come to, these included. */
  leadingTo(to: Iterable<GraphNode>): ReadonlySet<GraphNode> {
    const before = new Map<GraphNode, GraphNode[]>();
    for (const [node, nexts] of this.#next) {
      for (const next of nexts) {
        const list = before.get(next);
        if (list === undefined) before.set(next, [node]);
        else list.push(node);
      }
    }
    return spread(to, (node) => before.get(node) ?? []);
  }

  #nextOf(id: string): readonly GraphNode[] {
    const step = this.#tree.find(id);
    if (step === undefined) return [];
    const done = this.#done(step);
    return step.conditions.length === 0 ? done : [this.#behind(id), ...done];
  }

  #done(step: AgentStep): readonly GraphNode[] {
    if (step.kind === "chain") return step.steps.slice(0, 1).map(({ id }) => id);
    if (step.kind === "combined") return step.steps.map(({ id }) => id);
    const flows = flowsOf(step);
    // A gadget may say where it goes on for one of its outcomes only.
    const isOpen = flows.length === 0 || (step.kind === "gadget" && flows.length === 1);
    const taken = flows.flatMap(({ flow }) => this.#taken(flow, step.id));
    return isOpen ? [...taken, this.#behind(step.id)] : taken;
  }

  #taken(flow: StepFlow, from: string): readonly GraphNode[] {
    if ("goto" in flow) {
      return flow.goto.includes("{{") ? [...this.#tree.ids, END] : this.#entered(flow.goto, from);
    }
    switch (flow.action) {
      case "continue":
        return [this.#behind(from)];
      case "repeat":
        return [this.#tree.chainAround(from)?.id ?? END];
      case "end":
        return [END];
      default:
        return flow.action satisfies never;
    }
  }

  /** A jump checks the conditions of the chains that it enters; one to the first step of a chain starts the chain. */
  #entered(target: string, from: string): readonly GraphNode[] {
    const path = this.#tree.path(target);
    const started = path.find(({ id, kind }) => kind === "chain" && this.#tree.firstLeaf(id).id === target);
    const around = new Set(this.#tree.path(from));
    const guarded = path.slice(0, -1).filter((step) => step.conditions.length > 0 && !around.has(step));
    return [started?.id ?? target, ...guarded.map(({ id }) => this.#behind(id))];
  }

  /** What comes when a step is done or skipped. */
  #behind(id: string): GraphNode {
    const parent = this.#tree.parent(id);
    if (parent === undefined) return END;
    const next = parent.kind === "chain" ? parent.steps[this.#tree.index(id) + 1] : undefined;
    return next?.id ?? this.#behind(parent.id);
  }
}

function spread(
  from: Iterable<GraphNode>,
  next: (node: GraphNode) => readonly GraphNode[],
): ReadonlySet<GraphNode> {
  const seen = new Set(from);
  const waiting = [...seen];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const each of next(node)) {
      if (seen.has(each)) continue;
      seen.add(each);
      waiting.push(each);
    }
  }
  return seen;
}
