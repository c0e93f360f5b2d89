/**
 * Sets of hosts of the given size, without those that dominance excludes.
 * @param worse for each host, the hosts whose failure is at least as bad;
 *   acyclic
 */
export function* hostSets(
  alive: readonly number[],
  size: number,
  worse: readonly (readonly number[])[],
): Generator<readonly number[]> {
  // A dominating host has fewer dominating hosts and comes first.
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

/** Number of sets, at most `most` + 1. */
export function countSets(
  sets: Generator<readonly number[]>,
  most: number,
): number {
  let count = 0;
  while (count <= most && !sets.next().done) count++;
  return count;
}
