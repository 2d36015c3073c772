import type { CallGraph } from "./graph.ts";
import { markOf, secondOf } from "./mermaid.ts";
import { printableLine } from "../shown_text.ts";
import { table } from "../cells.ts";

/** What an operation does, in words. */
export interface OperationRow {
  readonly line: number;
  readonly name: string;
  readonly does: readonly string[];
  /** Its node in the graph. */
  readonly index: number;
}

interface Twig {
  readonly text: string;
  readonly below: readonly Twig[];
}

/** Files below files are shown so deep. */
const MAX_DEPTH = 8;

/** A document for a terminal: its operations along a rail, the files that each uses below it, with those that they use. */
export function documentRail(
  title: string,
  { graph, rows }: { readonly graph: CallGraph; readonly rows: readonly OperationRow[] },
): string {
  const below = Map.groupBy(
    graph.edges.filter(({ to }) => graph.nodes[to]?.shape === "file"),
    ({ from }) => from,
  );
  const shown = new Set<number>();
  const filesOf = (node: number, depth: number): readonly Twig[] =>
    (below.get(node) ?? []).flatMap(({ to, label = "" }) => {
      const file = graph.nodes[to];
      if (file === undefined) return [];
      const isAgain = shown.has(to) || depth >= MAX_DEPTH;
      shown.add(to);
      const words = [label, markOf(file) + file.id, `(${secondOf(file)}${isAgain ? ", as above" : ""})`];
      return [{ text: words.map(printableLine).join(" "), below: isAgain ? [] : filesOf(to, depth + 1) }];
    });
  const lines = table(
    rows.map(({ line, name, does }) => [String(line), `@${name}`, printableLine(does.join("; "))]),
  );
  const twigs = rows.map(({ index }, at): Twig => ({ text: lines[at] ?? "", below: filesOf(index, 0) }));
  return [printableLine(title), ...twigLines(twigs)].map((line) => `${line}\n`).join("");
}

function twigLines(twigs: readonly Twig[]): readonly string[] {
  return twigs.flatMap(({ text, below }, index) => {
    const isLast = index === twigs.length - 1;
    const rest = isLast ? "   " : "\u2502  ";
    return [
      `${isLast ? "\u2514\u2500" : "\u251c\u2500"} ${text}`,
      ...twigLines(below).map((line) => `${rest}${line}`),
    ];
  });
}
