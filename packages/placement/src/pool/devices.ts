import { InvalidModel } from "../model/invalid-model.js";
import type { DeviceCount } from "../model/pool-model.js";

/**
 * Devices such as GPUs: capacity of hosts, demand of VMs. Only VMs with a
 * demand are listed.
 */
export interface Devices {
  readonly kinds: readonly string[];
  /** Count of each kind on each host, at `kind * hosts + host`. */
  readonly onHosts: Float64Array;
  readonly ofVms: ReadonlyMap<number, readonly DeviceNeed[]>;
}

export interface DeviceNeed {
  readonly kind: number;
  readonly count: number;
}

type WithDevices = readonly {
  readonly id: string;
  readonly devices?: readonly DeviceCount[];
}[];

/**
 * Numbers the kinds of devices that VMs demand; other devices of hosts are
 * ignored.
 * @throws InvalidModel for a negative count
 */
export function indexDevices(hosts: WithDevices, vms: WithDevices): Devices {
  const numbers = new Map<string, number>();
  const ofVms = new Map<number, DeviceNeed[]>();
  for (const [vm, { id, devices = [] }] of vms.entries()) {
    if (devices.length === 0) continue;
    const needs = devices.map(({ kind, count }) => {
      if (!(count >= 0))
        throw new InvalidModel(`VM ${id} takes ${count} of ${kind}`);
      if (!numbers.has(kind)) numbers.set(kind, numbers.size);
      return { kind: numbers.get(kind)!, count };
    });
    ofVms.set(vm, needs);
  }
  const onHosts = new Float64Array(numbers.size * hosts.length);
  for (const [host, { devices = [] }] of hosts.entries())
    for (const { kind, count } of devices) {
      const number = numbers.get(kind);
      // Kinds that no VM demands are ignored.
      if (number !== undefined) onHosts[number * hosts.length + host]! += count;
    }
  return { kinds: [...numbers.keys()], onHosts, ofVms };
}
