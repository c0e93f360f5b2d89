import type { Action } from "@xo-server/placement";

/** Indexes of the selected actions of a plan. */
export type ChosenMoves = ReadonlySet<number>;

/** The selection of all migrations, by index. */
export function allOf(actions: readonly Action[]): ChosenMoves {
  return new Set(actions.keys());
}

/** Selects an action with all its predecessors, or deselects it with all its successors. */
export function choose(
  actions: readonly Action[],
  chosen: ChosenMoves,
  index: number,
  isChosen: boolean,
): ChosenMoves {
  const touched = new Set([index]);
  if (isChosen) {
    for (let i = index; i >= 0; i--)
      if (touched.has(i))
        for (const before of actions[i]?.after ?? []) touched.add(before);
    return new Set([...chosen, ...touched].sort((a, b) => a - b));
  }
  for (let i = index + 1; i < actions.length; i++)
    if (actions[i]!.after.some((before) => touched.has(before))) touched.add(i);
  return new Set([...chosen].filter((i) => !touched.has(i)));
}

/** A plan of the selected actions only. */
export function chosenActions(
  actions: readonly Action[],
  chosen: ChosenMoves,
): readonly Action[] {
  const kept = [...actions.keys()].filter((i) => chosen.has(i));
  const places = new Map(kept.map((i, place) => [i, place]));
  return kept.map((i) => ({
    ...actions[i]!,
    after: actions[i]!.after.flatMap((before) => places.get(before) ?? []),
  }));
}

/** Selected actions that depend on this one. */
export function waitingMovesOf(
  actions: readonly Action[],
  index: number,
): readonly number[] {
  return [...actions.keys()].filter((i) => actions[i]!.after.includes(index));
}
