import type { Database } from "../../database.js";
import type { PoolData } from "../../pool-state.js";
import { flag, refs, text } from "../../records/fields.js";
import { freeMemory, memoryExpected } from "./host-memory.js";

/**
 * Of these hosts, the one that XAPI prefers for a VM: of an anti-affinity group
 * the one with fewest members of it, then the one with most free memory
 * [xapi_vm_helpers.ml, from memory].
 */
export function bestHost(
  { db, state }: PoolData,
  vm: string,
  hosts: readonly string[],
): string | undefined {
  const rank = new Map(
    hosts.map((host) => [
      host,
      {
        members: groupMembersOn(db, vm, host),
        free: freeMemory(db, host) - memoryExpected(state, host, vm),
      },
    ]),
  );
  const [best] = [...rank].sort(
    ([, a], [, b]) => a.members - b.members || b.free - a.free,
  );
  return best?.[0];
}

/** How many others of the VM's anti-affinity groups are on a host or on their way there. */
function groupMembersOn(db: Database, vm: string, host: string): number {
  return refs(db.get("VM", vm), "groups")
    .map((group) => db.get("VM_group", group))
    .filter((group) => text(group, "placement") === "anti_affinity")
    .flatMap((group) => refs(group, "VMs"))
    .filter((other) => other !== vm)
    .filter((other) => {
      const record = db.get("VM", other);
      const candidates = [
        text(record, "resident_on"),
        text(record, "scheduled_to_be_resident_on"),
      ];
      return candidates.includes(host);
    }).length;
}

/** Whether a host answers: those without metrics do. */
export function isLive(db: Database, host: string): boolean {
  const metrics = db.find(
    "host_metrics",
    text(db.get("host", host), "metrics"),
  );
  return metrics === undefined || flag(metrics, "live");
}

/** Returns the VMs that run on a host, without its control domain. */
export function guestsOn(
  { db }: { readonly db: Database },
  host: string,
): readonly string[] {
  return refs(db.get("host", host), "resident_VMs").filter(
    (vm) => !flag(db.get("VM", vm), "is_control_domain"),
  );
}
