import { maxFlow } from "./max-flow.js";
import type { Packing } from "./packing.js";
import { toFillableMemory } from "./fillable-memory.js";

/** Maximum flow is only computed up to this number of edges. */
const MAX_EDGES = 40_000;

/** Why a problem has no solution. */
type InfeasibilityProof =
  /** The hosts cannot take all units of a kind. */
  | { readonly by: "kind"; readonly kind: number }
  /** An anti-affinity group has more members than eligible hosts. */
  | { readonly by: "anti-affinity"; readonly group: number }
  /** The eligible hosts have too little memory. */
  | { readonly by: "memory" };

/**
 * @returns undefined: no simple proof was found, which does not mean feasible
 */
export function findInfeasibilityProof(
  packing: Packing,
): InfeasibilityProof | undefined {
  return (
    proveByKind(packing) ??
    proveByAntiAffinity(packing) ??
    proveByMemory(packing)
  );
}

function proveByKind(packing: Packing): InfeasibilityProof | undefined {
  const { kinds, hosts } = packing.problem;
  for (let kind = 0; kind < kinds.length; kind++) {
    let slots = 0;
    const left = packing.remaining[kind]!;
    for (let host = 0; host < hosts && slots < left; host++)
      slots += packing.fits(kind, host);
    if (slots < left) return { by: "kind", kind };
  }
  return undefined;
}

/** Hall's theorem, by maximum flow: each member needs a separate host. */
function proveByAntiAffinity(packing: Packing): InfeasibilityProof | undefined {
  const { kinds, hosts, antiAffinityGroups } = packing.problem;
  const membersOf = new Map<number, number[]>();
  for (const [kind, { antiAffinity }] of kinds.entries())
    for (const group of antiAffinity)
      membersOf.set(group, [...(membersOf.get(group) ?? []), kind]);
  for (let group = 0; group < antiAffinityGroups; group++) {
    const members = membersOf.get(group) ?? [];
    // A single kind is covered by `proveByKind`.
    if (members.length < 2 || members.length * hosts > MAX_EDGES) continue;
    const supply = Float64Array.from(
      members,
      (kind) => packing.remaining[kind]!,
    );
    const arriving = maxFlow({
      supply,
      capacity: new Float64Array(hosts).fill(1),
      edge: (source, host) => Math.min(1, packing.fits(members[source]!, host)),
    });
    const requested = supply.reduce((sum, units) => sum + units, 0);
    if (arriving < requested - 0.5) return { by: "anti-affinity", group };
  }
  return undefined;
}

/** Maximum flow of memory, as if units could be divided. */
function proveByMemory(packing: Packing): InfeasibilityProof | undefined {
  const { kinds, hosts, memory } = packing.problem;
  if (memory.includes(Infinity)) return undefined;
  const filling = toFillableMemory(packing.problem);
  const capacity = packing.memory.map(filling);
  const supply = Float64Array.from(
    kinds,
    (kind, number) => kind.memory * packing.remaining[number]!,
  );
  const needed = supply.reduce((sum, bytes) => sum + bytes, 0);
  const open = capacity.filter((_, host) =>
    kinds.some((_, kind) => packing.fits(kind, host) > 0),
  );
  const free = open.reduce((sum, bytes) => sum + bytes, 0);
  if (exceeds(needed, free, hosts)) return { by: "memory" };
  if (kinds.length * hosts > MAX_EDGES) return undefined;
  const arriving = maxFlow({
    supply,
    capacity,
    edge: (kind, host) => packing.fits(kind, host) * kinds[kind]!.memory,
  });
  return exceeds(needed, arriving, hosts * kinds.length)
    ? { by: "memory" }
    : undefined;
}

/** Whether the difference is larger than any rounding error. */
function exceeds(needed: number, there: number, terms: number): boolean {
  return needed > there + 1e-2 * terms + needed * 1e-12;
}
