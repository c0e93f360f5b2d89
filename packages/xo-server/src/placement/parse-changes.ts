import { XoError } from "@xo-server/model";
import type {
  Change,
  HostModel,
  PoolModel,
  VmModel,
} from "@xo-server/placement";
import type { Static } from "typebox";
import type { ChangeInput } from "./input-schemas.js";

const newHost = { state: "up", networks: [], srs: [] } as const;
const newVm = { vcpus: 1, srs: [], networks: [] } as const;

/**
 * Completes changes for the planner: members that are not given are those of the
 * existing host or VM.
 * @throws XoError INVALID_PARAMETERS: a new object without memory, or a new host
 *   without cores
 */
export function parseChanges(
  input: readonly Static<typeof ChangeInput>[],
  model: PoolModel,
): Change[] {
  const hosts = new Map(model.hosts.map((host) => [host.id, host]));
  const vms = new Map(model.vms.map((vm) => [vm.id, vm]));
  return input.map((change): Change => {
    if (change.kind === "host") {
      const host = { ...newHost, ...hosts.get(change.host.id), ...change.host };
      requireProperties(host, "memory", "cores");
      return { kind: "host", host: host as HostModel };
    }
    if (change.kind !== "vm") return change;
    const vm = { ...newVm, ...vms.get(change.vm.id), ...change.vm };
    requireProperties(vm, "memory");
    return { kind: "vm", vm: vm as VmModel };
  });
}

function requireProperties(
  one: { readonly id: string },
  ...names: readonly string[]
): void {
  const missing = names.find((name) => !Object.hasOwn(one, name));
  if (missing !== undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `${one.id} is new: ${missing} is required`,
    });
}
