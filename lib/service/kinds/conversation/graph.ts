import type { AgentFile, AgentStep, StepFlow } from "../../../parse/agent/agent.ts";
import { readAgentFile } from "../../../parse/agent/read.ts";
import { flowsOf, stepPlaces, stepsIn } from "../../../parse/agent/tree.ts";
import type { CallGraph, GraphEdge, GraphNode } from "../../../render/graph/graph.ts";
import type { DrawnGraph, LookedFile } from "../kind.ts";

/** The graph of an agent; empty for one that is broken. */
export async function graph({ file, text }: LookedFile): Promise<DrawnGraph> {
  const { agent, problems } = await readAgentFile(text, { file });
  if (agent === undefined) return { graph: { nodes: [], edges: [] }, problems };
  return { graph: graphOfAgent(agent), problems };
}

/** How an agent talks: its steps, and where each goes on. Chains and combined steps are the ways between those inside them. */
function graphOfAgent({ root }: AgentFile): CallGraph {
  const drawing = new AgentDrawing(root);
  drawing.add(root);
  return { what: "steps", nodes: drawing.nodes, edges: drawing.edges };
}

/** Steps by which something is entered, and those behind which it goes on. */
interface Ends {
  readonly first: readonly AgentStep[];
  readonly last: readonly AgentStep[];
}

class AgentDrawing {
  readonly nodes: GraphNode[] = [];
  readonly edges: GraphEdge[] = [];
  readonly #indexes = new Map<string, number>();
  /** The chain around a step: what `repeat` begins anew. */
  readonly #chains = new Map<string, AgentStep>();
  readonly #steps: ReadonlyMap<string, AgentStep>;

  constructor(root: AgentStep) {
    const steps = stepPlaces(root).map(({ step }) => step);
    this.#steps = new Map(steps.map((step) => [step.id, step]));
    for (const step of steps) if (stepsIn(step).length === 0) this.#node(step);
  }

  /** @param chain the innermost one around it */
  add(step: AgentStep, chain?: AgentStep): Ends {
    if (chain !== undefined) this.#chains.set(step.id, chain);
    const inside = stepsIn(step).map((each) => this.add(each, step.kind === "chain" ? step : chain));
    if (inside.length === 0) return this.#leaf(step);
    if (step.kind === "combined") {
      return { first: inside.flatMap(({ first }) => first), last: inside.flatMap(({ last }) => last) };
    }
    for (const [index, { last }] of inside.entries()) {
      for (const from of last) for (const to of inside[index + 1]?.first ?? []) this.#edge(from, to.id);
    }
    return { first: inside[0]?.first ?? [], last: inside.at(-1)?.last ?? [] };
  }

  #leaf(step: AgentStep): Ends {
    const flows = flowsOf(step);
    for (const { flow, path } of flows) {
      const label = flows.length > 1 ? String(path.at(-1)) : undefined;
      for (const to of this.#targetsOf(flow, step)) this.#edge(step, to, label);
    }
    // One that may be left out is passed by, whatever it says.
    const goesOn = flows.length === 0 || step.conditions.length > 0 ||
      flows.some(({ flow }) => "action" in flow && flow.action === "continue");
    return { first: [step], last: goesOn ? [step] : [] };
  }

  /** None where it goes on with the next one, or where only a placeholder says it. */
  #targetsOf(flow: StepFlow, step: AgentStep): readonly string[] {
    if ("goto" in flow) return entriesOf(this.#steps.get(flow.goto));
    if (flow.action === "continue") return [];
    return flow.action === "end" ? [this.#end()] : entriesOf(this.#chains.get(step.id));
  }

  #end(): string {
    if (!this.#indexes.has(END)) {
      this.#indexes.set(END, this.nodes.length);
      this.nodes.push({ id: "end", gadgetName: "", state: "ok", shape: "round" });
    }
    return END;
  }

  #node({ id, kind }: AgentStep): void {
    this.#indexes.set(id, this.nodes.length);
    this.nodes.push({ id, gadgetName: kind, state: "ok" });
  }

  #edge({ id }: AgentStep, target: string, label?: string): void {
    const [from, to] = [this.#indexes.get(id), this.#indexes.get(target)];
    if (from === undefined || to === undefined) return;
    this.edges.push({ from, to, isCyclic: false, label });
  }
}

/** The steps that something begins with: one of a chain, all of a combined step. */
function entriesOf(step: AgentStep | undefined): readonly string[] {
  if (step === undefined) return [];
  const inside = stepsIn(step);
  if (inside.length === 0) return [step.id];
  return step.kind === "combined" ? inside.flatMap(entriesOf) : entriesOf(inside[0]);
}

/** No id of a step: those are words. */
const END = "\u0000end";
