import { Layout } from "../layout/layout.js";
import type { Rule } from "../model/rule.js";
import type { Agility } from "../model/what-if.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import { refusalsOf } from "../rules/host-rules.js";

/** What hangs on the hosts as they are built and connected, not on what runs there. */
const BINDING: ReadonlySet<string> = new Set([
  ...["memory", "device", "network", "sr", "location"],
]);

/**
 * Where a VM could restart, were all other VMs gone.
 * @throws InvalidModel for a VM that the pool does not have
 */
export function agilityOf(pool: IndexedPool, id: string): Agility {
  const vm = pool.vms.of(id);
  const empty = Layout.of(pool, new Int32Array(pool.vms.size).fill(-1));
  const hosts: string[] = [];
  const why = new Map<string, Rule>();
  for (const [host, name] of pool.hosts.ids.entries()) {
    const binding = refusalsOf(empty, vm, host).filter(({ rule }) =>
      BINDING.has(rule),
    );
    if (binding.length === 0) hosts.push(name);
    for (const rule of binding) why.set(keyOf(rule), rule);
  }
  const agile = hosts.length === pool.hosts.size;
  return { vm: id, agile, hosts, why: [...why.values()] };
}

/** What lacks differs from host to host: the last one is told. */
function keyOf(rule: Rule): string {
  return Object.entries(rule)
    .filter(([name]) => name !== "lacks")
    .join();
}
