import t from "tap";
import { maxFlow, type Transport } from "../src/solver/max-flow.js";
import { SeededRandom, seeds } from "./reference/index.js";

t.test("flow is rerouted to make way", async (t) => {
  // The first source could fill the only sink of the second.
  const arriving = maxFlow({
    supply: Float64Array.of(5, 5),
    capacity: Float64Array.of(5, 5),
    edge: (source, sink) => (source === 0 || sink === 0 ? 5 : 0),
  });
  t.equal(arriving, 10);
});

t.test("random flows: the maximum flow equals the minimum cut", async (t) => {
  const wrong: number[] = [];
  for (const seed of seeds(1000)) {
    const transport = randomTransport(seed);
    const most = maxFlow(transport);
    if (Math.abs(most - narrowestCut(transport)) > 0.01) wrong.push(seed);
  }
  t.same(wrong, []);
});

function randomTransport(seed: number): Transport {
  const random = new SeededRandom(seed);
  const amounts = (most: number) =>
    Float64Array.from({ length: random.between(1, 4) }, () =>
      random.between(0, most),
    );
  const edges = Array.from({ length: 16 }, () =>
    random.chance(0.6) ? random.between(0, 8) : 0,
  );
  return {
    supply: amounts(10),
    capacity: amounts(10),
    edge: (source, sink) => edges[source * 4 + sink]!,
  };
}

/** Over all partitions of sources and sinks. */
function narrowestCut({ supply, capacity, edge }: Transport): number {
  let least = Infinity;
  const sets = 2 ** (supply.length + capacity.length);
  for (let set = 0; set < sets; set++) {
    const has = (at: number) => ((set >> at) & 1) === 1;
    let cut = 0;
    for (const [source, amount] of supply.entries()) {
      if (!has(source)) cut += amount;
      else
        for (const sink of capacity.keys())
          if (!has(supply.length + sink)) cut += edge(source, sink);
    }
    for (const [sink, amount] of capacity.entries())
      if (has(supply.length + sink)) cut += amount;
    least = Math.min(least, cut);
  }
  return least;
}
