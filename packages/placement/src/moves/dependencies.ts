import type { Layout } from "../layout/layout.js";
import type { Move } from "./move.js";
import { separateMembers } from "./separate-members.js";
import { shareRoom } from "./share-room.js";
import { withoutImplied } from "./without-implied.js";

/** Which moves have to have ended before others begin: indices, by index. */
export type Dependencies = readonly (readonly number[])[];

/**
 * What has to wait for what, so that moves can overlap in any way that this
 * allows and nothing is ever broken.
 *
 * Room: each VM that comes has its own part of what is free or becomes free,
 * so none takes what another waits for, whichever is first. Groups that are
 * apart: a member comes when those that were there have left. A VM moves when
 * its move before has ended.
 * @param now as it is before the first
 * @param moves each can be done when those before it have been
 */
export function dependenciesOf(
  now: Layout,
  moves: readonly Move[],
): Dependencies {
  const found = moves.map(() => new Set<number>());
  const last = new Map<number, number>();
  for (const [index, { vm }] of moves.entries()) {
    const before = last.get(vm);
    if (before !== undefined) found[index]!.add(before);
    last.set(vm, index);
  }
  const link = (index: number, before: number) => found[index]!.add(before);
  shareRoom(now, moves, link);
  separateMembers(now, moves, link);
  const out: number[][] = [];
  for (const set of found)
    out.push(
      withoutImplied(
        [...set].sort((a, b) => a - b),
        out,
      ),
    );
  return out;
}
