/** What the page displays when an action fails; codes are mapped in actions/plan/error-message.ts. */
export const actionErrors = {
  forbidden:
    "Permission denied. Ask an administrator for the required privilege.",
  notConnected:
    "The server does not respond. Nothing was changed: try again when it is connected.",
  lost: "Connection lost. The operation may still be running: see Tasks.",
  gone: "The object no longer exists.",
  busy: "Another operation is in progress on this object. Try again when it has ended.",
  state: "Not allowed in the current state: {reason}",
  noMemory: "No host has enough free memory.",
  cannotLeave:
    "Nothing was changed. These VMs cannot be migrated to another host: {vms}.",
  andMore: "and {n} more",
  noHost: "No host can run the VM: memory, storage or a network is missing.",
  memoryOrder:
    "Memory limits must be in this order: static minimum, dynamic minimum, dynamic maximum, static maximum.",
  snapshot: "Not possible with a snapshot. Revert the VM to it, or clone it.",
  noSpace: "There is not enough free space on the SR.",
  alreadyBonded:
    "An interface belongs to a bond already. Select another one, or delete that bond first.",
  haEnabled: "Not possible while HA is enabled. Disable HA first.",
  noPif:
    "A host has no interface on this network. Connect the network on every host first.",
  noPifAddress:
    "An interface has no IP address. Configure one for each host first.",
  keyMismatch: "The private key does not belong to the certificate.",
  someFailed: "{failed} of {total} failed: {reasons}",
  noTools: "The guest does not respond. Guest tools may be missing.",
};
