import type { PoolObject } from "../objects/pool-objects.js";

/** Causes and remedies by XAPI's error code; `{state}` is the power state of the VM. */
const WORDS: Readonly<Record<string, string>> = {
  VM_BAD_POWER_STATE:
    "it is {state}, only running VMs can be migrated: unpause it or shut it down",
  NO_HOSTS_AVAILABLE:
    "no other host can run it: free memory, connect its SRs and networks to other hosts, or shut it down",
  HOST_NOT_ENOUGH_FREE_MEMORY:
    "the other hosts have too little free memory: shut down VMs or add memory",
  VM_REQUIRES_SR:
    "a disk is on an SR that no other host is connected to: move the disk to shared storage, or shut it down",
  VM_REQUIRES_NETWORK:
    "one of its networks is not available on another host: connect the network, or detach the interface",
  VM_HAS_PCI_ATTACHED: "it has a PCI device: detach it, or shut it down",
  VM_HAS_VGPU: "it has a virtual GPU: shut it down",
  VM_HAS_VUSBS: "it has a USB device: detach it, or shut it down",
  VM_HAS_SRIOV_VIF: "it has an SR-IOV interface: detach it, or shut it down",
  VM_LACKS_FEATURE:
    "its guest tools do not support migration: install or update them, or shut it down",
  VM_MISSING_PV_DRIVERS: "it has no guest tools: install them, or shut it down",
  VM_INCOMPATIBLE_WITH_THIS_HOST:
    "the CPUs of the other hosts lack features that it uses: shut it down",
  OPERATION_BLOCKED:
    "its migration is blocked (blockedOperations): remove the block, or shut it down",
  OTHER_OPERATION_IN_PROGRESS:
    "another operation is in progress: wait until it ends",
};

/** Causes by rule of the placement planner. */
const RULES: Readonly<Record<string, string>> = {
  sr: "an SR of its disks is not connected",
  network: "one of its networks is not available",
  memory: "too little free memory",
  vcpus: "too few CPUs",
  cpu: "CPU features that it uses are missing",
  device: "no such device",
  state: "disabled or down",
  group: "an affinity rule",
  "host-affinity": "a host affinity rule",
  pinned: "it cannot be migrated",
};

/**
 * Why a VM cannot be evacuated, and what can be done.
 * @param reason XAPI's error code and parameters, or NO_HOST_FOR_VM and rules
 */
export function blockerReason(
  { object }: Pick<PoolObject, "object">,
  [code = "unknown", ...params]: readonly string[],
): string {
  if (code === "NO_HOST_FOR_VM") {
    const rules = [...new Set(params)].map((rule) => RULES[rule] ?? rule);
    const why = rules.length === 0 ? "" : ` (${rules.join(", ")})`;
    return `no other host accepts it${why}: shut it down, or remove the cause`;
  }
  const state = String(object["power_state"]).toLowerCase();
  const words = Object.hasOwn(WORDS, code) ? WORDS[code]! : undefined;
  return words === undefined
    ? [code, ...params].join(" ")
    : words.replace("{state}", state);
}
