// beautiful-mermaid reads labels with regular expressions and decodes no entities, so every character it could stumble over is
// sent through it as one of the private use area, and put back in what it gives. A second one stands for the second cell of a
// wide character.
import { SourceError } from "../../core/core.ts";
import { cellWidth, table } from "../cells.ts";
import { printableLine } from "../shown_text.ts";
import { acyclicGraph, type CallGraph } from "./graph.ts";
import { graphMermaid, markOf, secondOf } from "./mermaid.ts";
import { textGraph, tooWide } from "./text.ts";

const FIRST_STAND_IN = 0xe000;
const MAX_STAND_INS = 6000;
const SECOND_CELL = "\uf8ff";
const UNKNOWN = "?";

/** No window is wider, and what is drawn is copied for every line. */
const MAX_CELLS = 400;

const GAP_CELLS = 3;

/**
 * The graph as boxes and lines; undefined when it is too large, too deep, or wider than `columns`. Edges of a cycle are left out.
 *
 * @param options.tell told why there is none, and what draws it
 */
export async function graphPicture(
  graph: CallGraph,
  options: { readonly columns: number; readonly tell?: (why: string) => void },
): Promise<string | undefined> {
  if (graph.nodes.length === 0) return undefined;
  const columns = Math.min(options.columns, MAX_CELLS);
  const found = textGraph(graph, { columns, gap: GAP_CELLS });
  const picture = "problem" in found ? found : await drawn(found.graph, columns);
  if ("text" in picture) return picture.text;
  const others = svgProblem(graph) === undefined ? "--format svg or --format mermaid" : "--format mermaid";
  options.tell?.(`no picture as text: ${picture.problem}; ${others} draws them`);
  return undefined;
}

async function drawn(
  graph: CallGraph,
  columns: number,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  const { renderMermaidASCII } = await import("beautiful-mermaid");
  const standIns = new StandIns();
  const source = graphMermaid(graph, { label: (text) => standIns.hide(text), withLabels: false });
  const picture = renderMermaidASCII(source, {
    colorMode: "none",
    paddingX: GAP_CELLS,
    paddingY: 2,
    boxBorderPadding: 0,
  });
  const shown = picture.split("\n").map((line) => standIns.show(line, (text) => text).trimEnd());
  return shown.every((line) => cellWidth(line) <= columns) ? { text: shown.join("\n") } : tooWide(columns);
}

const OTHERWISE = "take --format mermaid or --format text";

/** The graph as an SVG that needs nothing from the network. @throws {SourceError} when it is too large, and when the layout fails */
export async function graphSvg(graph: CallGraph): Promise<string> {
  if (graph.nodes.length === 0) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0"></svg>\n`;
  }
  const problem = svgProblem(graph);
  if (problem !== undefined) throw new SourceError(`Cannot draw ${problem}: ${OTHERWISE}`);
  const { renderMermaidSVG } = await import("beautiful-mermaid");
  const standIns = new StandIns();
  const source = graphMermaid(graph, { label: (text) => standIns.hide(text) });
  const svg = await againLater(() => renderMermaidSVG(source)).catch((cause) => {
    const message = `Cannot draw these ${graph.what ?? "calls"} as SVG, the layout failed: ${OTHERWISE}`;
    throw new SourceError(message, { cause });
  });
  // Its style sheet fetches a font from a server; the next font of the list is the system's own.
  const alone = svg.replace(/^\s*@import url\([^\n]*\n/m, "");
  return `${standIns.show(alone, escapeXml).trimEnd()}\n`;
}

const REGISTERED_MS = 20;

/** Its layouts are registered by a timer where a package has a `setTimeout` of its own (Deno 2.6): there the first attempt fails. */
async function againLater<T>(attempt: () => T): Promise<T> {
  try {
    return attempt();
  } catch {
    await new Promise((resolve) => setTimeout(resolve, REGISTERED_MS));
    return attempt();
  }
}

class StandIns {
  readonly #known = new Map<string, string>();
  readonly #characters: string[] = [];

  hide(text: string): string {
    return text.replace(/[^A-Za-z0-9_ .-]/gu, (character) => {
      const standIn = this.#standIn(character);
      return cellWidth(character) === 2 ? standIn + SECOND_CELL : standIn;
    });
  }

  show(text: string, write: (character: string) => string): string {
    return text.replaceAll(SECOND_CELL, "").replace(/[\ue000-\uf8fe]/g, (standIn) => {
      return write(this.#characters[standIn.charCodeAt(0) - FIRST_STAND_IN] ?? UNKNOWN);
    });
  }

  #standIn(character: string): string {
    const known = this.#known.get(character);
    if (known !== undefined) return known;
    if (this.#characters.length >= MAX_STAND_INS) return "_";
    const standIn = String.fromCharCode(FIRST_STAND_IN + this.#characters.length);
    this.#characters.push(character);
    this.#known.set(character, standIn);
    return standIn;
  }
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The layout takes more than its square: 100 nodes are a second, 200 ten. */
const MAX_NODES = 150;

/** Of the lines that pass each row, the squares together: the layout tries their orders. This many take up to two seconds. */
const MAX_TANGLE = 100_000;

/** Why a graph cannot be drawn as SVG in time: the end of a sentence; undefined when it can. */
function svgProblem(graph: CallGraph): string | undefined {
  const { nodes, edges, what = "calls" } = graph;
  if (nodes.length > MAX_NODES) return `${nodes.length} ${what} as SVG, at most ${MAX_NODES}`;
  return tangleOf(graph) > MAX_TANGLE
    ? `${edges.length} lines between ${nodes.length} ${what} as SVG, too many pass each other`
    : undefined;
}

function tangleOf(graph: CallGraph): number {
  const { heights } = acyclicGraph(graph);
  const passing: number[] = [];
  for (const { from, to } of graph.edges) {
    const [low = 0, high = 0] = [heights[from] ?? 0, heights[to] ?? 0].sort((a, b) => a - b);
    for (let row = low; row < high; row++) passing[row] = (passing[row] ?? 0) + 1;
  }
  const squares = passing.reduce((sum, lines) => sum + lines * lines, 0);
  const hasLabels = graph.edges.some(({ label }) => label !== undefined); // which have rows of their own
  return hasLabels ? 2 * squares : squares;
}

/** The graph for a terminal: the picture, when it fits, and below it every call with what it waits for. @param options.tell told why there is no picture */
export async function graphText(
  graph: CallGraph,
  options: { readonly columns: number; readonly tell?: (why: string) => void },
): Promise<string> {
  const picture = await graphPicture(graph, options);
  const list = `${table(rows(graph)).join("\n")}\n`;
  return picture === undefined ? list : `${picture}\n\n${list}`;
}

function rows(graph: CallGraph): string[][] {
  const before: string[][] = graph.nodes.map(() => []);
  for (const { from, to } of graph.edges) before[to]?.push(printableLine(graph.nodes[from]?.id ?? ""));
  return graph.nodes.map((node, index) => {
    const waits = before[index] ?? [];
    const second = secondOf(node);
    return [
      markOf(node) + printableLine(node.id),
      second,
      ...(waits.length === 0 ? [] : [`← ${waits.join(", ")}`]),
    ];
  });
}
