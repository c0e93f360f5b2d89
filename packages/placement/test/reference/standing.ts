import type {
  DeviceCount,
  GroupModel,
  HostModel,
  Limits,
  HostAffinityModel,
  PoolModel,
  RefusalName,
  Score,
  VmModel,
} from "@xo-server/placement";

/**
 * Which VMs count on which host, and the rules, computed from scratch for every
 * question: slow, and sharing no code with the planner.
 */
export class Standing {
  readonly hosts = new Map<string, HostModel>();
  readonly vms = new Map<string, VmModel>();
  /** Host of each running VM. */
  readonly homes = new Map<string, string>();
  readonly #counted = new Map<string, Set<string>>();
  readonly #groups = new Map<string, GroupModel[]>();
  readonly #hostAffinities = new Map<string, HostAffinityModel[]>();
  readonly #limits: Limits;
  /** Cores of each host in use by others than VMs. */
  readonly #otherLoad = new Map<string, number>();

  /** As the model says: VMs of hosts that are down do not run. */
  constructor(model: PoolModel, limits: Limits = {}) {
    this.#limits = limits;
    for (const host of model.hosts) {
      this.hosts.set(host.id, host);
      this.#counted.set(host.id, new Set());
    }
    for (const vm of model.vms) this.vms.set(vm.id, vm);
    for (const group of model.groups ?? [])
      for (const vm of new Set(group.vms)) push(this.#groups, vm, group);
    for (const location of model.hostAffinities ?? [])
      for (const vm of new Set(location.vms))
        push(this.#hostAffinities, vm, location);
    for (const { id, load } of model.hosts)
      this.#otherLoad.set(id, otherLoad(model, id, load));
    for (const { id, host } of model.vms)
      if (host !== undefined && this.hosts.get(host)!.state !== "down")
        this.put(id, host);
  }

  /** The VM runs there. */
  put(vm: string, host: string): void {
    this.homes.set(vm, host);
    this.count(vm, host);
  }

  remove(vm: string): void {
    const host = this.homes.get(vm)!;
    this.homes.delete(vm);
    this.uncount(vm, host);
  }

  /** The VM takes its demand from the host, wherever it runs. */
  count(vm: string, host: string): void {
    this.#counted.get(host)!.add(vm);
  }

  uncount(vm: string, host: string): void {
    this.#counted.get(host)!.delete(vm);
  }

  countedOn(host: string): VmModel[] {
    return [...this.#counted.get(host)!].map((vm) => this.vms.get(vm)!);
  }

  /** Names of all rules by which a VM may not come to a host, or stay there. */
  refusals(id: string, hostId: string): Set<RefusalName> {
    const vm = this.vms.get(id)!;
    const host = this.hosts.get(hostId)!;
    const out = new Set<RefusalName>();
    const refuseIf = (is: boolean, rule: RefusalName) => is && out.add(rule);
    refuseIf(host.state !== "up", "state");
    refuseIf(!vm.srs.every((sr) => host.srs.includes(sr)), "sr");
    const { networks } = host;
    refuseIf(!vm.networks.every((one) => networks.includes(one)), "network");
    const home = this.homes.get(id);
    const leaves = home !== undefined && home !== hostId;
    refuseIf(leaves && vm.pinned !== undefined, "pinned");
    refuseIf(leaves && vm.cpu !== undefined && vm.cpu !== host.cpu, "cpu");
    refuseIf(this.#isMislocated(vm, host), "host-affinity");
    refuseIf(this.#isOvercommitted(vm, host), "memory");
    refuseIf(this.#hasTooManyVcpus(vm, host), "vcpus");
    refuseIf(this.#lacksDevices(vm, host), "device");
    refuseIf(
      !this.isApart(id, hostId) || !this.isTogether(id, hostId),
      "group",
    );
    return out;
  }

  /** No other member of a required anti-affinity group counts there. */
  isApart(id: string, host: string): boolean {
    return this.groupsOf(id, "anti-affinity", true).every(
      ({ vms }) => !vms.some((other) => other !== id && this.#has(host, other)),
    );
  }

  /** All running members of required affinity groups run there. */
  isTogether(id: string, host: string): boolean {
    return this.groupsOf(id, "affinity", true).every(({ vms }) =>
      vms.every(
        (other) => other === id || (this.homes.get(other) ?? host) === host,
      ),
    );
  }

  groupsOf(
    vm: string,
    kind: GroupModel["kind"],
    required: boolean,
  ): readonly GroupModel[] {
    const groups = this.#groups.get(vm) ?? [];
    return groups.filter(
      (one) => one.kind === kind && one.required === required,
    );
  }

  /** Of a host with the VM placed there, which does not count there yet. */
  score(id: string, hostId: string): Score {
    const vm = this.vms.get(id)!;
    const host = this.hosts.get(hostId)!;
    const hostAffinities = (this.#hostAffinities.get(id) ?? [])
      .filter(({ score, hosts }) => isFinite(score) && hosts.includes(hostId))
      .reduce((sum, { score }) => sum + score, 0);
    const preference = (kind: GroupModel["kind"]) =>
      this.groupsOf(id, kind, false).reduce(
        (sum, { weight = 1, vms }) =>
          sum +
          weight *
            [...new Set(vms)].filter((other) => this.#has(hostId, other))
              .length,
        0,
      );
    const all = [...this.countedOn(hostId), vm];
    const used = sum(all, ({ memory }) => memory) / host.memory;
    const load = this.#otherLoad.get(hostId)! + sum(all, loadOf);
    return {
      hostAffinity: hostAffinities,
      groups: preference("affinity") - preference("anti-affinity"),
      headroom: Math.min(1 - used, 1 - load / host.cores),
    };
  }

  #has(host: string, vm: string): boolean {
    return this.#counted.get(host)!.has(vm);
  }

  #isMislocated({ id }: VmModel, host: HostModel): boolean {
    return (this.#hostAffinities.get(id) ?? []).some(({ score, hosts }) =>
      hosts.includes(host.id) ? score === -Infinity : score === Infinity,
    );
  }

  #isOvercommitted(vm: VmModel, host: HostModel): boolean {
    const others = this.countedOn(host.id).filter(({ id }) => id !== vm.id);
    const most = host.memory * (1 - (this.#limits.memoryReserve ?? 0));
    // A thousandth of a byte: the reserve is a fraction.
    return sum(others, ({ memory }) => memory) + vm.memory > most + 1e-3;
  }

  #hasTooManyVcpus(vm: VmModel, host: HostModel): boolean {
    const { vcpusPerCore = Infinity } = this.#limits;
    const others = this.countedOn(host.id).filter(({ id }) => id !== vm.id);
    const vcpus = sum(others, (other) => other.vcpus) + vm.vcpus;
    return vcpus > vcpusPerCore * host.cores + 1e-6;
  }

  #lacksDevices(vm: VmModel, host: HostModel): boolean {
    const others = this.countedOn(host.id).filter(({ id }) => id !== vm.id);
    return (vm.devices ?? []).some(
      ({ kind, count }) =>
        count > 0 &&
        sum(others, (other) => devicesOf(other.devices, kind)) +
          devicesOf(vm.devices, kind) >
          devicesOf(host.devices, kind),
    );
  }
}

function sum<T>(list: readonly T[], of: (one: T) => number): number {
  return list.reduce((total, one) => total + of(one), 0);
}

function loadOf({ load = 0 }: VmModel): number {
  return load;
}

function devicesOf(
  devices: readonly DeviceCount[] | undefined,
  kind: string,
): number {
  return sum(
    (devices ?? []).filter((one) => one.kind === kind),
    ({ count }) => count,
  );
}

function otherLoad(model: PoolModel, id: string, load?: number): number {
  if (load === undefined) return 0;
  const there = model.vms.filter(({ host }) => host === id);
  return Math.max(0, load - sum(there, loadOf));
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
