// Finds the heaviest closed set of transactions (closed: it has the parents of all its members) by minimum cut: a source feeds
// transactions of positive weight, those of negative weight drain into a sink, and each transaction is connected to its parents without
// a limit. Weights are integers of any size, so that rounding never makes different sets equal.

/** Transactions by their index, with the indexes of their parents. */
export interface WeightedGraph {
  readonly weights: readonly bigint[];
  readonly parents: readonly (readonly number[])[];
}

export interface Closure {
  /** The heaviest closed set, if its weight is above 0; undefined: there is none. */
  readonly heaviest: ReadonlySet<number> | undefined;
  /** If there is none, and all together weigh 0: the smallest parts of weight 0 that closed sets of weight 0 consist of. */
  readonly balanced: readonly (readonly number[])[];
}

/** Edges of the network: each is followed by its reverse. */
class Network {
  readonly #edges: number[][];
  readonly #target: number[] = [];
  readonly #capacity: bigint[] = [];
  #levels: Int32Array;
  #next: Int32Array;

  constructor(nodes: number) {
    this.#edges = Array.from({ length: nodes }, () => []);
    this.#levels = new Int32Array(nodes);
    this.#next = new Int32Array(nodes);
  }

  connect(from: number, to: number, capacity: bigint): void {
    this.#edgesOf(from).push(this.#target.length);
    this.#target.push(to);
    this.#capacity.push(capacity);
    this.#edgesOf(to).push(this.#target.length);
    this.#target.push(from);
    this.#capacity.push(0n);
  }

  /** Sends as much as possible from the source to the sink (Dinic's algorithm). */
  saturate(source: number, sink: number, most: bigint): void {
    while (this.#measure(source, sink)) {
      this.#next.fill(0);
      while (this.#send(source, sink, most) > 0n);
    }
  }

  /** The nodes to which more could be sent from a node, over one edge. */
  reachableFrom(node: number): number[] {
    return this.#edgesOf(node)
      .filter((edge) => this.#isOpen(edge))
      .map((edge) => this.#targetOf(edge));
  }

  /** All nodes to which more could be sent, and `start`. */
  allReachableFrom(start: number): Set<number> {
    const found = new Set([start]);
    for (const node of found) for (const next of this.reachableFrom(node)) found.add(next);
    return found;
  }

  /** Measures the steps from the source to each node; false when nothing more gets to the sink. */
  #measure(source: number, sink: number): boolean {
    this.#levels.fill(-1);
    this.#levels[source] = 0;
    const queue = [source];
    for (const node of queue)
      for (const next of this.reachableFrom(node)) {
        if (this.#levels[next] !== -1) continue;
        this.#levels[next] = this.#levelOf(node) + 1;
        queue.push(next);
      }
    return this.#levels[sink] !== -1;
  }

  #send(node: number, sink: number, most: bigint): bigint {
    if (node === sink) return most;
    const edges = this.#edgesOf(node);
    for (let at = this.#next[node] as number; at < edges.length; at++, this.#next[node] = at) {
      const edge = edges[at] as number; // at < length
      const next = this.#targetOf(edge);
      if (!this.#isOpen(edge) || this.#levels[next] !== this.#levelOf(node) + 1) continue;
      const capacity = this.#capacity[edge] as bigint; // one for each edge
      const sent = this.#send(next, sink, capacity < most ? capacity : most);
      if (sent === 0n) continue;
      this.#capacity[edge] = capacity - sent;
      this.#capacity[edge ^ 1] = (this.#capacity[edge ^ 1] as bigint) + sent; // its reverse
      return sent;
    }
    return 0n;
  }

  #isOpen(edge: number): boolean {
    return (this.#capacity[edge] as bigint) > 0n; // one for each edge
  }

  #targetOf(edge: number): number {
    return this.#target[edge] as number; // one for each edge
  }

  #edgesOf(node: number): number[] {
    return this.#edges[node] as number[]; // a list for each node
  }

  #levelOf(node: number): number {
    return this.#levels[node] as number; // one for each node
  }
}

/** Looks for the heaviest closure. It recurses, and is meant for some dozens of transactions. */
export function findClosure({ weights, parents }: WeightedGraph): Closure {
  const count = weights.length;
  const [source, sink] = [count, count + 1];
  const network = new Network(count + 2);
  let supply = 0n;
  weights.forEach((weight, node) => {
    if (weight > 0n) {
      network.connect(source, node, weight);
      supply += weight;
    } else if (weight < 0n) network.connect(node, sink, -weight);
  });
  // More than could ever flow.
  parents.forEach((list, node) => {
    for (const parent of list) network.connect(node, parent, supply + 1n);
  });
  network.saturate(source, sink, supply + 1n);
  const heaviest = network.allReachableFrom(source);
  heaviest.delete(source);
  if (heaviest.size > 0) return { heaviest, balanced: [] };
  return { heaviest: undefined, balanced: components(count, (node) => network.reachableFrom(node).filter((next) => next < count)) };
}

/** The strongly connected components (Tarjan's algorithm). */
function components(count: number, nextOf: (node: number) => readonly number[]): number[][] {
  const found: number[][] = [];
  const order = new Map<number, number>();
  const open: number[] = [];
  const isOpen = new Set<number>();
  const visit = (node: number): number => {
    const own = order.size;
    let low = own;
    order.set(node, own);
    open.push(node);
    isOpen.add(node);
    for (const next of nextOf(node)) {
      const seen = order.get(next);
      if (seen === undefined) low = Math.min(low, visit(next));
      else if (isOpen.has(next)) low = Math.min(low, seen);
    }
    if (low === own) {
      const component = open.splice(open.lastIndexOf(node));
      for (const member of component) isOpen.delete(member);
      found.push(component);
    }
    return low;
  };
  for (let node = 0; node < count; node++) if (!order.has(node)) visit(node);
  return found;
}
