import type { Layout } from "../layout/layout.js";
import type { Conflict, ConflictRule } from "../model/rule.js";
import { UP } from "../pool/indexed-pool.js";
import type { Atom } from "./atoms.js";
import type { Core } from "./cores.js";
import type { Refusals } from "./refusals.js";

/** @param vms those that the rules are in conflict about */
export function toConflict(
  layout: Layout,
  vms: readonly number[],
  refusals: Refusals,
  { atoms, size }: Core,
): Conflict {
  const inOrder = atoms
    .map((number) => refusals.atoms.list[number]!)
    .sort(compareAtoms);
  const rules = inOrder.map((atom): ConflictRule => {
    if (atom.rule === "state")
      return { rule: "state", hosts: outOf(layout, vms, refusals, atoms) };
    if (atom.rule === "memory")
      return { rule: "memory", ...toMemory(layout, vms) };
    return toRule(layout, atom);
  });
  return { rules, size };
}

const ORDER: readonly Atom["rule"][] = [
  ...(["state", "memory", "vcpus", "network", "sr"] as const),
  ...(["device", "cpu", "location", "group", "pinned"] as const),
];

function compareAtoms(a: Atom, b: Atom): number {
  const byRule = ORDER.indexOf(a.rule) - ORDER.indexOf(b.rule);
  return byRule !== 0 ? byRule : a.of < b.of ? -1 : 1;
}

/** Hosts that would help if they took VMs; or else all that are kept out by nothing else of the conflict. */
function outOf(
  { pool }: Layout,
  vms: readonly number[],
  refusals: Refusals,
  atoms: readonly number[],
): string[] {
  const state = refusals.atoms.find("state")!;
  const others = atoms.filter((atom) => atom !== state);
  const out = [...pool.hosts.ids.keys()].filter(
    (host) => pool.hostState[host] !== UP,
  );
  const helpful = out.filter((host) =>
    vms.some((vm) => refusals.of(vm, host).every((atom) => atom === state)),
  );
  const free = out.filter((host) =>
    vms.some((vm) =>
      others.every((atom) => !refusals.of(vm, host).includes(atom)),
    ),
  );
  const named = helpful.length > 0 ? helpful : free;
  return named.map((host) => pool.hosts.ids[host]!);
}

/** Of one VM what the host has that has most; of several what all hosts have. */
function toMemory(
  { pool, limits, freeMemory }: Layout,
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

function toRule({ limits }: Layout, { rule, of }: Atom): ConflictRule {
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
    case "location":
      return { rule, location: of };
    case "group":
      return { rule, group: of };
    case "pinned":
      return { rule, vm: of };
    case "state":
    case "memory":
      throw new Error(`${rule} is told with its figures`);
  }
}
