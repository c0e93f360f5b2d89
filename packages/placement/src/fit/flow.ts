/** Amounts at sources that are to go to sinks, each over edges that there are, each sink taking so much. */
export interface Transport {
  readonly supply: Float64Array;
  readonly capacity: Float64Array;
  /** How much can go from one source to one sink. */
  readonly edge: (source: number, sink: number) => number;
}

/**
 * How much of all supply arrives at most: a greatest flow by shortest paths
 * of what may still be added.
 */
export function mostArriving({ supply, capacity, edge }: Transport): number {
  const sources = supply.length;
  const sinks = capacity.length;
  const waiting = supply.slice();
  const open = capacity.slice();
  const flow = new Float64Array(sources * sinks);
  const most = Float64Array.from(flow, (_, at) =>
    edge(Math.floor(at / sinks), at % sinks),
  );
  const residual = (source: number, sink: number) =>
    most[source * sinks + sink]! - flow[source * sinks + sink]!;
  let arrived = 0;
  const send = (source: number, sink: number, amount: number) => {
    flow[source * sinks + sink]! += amount;
  };
  for (let source = 0; source < sources; source++)
    for (let sink = 0; sink < sinks && waiting[source]! > 0; sink++) {
      const limit = Math.min(waiting[source]!, open[sink]!);
      const amount = Math.min(limit, most[source * sinks + sink]!);
      if (!(amount > 0)) continue;
      send(source, sink, amount);
      waiting[source]! -= amount;
      open[sink]! -= amount;
      arrived += amount;
    }
  for (;;) {
    const path = findPath({ waiting, open, flow, residual });
    if (path === undefined) return arrived;
    const { nodes, amount } = path;
    for (let at = 0; at + 1 < nodes.length; at += 2) {
      send(nodes[at]!, nodes[at + 1]!, amount);
      if (at + 2 < nodes.length) send(nodes[at + 2]!, nodes[at + 1]!, -amount);
    }
    waiting[nodes[0]!]! -= amount;
    open[nodes.at(-1)!]! -= amount;
    arrived += amount;
  }
}

interface State {
  readonly waiting: Float64Array;
  readonly open: Float64Array;
  readonly flow: Float64Array;
  readonly residual: (source: number, sink: number) => number;
}

/** A byte's worth of what is left is nothing. */
const LEAST = 1e-3;

/** Source, sink, source, ..., sink; and what can go all the way. */
function findPath(state: State) {
  const { waiting, open, flow, residual } = state;
  const sinks = open.length;
  const fromSource = new Int32Array(sinks).fill(-1);
  const fromSink = new Int32Array(waiting.length).fill(-1);
  const queue: number[] = [];
  for (const [source, amount] of waiting.entries())
    if (amount > LEAST) {
      fromSink[source] = -2;
      queue.push(source);
    }
  // The list grows on the way.
  for (const source of queue) {
    for (let sink = 0; sink < sinks; sink++) {
      if (fromSource[sink] !== -1 || residual(source, sink) <= LEAST) continue;
      fromSource[sink] = source;
      if (open[sink]! > LEAST)
        return trace(state, { fromSource, fromSink, sink });
      for (let next = 0; next < waiting.length; next++)
        if (fromSink[next] === -1 && flow[next * sinks + sink]! > LEAST) {
          fromSink[next] = sink;
          queue.push(next);
        }
    }
  }
  return undefined;
}

function trace(
  { waiting, open, flow, residual }: State,
  {
    fromSource,
    fromSink,
    sink,
  }: { fromSource: Int32Array; fromSink: Int32Array; sink: number },
) {
  const nodes = [sink];
  let amount = open[sink]!;
  let at = sink;
  for (;;) {
    const source = fromSource[at]!;
    amount = Math.min(amount, residual(source, at));
    nodes.push(source);
    const before = fromSink[source]!;
    if (before === -2) {
      amount = Math.min(amount, waiting[source]!);
      return { nodes: nodes.reverse(), amount };
    }
    amount = Math.min(amount, flow[source * open.length + before]!);
    nodes.push(before);
    at = before;
  }
}
