import type { Layout } from "../layout/layout.js";
import type { HostRule } from "./host-rule.js";

/** Sums of many numbers that are no whole ones differ in the last digits. */
const ROUNDING = 1e-6;

function lacksMemory(
  { pool, limits, freeMemory }: Layout,
  vm: number,
  host: number,
): number {
  const kept = (limits.memoryReserve ?? 0) * pool.hostMemory[host]!;
  return pool.vmMemory[vm]! - (freeMemory[host]! - kept);
}

/** No more memory than there is: hosts never promise any twice. */
export const memory: HostRule = {
  name: "memory",
  allows: (layout, vm, host) => lacksMemory(layout, vm, host) <= ROUNDING,
  explain: (layout, vm, host) => {
    const lacks = lacksMemory(layout, vm, host);
    return lacks > ROUNDING
      ? [{ rule: "memory", lacks: Math.ceil(lacks) }]
      : [];
  },
};

function lacksVcpus(
  { pool, limits, vcpus }: Layout,
  vm: number,
  host: number,
): number {
  const most = (limits.vcpusPerCore ?? Infinity) * pool.hostCores[host]!;
  return pool.vmVcpus[vm]! + vcpus[host]! - most;
}

export const vcpus: HostRule = {
  name: "vcpus",
  matters: ({ limits }) => limits.vcpusPerCore !== undefined,
  allows: (layout, vm, host) => lacksVcpus(layout, vm, host) <= ROUNDING,
  explain: (layout, vm, host) => {
    const lacks = lacksVcpus(layout, vm, host);
    return lacks > ROUNDING ? [{ rule: "vcpus", lacks: Math.ceil(lacks) }] : [];
  },
};

/** GPUs, SR-IOV functions and the like. */
export const devices: HostRule = {
  name: "device",
  matters: ({ pool }) => pool.devices.ofVms.size > 0,
  allows: (layout, vm, host) => lacking(layout, vm, host).length === 0,
  explain: (layout, vm, host) =>
    lacking(layout, vm, host).map(({ kind, lacks }) => ({
      rule: "device",
      lacks,
      kind: layout.pool.devices.kinds[kind]!,
    })),
};

function lacking({ pool, freeDevices }: Layout, vm: number, host: number) {
  const needs = pool.devices.ofVms.get(vm) ?? [];
  return needs
    .map(({ kind, count }) => ({
      kind,
      lacks: count - freeDevices[kind * pool.hosts.size + host]!,
    }))
    .filter(({ lacks }) => lacks > 0);
}
