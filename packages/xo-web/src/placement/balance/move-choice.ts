import type { Action } from "@xo-server/placement";

/** Which actions of a plan are to be done, by their place in it. */
export type Chosen = ReadonlySet<number>;

export function allOf(actions: readonly Action[]): Chosen {
  return new Set(actions.keys());
}

/** With what an action waits for, however far back, or without what waits for it. */
export function choose(
  actions: readonly Action[],
  chosen: Chosen,
  index: number,
  isWanted: boolean,
): Chosen {
  const touched = new Set([index]);
  if (isWanted) {
    for (let i = index; i >= 0; i--)
      if (touched.has(i))
        for (const before of actions[i]?.after ?? []) touched.add(before);
    return new Set([...chosen, ...touched].sort((a, b) => a - b));
  }
  for (let i = index + 1; i < actions.length; i++)
    if (actions[i]!.after.some((before) => touched.has(before))) touched.add(i);
  return new Set([...chosen].filter((i) => !touched.has(i)));
}

/** A plan of its own, of the chosen actions alone. */
export function chosenActions(
  actions: readonly Action[],
  chosen: Chosen,
): readonly Action[] {
  const kept = [...actions.keys()].filter((i) => chosen.has(i));
  const places = new Map(kept.map((i, place) => [i, place]));
  return kept.map((i) => ({
    ...actions[i]!,
    after: actions[i]!.after.flatMap((before) => places.get(before) ?? []),
  }));
}

/** Actions that wait for this one and were chosen: the first of them says what it is good for. */
export function waitersOf(
  actions: readonly Action[],
  index: number,
): readonly number[] {
  return [...actions.keys()].filter((i) => actions[i]!.after.includes(index));
}
