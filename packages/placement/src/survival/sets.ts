/**
 * Sets of so many hosts, without those where one could be changed for a worse
 * one that is not in it.
 * @param worse of each host; has no circles
 */
export function* setsOf(
  alive: readonly number[],
  size: number,
  worse: readonly (readonly number[])[],
): Generator<readonly number[]> {
  // Those that are worse than a host have fewer that are worse, and come before it.
  const order = [...alive].sort(
    (a, b) => worse[a]!.length - worse[b]!.length || a - b,
  );
  yield* extend({ order, worse, size, chosen: [], has: new Set() }, 0);
}

interface Choice {
  readonly order: readonly number[];
  readonly worse: readonly (readonly number[])[];
  readonly size: number;
  readonly chosen: number[];
  readonly has: Set<number>;
}

function* extend(choice: Choice, from: number): Generator<readonly number[]> {
  const { order, worse, size, chosen, has } = choice;
  if (chosen.length === size) {
    yield [...chosen].sort((a, b) => a - b);
    return;
  }
  const last = order.length - (size - chosen.length);
  for (let at = from; at <= last; at++) {
    const host = order[at]!;
    if (!worse[host]!.every((other) => has.has(other))) continue;
    chosen.push(host);
    has.add(host);
    yield* extend(choice, at + 1);
    has.delete(chosen.pop()!);
  }
}

/** How many sets there are, up to `most` + 1. */
export function countSets(
  sets: Generator<readonly number[]>,
  most: number,
): number {
  let count = 0;
  while (count <= most && !sets.next().done) count++;
  return count;
}
