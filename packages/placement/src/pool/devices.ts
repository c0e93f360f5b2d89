import { InvalidModel } from "../invalid-model.js";
import type { DeviceCount } from "../model/pool-model.js";

/** What hosts have and VMs take of GPUs and the like; only VMs that take some are listed. */
export interface Devices {
  readonly kinds: readonly string[];
  /** Of each kind, of each host: `kind * hosts + host`. */
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
      // What no VM takes does not matter.
      if (number !== undefined) onHosts[number * hosts.length + host]! += count;
    }
  return { kinds: [...numbers.keys()], onHosts, ofVms };
}
