import type {
  Candidate,
  ConflictRule,
  VmPlacement,
  Refusal,
} from "@xo-server/placement";

/**
 * Number of hosts that each rule excludes, as text: `memory on 3 hosts,
 * host-affinity on 1 host`.
 */
function summarizeRefusals(candidates: readonly Candidate[]): string {
  const counts = new Map<string, number>();
  for (const { refusals } of candidates)
    for (const rule of new Set(refusals.map(({ rule }) => rule)))
      counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return Array.from(
    counts,
    ([rule, hosts]) => `${rule} on ${hosts} ${hosts === 1 ? "host" : "hosts"}`,
  ).join(", ");
}

/** The rules as a list for a message: `memory, pcpus`. */
export function ruleNames(rules: readonly (Refusal | ConflictRule)[]): string {
  return rules.map(({ rule }) => rule).join(", ");
}

/** Maximum number of hosts in the data of an error. */
const MAX_REPORTED = 64;

/** Error data for a VM that no host accepts. */
export function refusalData({ vm, candidates, conflict }: VmPlacement) {
  const refusals = candidates
    .slice(0, MAX_REPORTED)
    .map(({ host, refusals }) => ({ host, refusals }));
  const reasons = summarizeRefusals(candidates);
  return { vm, reasons, refusals, ...(conflict && { conflict }) };
}
