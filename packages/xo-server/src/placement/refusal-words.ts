import type {
  Candidate,
  ConflictRule,
  Placement,
  Rule,
} from "@xo-server/placement";

/** Rules by which hosts refuse a VM, in a few words: `memory on 3 hosts, location on 1 host`. */
export function inWords(candidates: readonly Candidate[]): string {
  const counts = new Map<string, number>();
  for (const { refusals } of candidates)
    for (const rule of new Set(refusals.map(({ rule }) => rule)))
      counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return Array.from(
    counts,
    ([rule, hosts]) => `${rule} on ${hosts} ${hosts === 1 ? "host" : "hosts"}`,
  ).join(", ");
}

export function namesOf(rules: readonly (Rule | ConflictRule)[]): string {
  return rules.map(({ rule }) => rule).join(", ");
}

/** Hosts that an error tells of. */
const MOST_TOLD = 64;

/** What an error tells of a VM that no host takes. */
export function refusalData({ vm, candidates, conflict }: Placement) {
  const refusals = candidates
    .slice(0, MOST_TOLD)
    .map(({ host, refusals }) => ({ host, refusals }));
  const reasons = inWords(candidates);
  return { vm, reasons, refusals, ...(conflict && { conflict }) };
}
