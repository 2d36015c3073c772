// Draws graphs for graph_picture_test.ts, in a process of its own that can be ended: one JSON text a line on stdin, one on stdout.

import { cellWidth } from "../lib/render/cells.ts";
import type { CallGraph } from "../lib/render/graph/graph.ts";
import { graphPicture, graphSvg } from "../lib/render/graph/picture.ts";

/** A graph to be drawn. */
export interface DrawRequest {
  readonly graph: CallGraph;
  readonly format: "text" | "svg";
  readonly columns: number;
}

/** What came of it. */
export interface Drawn {
  readonly ms: number;
  readonly picture?: string;
  /** Of the widest line. */
  readonly cells: number;
  readonly error?: string;
}

async function drawn({ graph, format, columns }: DrawRequest): Promise<Drawn> {
  const begunAt = performance.now();
  try {
    const picture = format === "svg" ? await graphSvg(graph) : await graphPicture(graph, { columns });
    const cells = Math.max(0, ...(picture ?? "").split("\n").map(cellWidth));
    return { ms: performance.now() - begunAt, cells, ...(picture === undefined ? {} : { picture }) };
  } catch (error) {
    return { ms: performance.now() - begunAt, cells: 0, error: String(error) };
  }
}

async function answer(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(await drawn(JSON.parse(line)))}\n`));
}

if (import.meta.main) {
  let rest = "";
  for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) await answer(line);
  }
}
