// Tarjan's strongly connected components, without recursion so that a chain of 100,000 nodes does not overflow the stack.
// For every node on a cycle: a way round through the node its component was found by. One walk towards that root and one
// from it give a closed walk for each node in O(V + E) for all; loops inside a walk are cut out.

/** A graph by index: `edges[i]` are the nodes that node `i` depends on. */
export type Edges = readonly (readonly number[])[];

/** How many nodes of a cycle are listed before the middle is left out. */
const MAX_LISTED = 12;

/**
 * The cycle each node is on, as `a -> b -> a` beginning with the node itself; undefined for a node on none.
 * Long cycles keep their first and last nodes. Cost: O(V + E).
 */
export function cyclesOf(edges: Edges, name: (node: number) => string): (string | undefined)[] {
  const component = components(edges);
  const out: (string | undefined)[] = new Array(edges.length).fill(undefined);
  for (const members of membersOf(component)) {
    const [root] = members;
    if (root === undefined || (members.length === 1 && !edges[root]?.includes(root))) continue;
    const next = (node: number): number[] =>
      (edges[node] ?? []).filter((other) => component[other] === component[root]);
    const back = new Map(members.map((node): [number, number[]] => [node, []]));
    for (const node of members) for (const other of next(node)) back.get(other)?.push(node);
    const fromRoot = walkTree(root, next);
    const toRoot = walkTree(root, (node) => back.get(node) ?? []);
    toRoot.set(root, next(root)[0] ?? root);
    for (const node of members) {
      const walk = edges[node]?.includes(node) ? [node, node] : closedWalk(node, root, { fromRoot, toRoot });
      out[node] = walk.map((one) => one === undefined ? "\u2026" : name(one)).join(" -> ");
    }
  }
  return out;
}

/** How far each node of a component is from its root, step by step. */
interface Walks {
  /** The node before, on a shortest way from the root. */
  readonly fromRoot: ReadonlyMap<number, number>;
  /** The node after, on a shortest way to the root, and for the root on a way round. */
  readonly toRoot: ReadonlyMap<number, number>;
}

/** From the node to the root, and from there back to the node; undefined stands for what is left out. */
function closedWalk(
  node: number,
  root: number,
  { fromRoot, toRoot }: Walks,
): readonly (number | undefined)[] {
  const there = follow(node, root, toRoot);
  const home = node === root ? [root] : follow(node, root, fromRoot).reverse();
  return there.at(-1) === root && home[0] === root
    ? cutLoops([...there, ...home.slice(1)])
    : [...there.slice(0, MAX_LISTED / 2), undefined, ...home.slice(-MAX_LISTED / 2)];
}

/** At least one step from the node, until the goal or until there is too much to list. */
function follow(start: number, goal: number, next: ReadonlyMap<number, number>): number[] {
  const walk = [start];
  for (
    let node = next.get(start);
    node !== undefined && walk.length < MAX_LISTED;
    node = node === goal ? undefined : next.get(node)
  ) walk.push(node);
  return walk;
}

/** A closed walk without its inner loops; its first and last node are the same. */
function cutLoops(walk: readonly number[]): readonly number[] {
  const [first] = walk;
  const out: number[] = [];
  for (const node of walk.slice(0, -1)) {
    const seen = out.indexOf(node);
    if (seen >= 0) out.length = seen;
    out.push(node);
  }
  return first === undefined ? out : [...out, first];
}

/** Breadth first from the root; for each node reached, the node it was reached from. The root itself has none. */
function walkTree(root: number, next: (node: number) => readonly number[]): Map<number, number> {
  const parent = new Map<number, number>();
  const queue = [root];
  for (const node of queue) {
    for (const other of next(node)) {
      if (other === root || parent.has(other)) continue;
      parent.set(other, node);
      queue.push(other);
    }
  }
  return parent;
}

function membersOf(component: readonly number[]): number[][] {
  const members: number[][] = [];
  component.forEach((id, node) => (members[id] ??= []).push(node));
  return members;
}

/** The number of the strongly connected component of every node. */
function components(edges: Edges): number[] {
  const count = edges.length;
  const order: number[] = new Array(count).fill(-1);
  const low: number[] = new Array(count).fill(0);
  const component: number[] = new Array(count).fill(-1);
  const open: number[] = [];
  let visited = 0;
  let found = 0;
  for (let start = 0; start < count; start++) {
    if (order[start] !== -1) continue;
    const path: { readonly node: number; next: number }[] = [];
    const visit = (node: number): void => {
      order[node] = low[node] = visited++;
      open.push(node);
      path.push({ node, next: 0 });
    };
    visit(start);
    for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
      const { node } = frame;
      const other = edges[node]?.[frame.next++];
      if (other !== undefined) {
        if (order[other] === -1) visit(other);
        else if (component[other] === -1) low[node] = Math.min(low[node] ?? 0, order[other] ?? 0);
        continue;
      }
      path.pop();
      const above = path.at(-1)?.node;
      if (above !== undefined) low[above] = Math.min(low[above] ?? 0, low[node] ?? 0);
      if (low[node] !== order[node]) continue;
      for (let member = open.pop(); member !== undefined; member = open.pop()) {
        component[member] = found;
        if (member === node) break;
      }
      found++;
    }
  }
  return component;
}
