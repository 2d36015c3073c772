// Pictures of graphs: whatever the graph is, a picture or a message comes at once. The layout of the library does not come to an end for
// every graph, so all of this happens in processes that can be ended.
import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import { acyclicGraph, type CallGraph } from "../../lib/render/graph/graph.ts";
import { leastWidth, orderedGraph } from "../../lib/render/graph/text.ts";
import type { Drawn, DrawRequest } from "../_draw_graphs.ts";
import { testProject } from "../_project.ts";
import { PROJECT_ROOT, runProgram } from "../_run.ts";

/** A call file: each call with what it waits for. */
const callsOf = (calls: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(calls).map(([id, waits]) =>
    `!!!GADGET_START:Now:${id}${waits.length === 0 ? "" : `:${waits.join(",")}`}\n!!!GADGET_END\n`
  ).join("");

/** Every mistake of the layout takes for ever, a picture some hundred milliseconds: room for a machine that does other things too. */
const AT_ONCE = { timeoutMs: 20_000 };

Deno.test("graph: calls that wait for calls below them are drawn", async () => {
  await using project = await testProject({
    "in.calls": callsOf({ a: ["b", "c"], b: [], c: [] }),
    "out.calls": callsOf({ a: ["c"], b: ["c"], c: [] }),
    "gone.calls": callsOf({ a: ["x", "y"], b: ["x"] }),
    "mixed.calls": callsOf({ d: ["a", "b", "c"], b: ["a"], c: ["a", "b"], a: [], e: ["d", "a"] }),
  });
  for (const file of ["in", "out", "gone", "mixed"]) {
    const { code, stdout } = await project.run(["graph", `${file}.calls`], AT_ONCE);
    assert.equal(code, 0);
    assert.match(stdout, /┌/, `${file}: ${stdout}`);
  }
  const { stdout } = await project.run(["graph", "in.calls"], AT_ONCE);
  const [picture = "", list = ""] = stdout.split("\n\n");
  const rowOf = (id: string) => picture.split("\n").findIndex((line) => line.includes(` ${id} `));
  assert.ok(rowOf("b") >= 0 && rowOf("b") < rowOf("a"), `what is waited for stands above:\n${picture}`);
  assert.equal(list, "a  Now  ← b, c\nb  Now\nc  Now\n", "the list has the order of the file");
});

Deno.test("graph: what is too much for a picture is a list, and stderr says what draws it", async () => {
  const names = Array.from({ length: 41 }, (_, i) => `c${i}`);
  const chainOf = (size: number) =>
    Object.fromEntries(names.slice(0, size).map((id, i) => [id, names.slice(i - 1, i)]));
  const dense = names.slice(0, 30).map((id, i) => [id, i < 15 ? [] : names.slice(0, 15)] as const);
  await using project = await testProject({
    "many.calls": callsOf(Object.fromEntries(names.map((id) => [id, []]))),
    "deep.calls": callsOf(chainOf(25)),
    "dense.calls": callsOf(Object.fromEntries(dense)),
    "wide.calls": callsOf(Object.fromEntries(names.slice(0, 39).map((id) => [`${id}_with_a_long_name`, []]))),
    "huge.calls": callsOf(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`c${i}`, []]))),
    "deepest.calls": callsOf(chainOf(24)),
    "one.calls": callsOf({ a: [] }),
  });
  const none = "notice: no picture as text: it";
  const both = "--format svg or --format mermaid draws them\n";
  const told: Readonly<Record<string, string>> = {
    many: `${none} shows at most 40 calls, these are 41; ${both}`,
    deep: `${none} shows at most 24 calls below each other, these are 25; ${both}`,
    dense: `${none} shows at most 120 lines between calls, these have 225; ${both}`,
    wide: `${none} does not fit in 160 columns; ${both}`,
    huge: `${none} shows at most 40 calls, these are 200; --format mermaid draws them\n`,
    deepest: "",
    one: "",
  };
  for (const [file, notice] of Object.entries(told)) {
    const { code, stdout, stderr } = await project.run(["graph", `${file}.calls`], AT_ONCE);
    assert.deepEqual([code, stderr], [0, notice], file);
    assert.equal(stdout.includes("┌"), notice === "", file);
    assert.match(stdout, file === "one" ? /^a {2}Now$/m : /^c23/m, "the list is there");
  }
});

/** Any graph of calls, cycles too; `isSorted`: each waits for those above it only. */
function graphs(
  { maxNodes, maxEdges, isSorted = false }: {
    readonly maxNodes: number;
    readonly maxEdges: number;
    readonly isSorted?: boolean;
  },
): fc.Arbitrary<CallGraph> {
  const name = fc.oneof(
    fc.stringMatching(/^[a-z]{1,8}$/),
    fc.constant("名前"),
    fc.stringMatching(/^[a-z]{60}$/),
  );
  return fc.tuple(fc.integer({ min: 1, max: maxNodes }), name).chain(([size, id]) =>
    fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: maxEdges }).map((pairs) => ({
      nodes: Array.from({ length: size }, (_, i) => ({ id: `${id}${i}`, gadgetName: "Now", state: "ok" })),
      edges: pairs.map(([from, to]) => ({
        ...isSorted ? { from: Math.min(from, to), to: Math.max(from, to) } : { from, to },
        isCyclic: from === to,
      })),
    }))
  );
}

