import { Assignment } from "../assignment/assignment.js";
import type { Refusal } from "../model/refusal.js";
import type { Agility } from "../model/what-if.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import { refusalsOf } from "../rules/host-rules.js";

/**
 * Rules that depend on hardware and connections of hosts, not on running VMs.
 */
const BINDING: ReadonlySet<string> = new Set([
  "memory",
  "device",
  "network",
  "sr",
  "host-affinity",
]);

/**
 * The hosts that could run a VM if no other VM were running.
 * @throws InvalidModel for an unknown VM
 */
export function agilityOf(pool: IndexedPool, id: string): Agility {
  const vm = pool.vms.of(id);
  const empty = Assignment.of(pool, new Int32Array(pool.vms.size).fill(-1));
  const hosts: string[] = [];
  const why = new Map<string, Refusal>();
  for (const [host, name] of pool.hosts.ids.entries()) {
    const binding = refusalsOf(empty, vm, host).filter(({ rule }) =>
      BINDING.has(rule),
    );
    if (binding.length === 0) hosts.push(name);
    for (const rule of binding) why.set(keyOf(rule), rule);
  }
  const agile = hosts.length === pool.hosts.size;
  return { vm: id, agile, hosts, reasons: [...why.values()] };
}

/** The missing amount differs between hosts: the last one is reported. */
function keyOf(rule: Refusal): string {
  return Object.entries(rule)
    .filter(([name]) => name !== "missing")
    .join();
}
