/// <reference lib="dom" />
// The graph of a run while it fills: calls in columns by how many others they wait for, as the events tell of them.
import { callDepths, dependenciesOf, type RunRow, type RunRows } from "../render/rows.ts";
import { svg } from "./dom.ts";
import type { RunState } from "./run_state.ts";

/** More would be no picture any more: the list below has them all. */
const MAX_CALLS = 150;

const WIDTH = 148;
const HEIGHT = 38;
const GAP_X = 46;
const GAP_Y = 12;
const PAD = 6;
const MAX_CHARACTERS = 18;

/** A wide picture is made as small as this before it has to be scrolled. */
const LEAST_SCALE = 0.7;

interface Box {
  readonly group: SVGGElement;
  readonly x: number;
  readonly y: number;
  state: RunRow["state"] | undefined;
}

/** The calls of a run as a picture. */
export class GraphView {
  readonly #root: HTMLElement;
  readonly #boxes = new Map<RunRow, Box>();

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  update({ rows }: RunState): void {
    const { length } = rows.calls;
    const isDrawn = length > 0 && length <= MAX_CALLS;
    this.#root.hidden = !isDrawn;
    if (!isDrawn) return;
    if (length !== this.#boxes.size) this.#draw(rows);
    for (const [call, box] of this.#boxes) {
      const state = rows.stateOf(call);
      if (box.state === state) continue;
      box.state = state;
      box.group.setAttribute("data-state", state);
    }
  }

  #draw(all: RunRows): void {
    this.#boxes.clear();
    const depths = callDepths(all);
    const rows: number[] = [];
    for (const call of all.calls) {
      const column = depths.get(call) ?? 0;
      const row = rows[column] ?? 0;
      rows[column] = row + 1;
      const [x, y] = [PAD + column * (WIDTH + GAP_X), PAD + row * (HEIGHT + GAP_Y)];
      this.#boxes.set(call, { group: boxOf(call, x, y), x, y, state: undefined });
    }
    const width = 2 * PAD + rows.length * (WIDTH + GAP_X) - GAP_X;
    const height = 2 * PAD + Math.max(...rows.map((count) => count ?? 0)) * (HEIGHT + GAP_Y) - GAP_Y;
    const picture = svg(
      "svg",
      { class: "call-graph", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      ...this.#edges(all),
      ...[...this.#boxes.values()].map(({ group }) => group),
    );
    picture.style.minWidth = `${Math.round(width * LEAST_SCALE)}px`;
    this.#root.replaceChildren(picture);
  }

  #edges(rows: RunRows): readonly SVGPathElement[] {
    return [...this.#boxes].flatMap(([call, to]) =>
      dependenciesOf(call, rows).flatMap((dependency) => {
        const from = this.#boxes.get(dependency);
        return from === undefined ? [] : [edge(from, to)];
      })
    );
  }
}

function boxOf({ call, name }: RunRow, x: number, y: number): SVGGElement {
  const middle = x + 10;
  const id = call?.id ?? "";
  return svg(
    "g",
    { class: "call" },
    svg("title", {}, `${id}: ${name}`),
    svg("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 5 }),
    svg("text", { x: middle, y: y + 16 }, short(id)),
    svg("text", { x: middle, y: y + 30, class: "gadget" }, short(name)),
  );
}

function edge(from: Box, to: Box): SVGPathElement {
  const [x1, y1] = [from.x + WIDTH, from.y + HEIGHT / 2];
  const [x2, y2] = [to.x, to.y + HEIGHT / 2];
  const bend = GAP_X / 2;
  return svg("path", { class: "edge", d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` });
}

function short(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS - 1)}\u2026`;
}
