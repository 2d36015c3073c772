import { resolve } from "node:path";
import { FileError, isInside, pathFromFolder, SourceError, withoutByteOrderMark } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { realPath } from "../../host/paths.ts";
import type { AgentFile, AgentStep, StepFlow } from "../../parse/agent/agent.ts";
import { readAgentFile } from "../../parse/agent/read.ts";
import { flowsOf, stepPlaces, stepsIn } from "../../parse/agent/tree.ts";
import { type CallBlock, CallParser } from "../../parse/calls/calls.ts";
import type { Markers } from "../../parse/calls/header.ts";
import { readDocument } from "../../parse/document/document.ts";
import type { CallGraph, GraphEdge, GraphNode } from "../../render/graph/graph.ts";
import { readDocumentText } from "../../run/document/files.ts";
import { outlineOf } from "../kinds/document/outline.ts";
import type { GraphJson, ProblemJson } from "../look/look.ts";
import { problemJson } from "../check/report.ts";
import { graphOfCalls } from "../kinds/calls/graph.ts";
import { graphOfDocument, type ReadFile } from "../kinds/document/graph.ts";

/** The graph of a text of calls. @param options `file`: its name in problems */
export async function callsGraph(
  text: string,
  { file, markers }: { readonly file: string; readonly markers: Markers },
): Promise<GraphJson> {
  const { graph, problems } = graphOfCalls(callsIn(text, markers));
  return await drawn(
    graph,
    problems.map(({ line, text: message }) => problemJson("calls", file, { line, message })),
  );
}

/** The calls of a text, broken ones too. */
export function callsIn(text: string, markers: Markers): readonly CallBlock[] {
  const parser = new CallParser({ markers });
  return [...parser.push(withoutByteOrderMark(text)), ...parser.end()]
    .flatMap((event) => event.type === "call-end" ? [event.call] : []);
}

/** The graph of a document. @param file relative to the root @throws {FileError} */
export async function documentGraph(file: string, { root }: { readonly root: string }): Promise<GraphJson> {
  const text = await readDocumentText(hostFiles({ root }), file);
  const read = await readDocument(text, { path: file });
  const { graph } = await graphOfDocument(await outlineOf(read), {
    path: resolve(root, file),
    read: projectReader(root),
  });
  return await drawn(graph, read.problems.map((problem) => problemJson("document", file, problem)));
}

/** The graph of an agent; empty for one that is broken. @param file relative to the root @throws {FileError} */
export async function agentGraph(file: string, { root }: { readonly root: string }): Promise<GraphJson> {
  const { agent, problems } = await readAgentFile(await hostFiles({ root }).readText(file), { file });
  const graph = agent === undefined ? { nodes: [], edges: [] } : graphOfAgent(agent);
  return await drawn(graph, problems.map((problem) => problemJson("agent", file, problem)));
}

/** Reads what a document names. Files outside the project are named, and not looked into. */
export function projectReader(root: string): ReadFile {
  const files = hostFiles({ root });
  return async (path) => {
    const shown = pathFromFolder(path, root);
    if (!isInside(realPath(path), root)) return { shown };
    try {
      const text = await readDocumentText(files, path);
      return { shown, file: await readDocument(text, { path: shown, hasOperations: path.endsWith(".md") }) };
    } catch (thrown) {
      if (!(thrown instanceof FileError)) throw thrown;
      return { shown };
    }
  };
}

async function drawn(graph: CallGraph, problems: readonly ProblemJson[]): Promise<GraphJson> {
  const { graphMermaid } = await import("../../render/graph/mermaid.ts");
  const { graphSvg } = await import("../../render/graph/picture.ts");
  const mermaid = graphMermaid(graph);
  try {
    return { mermaid, svg: await graphSvg(graph), problems };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { mermaid, svg: "", problems }; // too large to be drawn
  }
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
