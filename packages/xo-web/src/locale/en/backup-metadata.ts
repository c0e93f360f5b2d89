/** Backups of databases of pools and of the configuration, and copies in other repositories. */
export const backupMetadata = {
  add: "Add metadata job",
  addLead:
    "Databases of pools (VMs, networks, storage; no disks) and the configuration of this server: needed when a pool or the server is lost.",
  heading: "Pools and server",
  lead: "Databases of pools and the configuration of this server. They contain passwords: only administrators see them.",
  pools: "Databases of pools",
  configuration: "Configuration of this server",
  configurationHint:
    "Users, rights, jobs, repositories and connections to pools, with their passwords.",
  poolCount: {
    one: "Database of {n} pool",
    other: "Databases of {n} pools",
  },
  server: "Configuration of the server",
  what: "Backup of",
  time: "Time",
  repository: "Repository",
  size: "Size",
  showAll: "Show all {n}",
  restore: "Restore",
  check: "Check",
  checked: "The pool can restore the database of {name}.",
  choosePool: "Select a pool.",
  kinds: {
    check: {
      name: "Only check",
      hint: "The pool checks whether it could restore this database. Nothing changes.",
    },
    restore: {
      name: "Replace the database of the pool",
      hint: "After a successful check.",
    },
  },
  poolWarning:
    "The database of the pool is replaced by the backup: VMs, snapshots and other objects created since then are lost; their disks stay on the SRs. The toolstack of the coordinator restarts. Only a pool with the same hosts can be restored.",
  serverWarning:
    "Users, rights, jobs, repositories and connections to pools of this server are replaced by those of the backup. Users may have to sign in again.",
  deleteLead:
    "It is deleted from {repository} and cannot be recovered. No other backup needs it.",
};

export const backupMirror = {
  add: "Add mirror job",
  addLead:
    "Copies backups of one repository into others, such as another site. Only data that the target lacks is written. Each copy is verified while it is read, and does not depend on the source.",
  source: "Source",
  what: "Backups",
  selections: {
    all: {
      name: "All backups of the source",
      hint: "Also of future VMs, pools and the configuration.",
    },
    vms: { name: "Of selected VMs", hint: "Only these." },
  },
  vms: "Selected VMs",
  noVms: "The source has no backups of VMs.",
  backups: { one: "{n} backup", other: "{n} backups" },
  copies: "Copies of {name}",
};