/** Draws them in a process that is ended when one takes too long. */
async function drawAll(requests: readonly DrawRequest[]): Promise<readonly Drawn[]> {
  const { stdout, stderr } = await runProgram([
    Deno.execPath(),
    "run",
    "-A",
    "--quiet",
    "--config",
    join(PROJECT_ROOT, "deno.json"),
    join(PROJECT_ROOT, "tests/_draw_graphs.ts"),
  ], { stdin: requests.map((request) => `${JSON.stringify(request)}\n`).join(""), timeoutMs: 120_000 });
  const drawn: readonly Drawn[] = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(drawn.length, requests.length, stderr);
  return drawn;
}

const RUNS = 60;

Deno.test("graph: any graph of up to 40 calls comes to an end as text, and is drawn where it is small", async () => {
  const some = [
    ...fc.sample(graphs({ maxNodes: 40, maxEdges: 60 }), RUNS),
    ...fc.sample(graphs({ maxNodes: 40, maxEdges: 150, isSorted: true }), RUNS),
    ...fc.sample(graphs({ maxNodes: 8, maxEdges: 12 }), RUNS),
  ];
  const drawn = await drawAll(some.map((graph) => ({ graph, format: "text", columns: 300 })));
  for (const [index, { ms, picture, cells, error }] of drawn.entries()) {
    const graph = some[index] ?? assert.fail();
    const about = JSON.stringify(graph);
    assert.equal(error, undefined, about);
    assert.ok(cells <= 300, about);
    if (picture !== undefined) {
      assert.ok(cells >= leastWidth(orderedGraph(acyclicGraph(graph).graph), 3), `it is narrower: ${about}`);
    }
    assert.ok(ms < 10_000, `${ms} ms: ${about}`);
    if (graph.nodes.length <= 8 && (graph.nodes[0]?.id.length ?? 0) < 12) {
      for (const { id } of graph.nodes) assert.ok(picture?.includes(id), `${id}: ${about}\n${picture}`);
    }
  }
});

Deno.test("graph: nothing leads back in what is drawn from top to bottom", () => {
  fc.assert(fc.property(graphs({ maxNodes: 40, maxEdges: 60 }), (given) => {
    const { graph, depth } = acyclicGraph(given);
    assert.ok(depth <= given.nodes.length);
    assert.equal(acyclicGraph(graph).graph.edges.length, graph.edges.length);
  }));
});

Deno.test("graph: in the order of a picture every node stands behind those that lead to it, and a sorted one stays", () => {
  fc.assert(fc.property(graphs({ maxNodes: 20, maxEdges: 60 }), (given) => {
    const { graph } = acyclicGraph(given);
    const ordered = orderedGraph(graph);
    assert.ok(ordered.edges.every(({ from, to }) => from < to));
    const named = ({ nodes, edges }: CallGraph) =>
      edges.map(({ from, to }) => [nodes[from]?.id, nodes[to]?.id]);
    assert.deepEqual(named(ordered), named(graph));
    assert.deepEqual(ordered.nodes.map(({ id }) => id).sort(), graph.nodes.map(({ id }) => id).sort());
  }));
  fc.assert(fc.property(graphs({ maxNodes: 20, maxEdges: 60, isSorted: true }), (given) => {
    const { graph } = acyclicGraph(given);
    assert.deepEqual(orderedGraph(graph), graph);
  }));
});

/** Each waits for the one before it and for three more: the SVG layout of beautiful-mermaid 1.1.3 fails at it. */
const FAILING: CallGraph = {
  nodes: Array.from({ length: 30 }, (_, i) => ({ id: `op${i}`, gadgetName: "x", state: "ok" })),
  edges: Array.from({ length: 29 }, (_, i) => [
    { from: i, to: i + 1, isCyclic: false },
    ...[0, Math.floor((i + 1) / 2), Math.max(0, i - 2)].flatMap((from) =>
      i < 1 || from === i ? [] : [{ from, to: i + 1, isCyclic: false, label: "reads" }]
    ),
  ]).flat(),
};

Deno.test("graph: any graph comes to an end as SVG, with a picture or with what to take instead", async () => {
  const some = [
    FAILING,
    ...fc.sample(graphs({ maxNodes: 40, maxEdges: 60 }), 12),
    ...fc.sample(graphs({ maxNodes: 30, maxEdges: 400 }), 12),
    ...fc.sample(graphs({ maxNodes: 150, maxEdges: 600, isSorted: true }), 12),
  ];
  const drawn = await drawAll(some.map((graph) => ({ graph, format: "svg", columns: 0 })));
  for (const [index, { ms, picture, error }] of drawn.entries()) {
    const about = JSON.stringify(some[index]);
    assert.ok(ms < 10_000, `${ms} ms: ${about}`);
    if (error === undefined) assert.match(picture ?? "", /^<svg/, about);
    else assert.match(error, /: take --format mermaid or --format text$/, about);
  }
});
