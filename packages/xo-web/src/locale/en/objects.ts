export const objects = {
  states: {
    running: "Running",
    halted: "Halted",
    paused: "Paused",
    suspended: "Suspended",
    working: "Busy",
    lost: "Unreachable",
    maintenance: "Maintenance",
    connected: "Connected",
    noLink: "No link",
  },
  /** One and several of each type. */
  types: {
    VM: { one: "VM", other: "VMs" },
    "VM-template": { one: "template", other: "templates" },
    "VM-snapshot": { one: "snapshot", other: "snapshots" },
    "VM-controller": { one: "control domain", other: "control domains" },
    host: { one: "host", other: "hosts" },
    pool: { one: "pool", other: "pools" },
    SR: { one: "SR", other: "SRs" },
    VDI: { one: "VDI", other: "VDIs" },
    network: { one: "network", other: "networks" },
    PIF: { one: "PIF", other: "PIFs" },
    VIF: { one: "VIF", other: "VIFs" },
    task: { one: "task", other: "tasks" },
    message: { one: "message", other: "messages" },
  },
};
