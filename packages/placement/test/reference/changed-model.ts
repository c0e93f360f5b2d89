import type { Change, HostState, PoolModel } from "@xo-server/placement";
import type { SeededRandom } from "./seeded-random.js";

/** The model as it is after a change, made anew. */
export function changedModel(model: PoolModel, change: Change): PoolModel {
  switch (change.kind) {
    case "host-out":
      return withState(model, change.host, "down");
    case "host-in":
      return withState(emptied(model, change.host), change.host, "up");
    case "host":
      return { ...model, hosts: withOne(model.hosts, change.host) };
    case "vm":
      return { ...model, vms: withOne(model.vms, change.vm) };
    case "vm-gone":
      return withoutVm(model, change.vm);
  }
}

/** Any change; what is new has an id behind all others. */
export function randomChange(model: PoolModel, random: SeededRandom): Change {
  const host = random.pick(model.hosts);
  const kinds = ["host-out", "host-in", "host", "new-host", "new-vm"] as const;
  const vmKinds = model.vms.length > 0 ? (["vm", "vm-gone"] as const) : [];
  const kind = random.pick([...kinds, ...vmKinds]);
  const grown = random.pick([0.5, 2]);
  const ids = [...model.hosts, ...model.vms].map(({ id }) => id).sort();
  const newId = `${ids.at(-1)}z`;
  switch (kind) {
    case "host-out":
    case "host-in":
      return { kind, host: host.id };
    case "host":
      return { kind, host: { ...host, memory: host.memory * grown } };
    case "new-host":
      return { kind: "host", host: { ...host, id: newId, state: "up" } };
    case "vm": {
      const vm = random.pick(model.vms);
      return { kind, vm: { ...vm, memory: vm.memory * grown } };
    }
    case "vm-gone":
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

/** What ran there when the host went down does not run. */
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
    locations: withoutIt(model.locations),
  };
}
