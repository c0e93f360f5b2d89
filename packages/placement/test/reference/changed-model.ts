import type { Change, HostState, PoolModel } from "@xo-server/placement";
import type { SeededRandom } from "./seeded-random.js";

/** A new model after a change. */
export function changedModel(model: PoolModel, change: Change): PoolModel {
  switch (change.kind) {
    case "host-down":
      return withState(model, change.host, "down");
    case "host-up":
      return withState(emptied(model, change.host), change.host, "up");
    case "host":
      return { ...model, hosts: withOne(model.hosts, change.host) };
    case "vm":
      return { ...model, vms: withOne(model.vms, change.vm) };
    case "vm-removed":
      return withoutVm(model, change.vm);
  }
}

/** A random change; new objects get ids that sort last. */
export function randomChange(model: PoolModel, random: SeededRandom): Change {
  const host = random.pick(model.hosts);
  const kinds = ["host-down", "host-up", "host", "new-host", "new-vm"] as const;
  const vmKinds = model.vms.length > 0 ? (["vm", "vm-removed"] as const) : [];
  const kind = random.pick([...kinds, ...vmKinds]);
  const grown = random.pick([0.5, 2]);
  const ids = [...model.hosts, ...model.vms].map(({ id }) => id).sort();
  const newId = `${ids.at(-1)}z`;
  switch (kind) {
    case "host-down":
    case "host-up":
      return { kind, host: host.id };
    case "host":
      return { kind, host: { ...host, memory: host.memory * grown } };
    case "new-host":
      return { kind: "host", host: { ...host, id: newId, state: "up" } };
    case "vm": {
      const vm = random.pick(model.vms);
      return { kind, vm: { ...vm, memory: vm.memory * grown } };
    }
    case "vm-removed":
      return { kind, vm: random.pick(model.vms).id };
    case "new-vm": {
      const vm = { id: newId, memory: 2 ** 31, vcpus: 1 };
      return { kind: "vm", vm: { ...vm, srs: ["shared"], networks: ["lan"] } };
    }
  }
}

function withState(model: PoolModel, id: string, state: HostState): PoolModel {
  const hosts = model.hosts.map((host) =>
    host.id === id ? { ...host, state } : host,
  );
  return { ...model, hosts };
}

/** VMs of a host that went down are not running. */
function emptied(model: PoolModel, id: string): PoolModel {
  const isDown = model.hosts.some(
    (host) => host.id === id && host.state === "down",
  );
  const vms = model.vms.map((vm) => {
    const { host, ...rest } = vm;
    return isDown && host === id ? rest : vm;
  });
  return { ...model, vms };
}

function withOne<T extends { readonly id: string }>(
  list: readonly T[],
  one: T,
): T[] {
  return [...list.filter(({ id }) => id !== one.id), one];
}

function withoutVm(model: PoolModel, id: string): PoolModel {
  const withoutIt = <T extends { readonly vms: readonly string[] }>(
    list: readonly T[] = [],
  ) => list.map((one) => ({ ...one, vms: one.vms.filter((vm) => vm !== id) }));
  return {
    ...model,
    vms: model.vms.filter((vm) => vm.id !== id),
    groups: withoutIt(model.groups),
    hostAffinities: withoutIt(model.hostAffinities),
  };
}
