import type { BalancePlan, StayingVm } from "@xo-server/placement";
import type { NamedVm, OverloadedHost } from "./state.js";

/**
 * Hosts that a plan leaves overloaded, with names and a sentence for each VM
 * that stays.
 * @param nameOf name of a VM or host by its id
 */
export function toOverloadedHosts(
  { overloaded }: Pick<BalancePlan, "overloaded">,
  nameOf: (id: string) => string,
): readonly OverloadedHost[] {
  return overloaded.map(({ host, cpu, memory, vms }) => ({
    host,
    cpu,
    memory,
    name: nameOf(host),
    vms: vms.map((one) => toNamedVm(one, nameOf)),
  }));
}

function toNamedVm(one: StayingVm, nameOf: (id: string) => string): NamedVm {
  const { vm, why, gain, cost } = one;
  return {
    vm,
    why,
    name: nameOf(vm),
    message: messageOf(one),
    ...(gain === undefined ? {} : { gain }),
    ...(cost === undefined ? {} : { cost }),
  };
}

function messageOf({ why, reason, refusals, gain, cost }: StayingVm): string {
  switch (why) {
    case "pinned":
      return `cannot be migrated (${reason})`;
    case "excluded":
      return "excluded: its tag, an operation in progress, or its cooldown";
    case "no-host": {
      const rules = (refusals ?? []).map(
        ({ rule, hosts }) => `${rule}: ${hosts}`,
      );
      return `no other host accepts it (hosts refused by ${rules.join(", ")})`;
    }
    case "no-capacity":
      return "each host that accepts it would exceed cpuLow or memoryHigh";
    case "preference":
      return "a preferred placement rule would be violated";
    case "cost":
      return `the migration gains ${figure(gain)} and costs ${figure(cost)}`;
  }
}

function figure(value = 0): string {
  return String(Math.round(value * 1_000) / 1_000);
}
