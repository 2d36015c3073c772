/// <reference lib="dom" />
// The graph of a run while it fills: calls in columns by how many others they wait for, as the events tell of them.
import { callDepths, idOf, type LiveCall } from "../render/live/state.ts";
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
  state: LiveCall["state"] | undefined;
}

/** The calls of a run as a picture. */
export class GraphView {
  readonly #root: HTMLElement;
  readonly #boxes = new Map<LiveCall, Box>();

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  update(state: RunState): void {
    const { calls } = state.live;
    const isDrawn = calls.size > 0 && calls.size <= MAX_CALLS;
    this.#root.hidden = !isDrawn;
    if (!isDrawn) return;
    if (calls.size !== this.#boxes.size) this.#draw(state);
    for (const [call, box] of this.#boxes) {
      if (box.state === call.state) continue;
      box.state = call.state;
      box.group.setAttribute("data-state", call.state);
    }
  }

  #draw(state: RunState): void {
    this.#boxes.clear();
    const depths = callDepths(state.live);
    const rows: number[] = [];
    for (const call of state.live.calls.values()) {
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
      ...this.#edges(state),
      ...[...this.#boxes.values()].map(({ group }) => group),
    );
    picture.style.minWidth = `${Math.round(width * LEAST_SCALE)}px`;
    this.#root.replaceChildren(picture);
  }

  #edges(state: RunState): readonly SVGPathElement[] {
    return [...this.#boxes].flatMap(([call, to]) =>
      call.dependencies.flatMap((id) => {
        const dependency = state.live.byId.get(idOf(call.step, id));
        const from = dependency && this.#boxes.get(dependency);
        return from === undefined ? [] : [edge(from, to)];
      })
    );
  }
}

function boxOf({ invocationId, gadgetName }: LiveCall, x: number, y: number): SVGGElement {
  const middle = x + 10;
  return svg(
    "g",
    { class: "call" },
    svg("title", {}, `${invocationId}: ${gadgetName}`),
    svg("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 5 }),
    svg("text", { x: middle, y: y + 16 }, short(invocationId)),
    svg("text", { x: middle, y: y + 30, class: "gadget" }, short(gadgetName)),
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
