import { NULL_REF } from "@xo-server/model";
import type { Database } from "../../database.js";
import { flag, refs, text } from "../../records/fields.js";
import { isLive } from "../capacity/host-choice.js";
import { freeMemory, memoryNeeded } from "../capacity/host-memory.js";
import { plugsOf } from "../vm/vm-checks.js";

interface ModelVm {
  readonly ref: string;
  readonly bytes: number;
  /** Indexes of the hosts that see its disks and networks. */
  readonly hosts: readonly number[];
  /** Its anti-affinity groups: members by index of the host. */
  readonly groups: readonly Int32Array[];
  readonly home: number | undefined;
}

/**
 * What a failover plan reads of the database, read once: plans of many sets of
 * failed hosts are then loops over numbers.
 */
export class FailoverModel {
  readonly #db: Database;
  readonly #hosts: readonly string[];
  readonly #indexOf: ReadonlyMap<string, number>;
  readonly #free: readonly number[];
  readonly #plugs: readonly ReadonlySet<string>[];
  readonly #networks = new Map<string, ReadonlySet<string> | undefined>();
  /** VMs with the same SRs and networks see the same hosts. */
  readonly #hostsByNeeds = new Map<string, readonly number[]>();
  readonly #groups = new Map<string, Int32Array>();
  readonly #vms = new Map<string, ModelVm>();

  constructor(db: Database) {
    this.#db = db;
    this.#hosts = [...db.refs("host")].filter(
      (host) => isLive(db, host) && flag(db.get("host", host), "enabled"),
    );
    this.#indexOf = new Map(this.#hosts.map((host, i) => [host, i]));
    this.#free = this.#hosts.map((host) => freeMemory(db, host));
    this.#plugs = this.#hosts.map((host) => plugsOf(db, host));
  }

  /** Live and enabled hosts; those whose protected VMs need most memory first. */
  worstHosts(): readonly string[] {
    const load = (host: string) =>
      protectedOn(this.#db, host).reduce(
        (sum, vm) => sum + memoryNeeded(this.#db.get("VM", vm)),
        0,
      );
    return this.#hosts
      .map((host) => ({ host, bytes: load(host) }))
      .sort((a, b) => b.bytes - a.bytes)
      .map(({ host }) => host);
  }

  /** See `failoverPlan`. */
  plan(
    failed: readonly string[],
    vms: readonly string[] = failed.flatMap((host) =>
      protectedOn(this.#db, host),
    ),
  ): ReadonlyMap<string, string> | undefined {
    const left = [...this.#free];
    for (const host of failed) {
      const index = this.#indexOf.get(host);
      if (index !== undefined) left[index] = -1;
    }
    const planned = new Map<Int32Array, Int32Array>();
    const plan = new Map<string, string>();
    const sorted = vms
      .map((ref) => this.#vm(ref))
      .sort((a, b) => b.bytes - a.bytes);
    for (const vm of sorted) {
      const best = bestOf(vm, left, planned);
      if (best === undefined) return undefined;
      left[best]! -= vm.bytes;
      for (const group of vm.groups) {
        const added = planned.get(group) ?? new Int32Array(group.length);
        planned.set(group, added);
        added[best]!++;
      }
      plan.set(vm.ref, this.#hosts[best]!);
    }
    return plan;
  }

  #vm(ref: string): ModelVm {
    const known = this.#vms.get(ref);
    if (known !== undefined) return known;
    const record = this.#db.get("VM", ref);
    const vm: ModelVm = {
      ref,
      bytes: memoryNeeded(record),
      hosts: this.#hostsFor(this.#needsOf(ref)),
      groups: refs(record, "groups")
        .filter(
          (group) =>
            text(this.#db.get("VM_group", group), "placement") ===
            "anti_affinity",
        )
        .map((group) => this.#members(group)),
      home: this.#indexOf.get(text(record, "resident_on")),
    };
    this.#vms.set(ref, vm);
    return vm;
  }

  /** The SRs and networks that it needs, sorted. */
  #needsOf(ref: string): readonly string[] {
    const db = this.#db;
    const record = db.get("VM", ref);
    const needs = new Set<string>();
    for (const vbd of refs(record, "VBDs")) {
      const vdi = text(db.get("VBD", vbd), "VDI");
      if (vdi !== NULL_REF) needs.add(text(db.get("VDI", vdi), "SR"));
    }
    for (const vif of refs(record, "VIFs")) {
      const network = text(db.get("VIF", vif), "network");
      if (!this.#networks.has(network))
        this.#networks.set(network, this.#reached(network));
      needs.add(network);
    }
    return [...needs].sort();
  }

  #hostsFor(needs: readonly string[]): readonly number[] {
    const key = needs.join(" ");
    const known = this.#hostsByNeeds.get(key);
    if (known !== undefined) return known;
    const sees = (host: string, plugs: ReadonlySet<string>) =>
      needs.every((need) =>
        this.#networks.has(need)
          ? (this.#networks.get(need)?.has(host) ?? true)
          : plugs.has(need),
      );
    const hosts = this.#hosts.flatMap((host, i) =>
      sees(host, this.#plugs[i]!) ? [i] : [],
    );
    this.#hostsByNeeds.set(key, hosts);
    return hosts;
  }

  /** Hosts that a network reaches; undefined: a network without a PIF is created on any host. */
  #reached(network: string): ReadonlySet<string> | undefined {
    const pifs = refs(this.#db.get("network", network), "PIFs");
    if (pifs.length === 0) return undefined;
    return new Set(pifs.map((pif) => text(this.#db.get("PIF", pif), "host")));
  }

  /** Members of a group that are on each host, or on their way there. */
  #members(group: string): Int32Array {
    const known = this.#groups.get(group);
    if (known !== undefined) return known;
    const counts = new Int32Array(this.#hosts.length);
    for (const vm of refs(this.#db.get("VM_group", group), "VMs")) {
      const record = this.#db.get("VM", vm);
      const candidates = new Set([
        text(record, "resident_on"),
        text(record, "scheduled_to_be_resident_on"),
      ]);
      for (const host of candidates) {
        const index = this.#indexOf.get(host);
        if (index !== undefined) counts[index]!++;
      }
    }
    this.#groups.set(group, counts);
    return counts;
  }
}

/** VMs of a host that HA starts again elsewhere. */
function protectedOn(db: Database, host: string): readonly string[] {
  return refs(db.get("host", host), "resident_VMs").filter((vm) => {
    const record = db.get("VM", vm);
    return (
      text(record, "ha_restart_priority") === "restart" &&
      !flag(record, "is_control_domain")
    );
  });
}

/** The host with fewest members of the VM's groups, then with most memory left. */
function bestOf(
  vm: ModelVm,
  left: readonly number[],
  planned: ReadonlyMap<Int32Array, Int32Array>,
): number | undefined {
  let best: number | undefined;
  let fewest = Infinity;
  for (const host of vm.hosts) {
    const free = left[host]!;
    if (free < vm.bytes) continue;
    let members = 0;
    for (const group of vm.groups)
      members +=
        group[host]! +
        (planned.get(group)?.[host] ?? 0) -
        (vm.home === host ? 1 : 0);
    if (members > fewest) continue;
    if (members === fewest && free <= left[best!]!) continue;
    best = host;
    fewest = members;
  }
  return best;
}
