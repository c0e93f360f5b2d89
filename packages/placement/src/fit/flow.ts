/** Amounts at sources that are to go to sinks, each over edges that there are, each sink taking so much. */
export interface Transport {
  readonly supply: Float64Array;
  readonly capacity: Float64Array;
  /** How much can go from one source to one sink. */
  readonly edge: (source: number, sink: number) => number;
}

/** How much of all supply arrives at most. */
export function mostArriving(transport: Transport): number {
  const flow = new Flow(transport);
  flow.sendDirectly();
  while (flow.sendRound());
  return flow.arrived;
}

/** A byte's worth of what is left is nothing. */
const LEAST = 1e-3;
const NONE = -1;
/** Before the first source of a path. */
const START = -2;

/** A greatest flow, by shortest paths along which more can still be sent. */
class Flow {
  arrived = 0;
  readonly #sinks: number;
  readonly #waiting: Float64Array;
  readonly #open: Float64Array;
  /** `source * sinks + sink`: what goes, and what can still go. */
  readonly #sent: Float64Array;
  readonly #spare: Float64Array;
  /** On the way of a search: where each node was come to from. */
  readonly #toSink: Int32Array;
  readonly #toSource: Int32Array;

  constructor({ supply, capacity, edge }: Transport) {
    this.#sinks = capacity.length;
    this.#waiting = supply.slice();
    this.#open = capacity.slice();
    this.#sent = new Float64Array(supply.length * this.#sinks);
    this.#spare = this.#sent.map((_, at) =>
      edge(Math.floor(at / this.#sinks), at % this.#sinks),
    );
    this.#toSink = new Int32Array(this.#sinks);
    this.#toSource = new Int32Array(supply.length);
  }

  sendDirectly(): void {
    for (let source = 0; source < this.#waiting.length; source++)
      for (let sink = 0; sink < this.#sinks; sink++) {
        const limit = Math.min(this.#waiting[source]!, this.#open[sink]!);
        const spare = this.#spare[source * this.#sinks + sink]!;
        const amount = Math.min(limit, spare);
        if (amount > 0) this.#send([source, sink], amount);
      }
  }

  /** @returns false: nothing more can be sent, not even where others take another way */
  sendRound(): boolean {
    const last = this.#search();
    if (last === NONE) return false;
    const path = this.#pathTo(last);
    this.#send(path, this.#narrowest(path));
    return true;
  }

  /** @returns the nearest sink that something can still go to */
  #search(): number {
    this.#toSink.fill(NONE);
    const queue: number[] = [];
    for (const [source, amount] of this.#waiting.entries()) {
      this.#toSource[source] = amount > LEAST ? START : NONE;
      if (amount > LEAST) queue.push(source);
    }
    // The list grows on the way.
    for (const source of queue)
      for (let sink = 0; sink < this.#sinks; sink++) {
        if (this.#toSink[sink] !== NONE) continue;
        if (this.#spare[source * this.#sinks + sink]! <= LEAST) continue;
        this.#toSink[sink] = source;
        if (this.#open[sink]! > LEAST) return sink;
        queue.push(...this.#whoCanGoElsewhere(sink));
      }
    return NONE;
  }

  #whoCanGoElsewhere(sink: number): number[] {
    const found: number[] = [];
    for (let source = 0; source < this.#toSource.length; source++) {
      if (this.#toSource[source] !== NONE) continue;
      if (this.#sent[source * this.#sinks + sink]! <= LEAST) continue;
      this.#toSource[source] = sink;
      found.push(source);
    }
    return found;
  }

  /** Source, sink that it goes to, source that leaves that sink, ..., sink. */
  #pathTo(last: number): number[] {
    const path: number[] = [];
    for (let sink = last; sink !== START;) {
      const source = this.#toSink[sink]!;
      path.push(sink, source);
      sink = this.#toSource[source]!;
    }
    return path.reverse();
  }

  #narrowest(path: readonly number[]): number {
    let amount = Math.min(this.#waiting[path[0]!]!, this.#open[path.at(-1)!]!);
    for (let at = 0; at + 1 < path.length; at++) {
      const isThere = at % 2 === 0;
      const by = isThere ? this.#spare : this.#sent;
      amount = Math.min(amount, by[this.#edgeAt(path, at)]!);
    }
    return amount;
  }

  #send(path: readonly number[], amount: number): void {
    for (let at = 0; at + 1 < path.length; at++) {
      const by = at % 2 === 0 ? amount : -amount;
      this.#sent[this.#edgeAt(path, at)]! += by;
      this.#spare[this.#edgeAt(path, at)]! -= by;
    }
    this.#waiting[path[0]!]! -= amount;
    this.#open[path.at(-1)!]! -= amount;
    this.arrived += amount;
  }

  /** Edge between two neighbours of a path. */
  #edgeAt(path: readonly number[], at: number): number {
    const isThere = at % 2 === 0;
    const source = path[isThere ? at : at + 1]!;
    return source * this.#sinks + path[isThere ? at + 1 : at]!;
  }
}
