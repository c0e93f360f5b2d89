import { mostArriving } from "./flow.js";
import type { Packing } from "./packing.js";
import { toFilling } from "./volumes.js";

/** Flows are only looked for where sources times sinks are no more. */
const MOST_EDGES = 40_000;

/** Why a problem has no solution. */
export type Proof =
  /** No host takes as many of a kind as there are. */
  | { readonly by: "kind"; readonly kind: number }
  /** An "apart" group has more members than hosts that they can have. */
  | { readonly by: "apart"; readonly group: number }
  /** More memory is needed than there is where it is needed. */
  | { readonly by: "memory" };

/** @returns undefined: nothing so simple is in the way */
export function findProof(packing: Packing): Proof | undefined {
  return ofKinds(packing) ?? ofApart(packing) ?? ofMemory(packing);
}

function ofKinds(packing: Packing): Proof | undefined {
  const { kinds, hosts } = packing.problem;
  for (let kind = 0; kind < kinds.length; kind++) {
    let slots = 0;
    const left = packing.left[kind]!;
    for (let host = 0; host < hosts && slots < left; host++)
      slots += packing.fits(kind, host);
    if (slots < left) return { by: "kind", kind };
  }
  return undefined;
}

/** Hall's theorem, by a flow: each member has a host of its own. */
function ofApart(packing: Packing): Proof | undefined {
  const { kinds, hosts, apartGroups } = packing.problem;
  const membersOf = new Map<number, number[]>();
  for (const [kind, { apart }] of kinds.entries())
    for (const group of apart)
      membersOf.set(group, [...(membersOf.get(group) ?? []), kind]);
  for (let group = 0; group < apartGroups; group++) {
    const members = membersOf.get(group) ?? [];
    // One kind alone has been looked at.
    if (members.length < 2 || members.length * hosts > MOST_EDGES) continue;
    const supply = Float64Array.from(members, (kind) => packing.left[kind]!);
    const arriving = mostArriving({
      supply,
      capacity: new Float64Array(hosts).fill(1),
      edge: (source, host) => Math.min(1, packing.fits(members[source]!, host)),
    });
    const wanted = supply.reduce((sum, units) => sum + units, 0);
    if (arriving < wanted - 0.5) return { by: "apart", group };
  }
  return undefined;
}

/** The same of memory, as if units could be cut. */
function ofMemory(packing: Packing): Proof | undefined {
  const { kinds, hosts, memory } = packing.problem;
  if (memory.includes(Infinity)) return undefined;
  const filling = toFilling(packing.problem);
  const capacity = packing.memory.map(filling);
  const supply = Float64Array.from(
    kinds,
    (kind, number) => kind.memory * packing.left[number]!,
  );
  const needed = supply.reduce((sum, bytes) => sum + bytes, 0);
  const open = capacity.filter((_, host) =>
    kinds.some((_, kind) => packing.fits(kind, host) > 0),
  );
  const free = open.reduce((sum, bytes) => sum + bytes, 0);
  if (isMore(needed, free, hosts)) return { by: "memory" };
  if (kinds.length * hosts > MOST_EDGES) return undefined;
  const arriving = mostArriving({
    supply,
    capacity,
    edge: (kind, host) => packing.fits(kind, host) * kinds[kind]!.memory,
  });
  return isMore(needed, arriving, hosts * kinds.length)
    ? { by: "memory" }
    : undefined;
}

/** For certain, whatever rounding has done. */
function isMore(needed: number, there: number, terms: number): boolean {
  return needed > there + 1e-2 * terms + needed * 1e-12;
}
