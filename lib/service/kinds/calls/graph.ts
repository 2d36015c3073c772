import { withoutByteOrderMark } from "../../../core/core.ts";
import type { PlacedProblem } from "../../check/report.ts";
import type { DrawnGraph, LookedFile } from "../kind.ts";
import { type CallBlock, CallParser, type CallParserOptions } from "../../../parse/calls/calls.ts";
import type { CallGraph, GraphEdge, GraphNode } from "../../../render/graph/graph.ts";
import { cyclesOf } from "../../../schedule/cycles.ts";

/** The graph of a text of calls. */
export function graph(
  { file, text, project: { config: { calls: { markers } } } }: LookedFile,
): Promise<DrawnGraph> {
  const calls = callsIn(text, { markers });
  const nothing = calls.length > 0 ? undefined : `no line of ${file} begins with ${markers.start}`;
  return Promise.resolve({ ...graphOfCalls(calls), nothing });
}

/** The calls of a text, broken ones too. */
export function callsIn(text: string, options: CallParserOptions): readonly CallBlock[] {
  const parser = new CallParser(options);
  return [...parser.push(withoutByteOrderMark(text)), ...parser.end()]
    .flatMap((event) => event.type === "call-end" ? [event.call] : []);
}

/** Something in a call file that keeps a call from running. */
type GraphProblem = Pick<PlacedProblem, "line" | "message">;

/** The graph of the calls of a file, and everything in it that cannot run. */
export function graphOfCalls(
  calls: readonly CallBlock[],
): { graph: CallGraph; problems: readonly GraphProblem[] } {
  const byId = new Map<string, number>();
  for (const [index, call] of calls.entries()) {
    if (!byId.has(call.invocationId)) byId.set(call.invocationId, index);
  }
  const missing = missingNames(calls, byId);
  const indexOf = (id: string) => byId.get(id) ?? missing.get(id)?.index ?? -1;
  const dependencies = calls.map((call) => call.dependencies.map(indexOf));
  const nothing = [...missing].map((): number[] => []);
  const cycles = cyclesOf([...dependencies, ...nothing], (node) => calls[node]?.invocationId ?? "");
  const nodes = [
    ...calls.map((call, index) => nodeOf(call, cycles[index])),
    ...[...missing.keys()].map((id): GraphNode => ({ id, gadgetName: "", state: "missing" })),
  ];
  const edges = dependencies.flatMap((list, to) =>
    list.map((from): GraphEdge => ({
      from,
      to,
      isCyclic: cycles[from] !== undefined && cycles[to] !== undefined,
    }))
  );
  return { graph: { nodes, edges }, problems: problemsOf(calls, { cycles, missing }) };
}

interface Missing {
  readonly index: number;
  readonly lines: readonly number[];
}

function missingNames(calls: readonly CallBlock[], byId: ReadonlyMap<string, number>): Map<string, Missing> {
  const missing = new Map<string, Missing>();
  for (const call of calls) {
    for (const id of call.dependencies) {
      if (byId.has(id)) continue;
      const { index = calls.length + missing.size, lines = [] } = missing.get(id) ?? {};
      missing.set(id, { index, lines: [...lines, call.line] });
    }
  }
  return missing;
}

function nodeOf(call: CallBlock, cycle: string | undefined): GraphNode {
  const state = call.parseError !== undefined ? "broken" : cycle !== undefined ? "cycle" : "ok";
  return { id: call.invocationId, gadgetName: call.gadgetName, state };
}

function problemsOf(
  calls: readonly CallBlock[],
  { cycles, missing }: {
    readonly cycles: readonly (string | undefined)[];
    readonly missing: ReadonlyMap<string, Missing>;
  },
): GraphProblem[] {
  const unreadable = calls.flatMap(({ line, parseError = "" }) =>
    parseError.split("\n").filter((message) => message !== "").map((message) => ({ line, message }))
  );
  const cyclic = calls.flatMap(({ line, invocationId }, index) =>
    cycles[index] === undefined
      ? []
      : [{ line, message: `"${invocationId}" is on a cycle: ${cycles[index]}` }]
  );
  const uncalled = [...missing].flatMap(([id, { lines }]) =>
    lines.map((line) => ({ line, message: `depends on "${id}", which is never called` }))
  );
  return [...unreadable, ...cyclic, ...uncalled].sort((a, b) => a.line - b.line);
}
