/**
 * A transportation problem: supplies of sources, capacities of sinks,
 * capacities of edges.
 */
export interface Transport {
  readonly supply: Float64Array;
  readonly capacity: Float64Array;
  /** Capacity from one source to one sink. */
  readonly edge: (source: number, sink: number) => number;
}

/** The total amount that can flow from sources to sinks. */
export function maxFlow(transport: Transport): number {
  const flow = new MaxFlow(transport);
  flow.sendDirect();
  while (flow.augment());
  return flow.value;
}

/** Bytes; smaller remainders count as 0. */
const EPSILON = 1e-3;
const NONE = -1;
/** Marks the first source of a path. */
const START = -2;

/** Edmonds-Karp: augments along shortest paths. */
class MaxFlow {
  value = 0;
  readonly #sinks: number;
  readonly #supply: Float64Array;
  readonly #capacity: Float64Array;
  /** Flow and residual capacity of each edge, at `source * sinks + sink`. */
  readonly #flow: Float64Array;
  readonly #residual: Float64Array;
  /** Predecessor of each node in the current search. */
  readonly #toSink: Int32Array;
  readonly #toSource: Int32Array;

  constructor({ supply, capacity, edge }: Transport) {
    this.#sinks = capacity.length;
    this.#supply = supply.slice();
    this.#capacity = capacity.slice();
    this.#flow = new Float64Array(supply.length * this.#sinks);
    this.#residual = this.#flow.map((_, at) =>
      edge(Math.floor(at / this.#sinks), at % this.#sinks),
    );
    this.#toSink = new Int32Array(this.#sinks);
    this.#toSource = new Int32Array(supply.length);
  }

  sendDirect(): void {
    for (let source = 0; source < this.#supply.length; source++)
      for (let sink = 0; sink < this.#sinks; sink++) {
        const limit = Math.min(this.#supply[source]!, this.#capacity[sink]!);
        const spare = this.#residual[source * this.#sinks + sink]!;
        const amount = Math.min(limit, spare);
        if (amount > 0) this.#send([source, sink], amount);
      }
  }

  /** @returns false: the flow is maximal */
  augment(): boolean {
    const last = this.#findAugmentingPath();
    if (last === NONE) return false;
    const path = this.#pathTo(last);
    this.#send(path, this.#bottleneckOf(path));
    return true;
  }

  /** @returns the nearest sink with capacity left */
  #findAugmentingPath(): number {
    this.#toSink.fill(NONE);
    const queue: number[] = [];
    for (const [source, amount] of this.#supply.entries()) {
      this.#toSource[source] = amount > EPSILON ? START : NONE;
      if (amount > EPSILON) queue.push(source);
    }
    // The queue grows during iteration.
    for (const source of queue)
      for (let sink = 0; sink < this.#sinks; sink++) {
        if (this.#toSink[sink] !== NONE) continue;
        if (this.#residual[source * this.#sinks + sink]! <= EPSILON) continue;
        this.#toSink[sink] = source;
        if (this.#capacity[sink]! > EPSILON) return sink;
        queue.push(...this.#reroutableSources(sink));
      }
    return NONE;
  }

  #reroutableSources(sink: number): number[] {
    const found: number[] = [];
    for (let source = 0; source < this.#toSource.length; source++) {
      if (this.#toSource[source] !== NONE) continue;
      if (this.#flow[source * this.#sinks + sink]! <= EPSILON) continue;
      this.#toSource[source] = sink;
      found.push(source);
    }
    return found;
  }

  /**
   * The path alternates: source, sink, source that is rerouted from that sink,
   * ..., sink.
   */
  #pathTo(last: number): number[] {
    const path: number[] = [];
    for (let sink = last; sink !== START;) {
      const source = this.#toSink[sink]!;
      path.push(sink, source);
      sink = this.#toSource[source]!;
    }
    return path.reverse();
  }

  #bottleneckOf(path: readonly number[]): number {
    let amount = Math.min(
      this.#supply[path[0]!]!,
      this.#capacity[path.at(-1)!]!,
    );
    for (let at = 0; at + 1 < path.length; at++) {
      const isForward = at % 2 === 0;
      const by = isForward ? this.#residual : this.#flow;
      amount = Math.min(amount, by[this.#edgeAt(path, at)]!);
    }
    return amount;
  }

  #send(path: readonly number[], amount: number): void {
    for (let at = 0; at + 1 < path.length; at++) {
      const by = at % 2 === 0 ? amount : -amount;
      this.#flow[this.#edgeAt(path, at)]! += by;
      this.#residual[this.#edgeAt(path, at)]! -= by;
    }
    this.#supply[path[0]!]! -= amount;
    this.#capacity[path.at(-1)!]! -= amount;
    this.value += amount;
  }

  /** Edge between positions `at` and `at + 1` of a path. */
  #edgeAt(path: readonly number[], at: number): number {
    const isForward = at % 2 === 0;
    const source = path[isForward ? at : at + 1]!;
    return source * this.#sinks + path[isForward ? at + 1 : at]!;
  }
}
