import type { AgentStep } from "../parse/agent_file.ts";
import { flowsOf } from "../parse/agent_tree.ts";
import { stepsIn } from "../parse/agent_tree.ts";
import { END } from "./agent_graph.ts";
import type { AgentLook } from "./agent_look.ts";
import type { LintFinding } from "./lint_rule.ts";

/** A step behind one that always goes on elsewhere, and that nothing jumps to. */
export function lintUnreachable({ agent, tree, graph, places }: AgentLook): readonly LintFinding[] {
  const entered = graph.reachable([agent.root.id]);
  // A jump into the middle of a chain reaches the chain, and leaves out what comes before.
  const reached = new Set([...entered].flatMap((node) => typeof node === "string" ? tree.path(node) : []));
  return places.flatMap(({ step, path }): readonly LintFinding[] => {
    const around = tree.parent(step.id);
    if (reached.has(step) || around === undefined || !reached.has(around)) return [];
    const before = stepsIn(around)[tree.index(step.id) - 1];
    if (before !== undefined && !reached.has(before)) return []; // it has been told
    const why = before === undefined
      ? `${JSON.stringify(around.id)} is only entered behind it`
      : `${JSON.stringify(before.id)} always goes on elsewhere`;
    const message = `the step ${JSON.stringify(step.id)} is never reached: ${why}`;
    return [{ path, at: "key", code: "W627", message }];
  });
}

/** A way back in a part that nothing leads out of, and in which nothing waits. */
export function lintEndlessLoop({ agent, tree, graph, places }: AgentLook): readonly LintFinding[] {
  const reached = graph.reachable([agent.root.id]);
  const leadsOut = graph.leadingTo([END, ...places.flatMap(({ step }) => isHolding(step) ? [step.id] : [])]);
  const order = new Map(tree.ids.map((id, index) => [id, index]));
  return places.flatMap(({ step, path }): readonly LintFinding[] => {
    if (!reached.has(step.id) || leadsOut.has(step.id)) return [];
    const here = order.get(step.id) ?? 0;
    const isBack = graph.next(step.id).some((next) =>
      typeof next === "string" && (order.get(next) ?? 0) <= here
    );
    const [flow] = flowsOf(step);
    if (!isBack || flow === undefined) return [];
    return [{
      path: [...path, ...flow.path],
      at: "key",
      code: "W628",
      message: "this loop never ends: nothing in it waits for the user, and nothing leads out of it",
      hint: "Let a step hold, or add a condition to the chain.",
    }];
  });
}

/** A model that speaks when the user has spoken, and does not see what was said. */
export function lintNoMemory({ graph, places }: AgentLook): readonly LintFinding[] {
  const holding = places.filter(({ step }) => isHolding(step));
  const behind = graph.reachable(holding.flatMap(({ step }) => graph.next(step.id)));
  return places.flatMap(({ step, path }): readonly LintFinding[] => {
    if (step.kind !== "llm" || (step.memory ?? []).length > 0 || !behind.has(step.id)) return [];
    return [{
      path: [...path, "llm"],
      at: "key",
      code: "W633",
      message: `the model does not see what the user has said: there is no "memory"`,
      hint: "Add memory, such as - selector: all.",
    }];
  });
}

/** Whether the step waits for the user. */
export function isHolding(step: AgentStep): boolean {
  return (step.kind === "message" || step.kind === "llm") && step.hold;
}
