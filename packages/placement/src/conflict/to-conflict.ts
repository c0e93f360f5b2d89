import type { Assignment } from "../assignment/assignment.js";
import type { Conflict, ConflictRule } from "../model/refusal.js";
import { UP } from "../pool/indexed-pool.js";
import type { Constraint } from "./constraints.js";
import type { UnsatisfiableCore } from "./unsatisfiable-cores.js";
import type { Refusals } from "./refusals.js";

/** @param vms VMs that the conflict is about */
export function toConflict(
  assignment: Assignment,
  vms: readonly number[],
  refusals: Refusals,
  { constraints, size }: UnsatisfiableCore,
): Conflict {
  const inOrder = constraints
    .map((number) => refusals.constraints.list[number]!)
    .sort(compareConstraints);
  const rules = inOrder.map((constraint): ConflictRule => {
    if (constraint.rule === "state")
      return {
        rule: "state",
        hosts: blockedHosts(assignment, vms, refusals, constraints),
      };
    if (constraint.rule === "memory")
      return { rule: "memory", ...toMemory(assignment, vms) };
    return toRule(assignment, constraint);
  });
  return { rules, size };
}

const ORDER: readonly Constraint["rule"][] = [
  "state",
  "memory",
  "vcpus",
  "network",
  "sr",
  "device",
  "cpu",
  "host-affinity",
  "group",
  "pinned",
];

function compareConstraints(a: Constraint, b: Constraint): number {
  const byRule = ORDER.indexOf(a.rule) - ORDER.indexOf(b.rule);
  return byRule !== 0 ? byRule : a.subject < b.subject ? -1 : 1;
}

/**
 * Hosts that would solve the conflict if they accepted VMs; if there are none,
 * those that no other rule of the conflict excludes.
 */
function blockedHosts(
  { pool }: Assignment,
  vms: readonly number[],
  refusals: Refusals,
  constraints: readonly number[],
): string[] {
  const state = refusals.constraints.find("state")!;
  const others = constraints.filter((constraint) => constraint !== state);
  const out = [...pool.hosts.ids.keys()].filter(
    (host) => pool.hostState[host] !== UP,
  );
  const helpful = out.filter((host) =>
    vms.some((vm) =>
      refusals.of(vm, host).every((constraint) => constraint === state),
    ),
  );
  const free = out.filter((host) =>
    vms.some((vm) =>
      others.every((constraint) => !refusals.of(vm, host).includes(constraint)),
    ),
  );
  const named = helpful.length > 0 ? helpful : free;
  return named.map((host) => pool.hosts.ids[host]!);
}

/**
 * For one VM the most free memory of any host; for several the sum over all
 * hosts.
 */
function toMemory(
  { pool, limits, freeMemory }: Assignment,
  vms: readonly number[],
) {
  const needed = vms.reduce((sum, vm) => sum + pool.vmMemory[vm]!, 0);
  let most = 0;
  let sum = 0;
  for (const [host, bytes] of freeMemory.entries()) {
    if (pool.hostState[host] !== UP) continue;
    const kept = (limits.memoryReserve ?? 0) * pool.hostMemory[host]!;
    const free = Math.max(0, bytes - kept);
    most = Math.max(most, free);
    sum += free;
  }
  return { needed, free: Math.floor(vms.length === 1 ? most : sum) };
}

function toRule(
  { limits }: Assignment,
  { rule, subject: of }: Constraint,
): ConflictRule {
  switch (rule) {
    case "vcpus":
      return { rule, perCore: limits.vcpusPerCore ?? Infinity };
    case "network":
      return { rule, network: of };
    case "sr":
      return { rule, sr: of };
    case "device":
      return { rule, kind: of };
    case "cpu":
      return { rule, needs: of };
    case "host-affinity":
      return { rule, hostAffinity: of };
    case "group":
      return { rule, group: of };
    case "pinned":
      return { rule, vm: of };
    case "state":
    case "memory":
      throw new Error(`${rule} is reported with its amounts`);
  }
}
