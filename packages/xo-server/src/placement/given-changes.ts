import { XoError } from "@xo-server/model";
import type {
  Change,
  HostModel,
  PoolModel,
  VmModel,
} from "@xo-server/placement";
import type { Static } from "typebox";
import type { GivenChange } from "./schemas.js";

const newHost = { state: "up", networks: [], srs: [] } as const;
const newVm = { vcpus: 1, srs: [], networks: [] } as const;

/**
 * Changes as the planner takes them: what is not said of a host or a VM that is
 * there is as it is.
 * @throws XoError INVALID_PARAMETERS: a new one without memory, or a host without cores
 */
export function toChanges(
  given: readonly Static<typeof GivenChange>[],
  model: PoolModel,
): Change[] {
  const hosts = new Map(model.hosts.map((host) => [host.id, host]));
  const vms = new Map(model.vms.map((vm) => [vm.id, vm]));
  return given.map((change): Change => {
    if (change.kind === "host") {
      const host = { ...newHost, ...hosts.get(change.host.id), ...change.host };
      need(host, "memory", "cores");
      return { kind: "host", host: host as HostModel };
    }
    if (change.kind !== "vm") return change;
    const vm = { ...newVm, ...vms.get(change.vm.id), ...change.vm };
    need(vm, "memory");
    return { kind: "vm", vm: vm as VmModel };
  });
}

function need(one: { readonly id: string }, ...names: readonly string[]): void {
  const missing = names.find((name) => !Object.hasOwn(one, name));
  if (missing !== undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `${one.id} is new and has no ${missing}`,
    });
}
