import { DOWN, type IndexedPool } from "../pool/indexed-pool.js";

/** Groups interchangeable units. */
export function toKinds(
  pool: IndexedPool,
  units: readonly (readonly number[])[],
): (readonly (readonly number[])[])[] {
  const kinds = new Map<string, (readonly number[])[]>();
  for (const unit of units) {
    const key = unit.map((vm) => kindOf(pool, vm)).join("\n");
    const alike = kinds.get(key);
    if (alike === undefined) kinds.set(key, [unit]);
    else alike.push(unit);
  }
  return [...kinds.values()];
}

/** A key that is equal for VMs that no rule distinguishes. */
export function kindOf(pool: IndexedPool, vm: number): string {
  const { offsets, values } = pool.groups.groupsOf;
  let key = `${pool.eligibility.classOf[vm]} ${pool.vmMemory[vm]} ${pool.vmVcpus[vm]}`;
  const end = offsets[vm + 1] ?? 0;
  for (let at = offsets[vm] ?? 0; at < end; at++)
    if (pool.groups.models[values[at]!]!.required) key += ` g${values[at]}`;
  for (const { kind, count } of pool.devices.ofVms.get(vm) ?? [])
    key += ` d${kind}:${count}`;
  return key + residentKey(pool, vm);
}

/** Key of the properties that restrict the migration of a running VM. */
function residentKey(pool: IndexedPool, vm: number): string {
  const host = pool.vmHost[vm]!;
  const { cpu, pinned } = pool.vmModels[vm]!;
  if (host < 0 || pool.hostState[host] === DOWN) return "";
  if (pinned !== undefined) return ` p${vm}`;
  return cpu === undefined ? "" : ` r${host} ${cpu}`;
}
