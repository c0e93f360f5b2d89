export const updates = {
  rolling: "Rolling update",
  hosts: "Updates of hosts",
  timeLine: "Hosts over time",
  bar: "Step {wave}: {host}, {moves} migrations in this step",
  evacuation: "evacuation",
  down: "update and reboot",
  planning: "Planning…",
  nothing: "All updates are installed.",
  summary:
    "{hosts} hosts in {waves} steps, {moves} migrations, about {length}.",
  lead: "Hosts are evacuated, updated and rebooted, the coordinator first. VMs are migrated to updated hosts. The first failure stops the rolling update; it can be resumed.",
  rebootLead:
    "Hosts are evacuated and rebooted, the coordinator first. The first failure stops the rolling reboot; it can be resumed.",
  migrateBack: "Migrate VMs back at the end",
  risks: {
    "no-failure-survived":
      "Riskiest: step {wave}. If another host fails during it, not all VMs can be restarted.",
    coordinator:
      "Riskiest: step {wave}. While the coordinator reboots, the pool cannot be managed.",
    "most-moves": "Riskiest: step {wave}, with the most migrations.",
  },
  running: "In progress: {done} of {hosts} hosts completed.",
  suspending:
    "In progress, will be suspended after this step: {done} of {hosts} hosts completed.",
  suspended: "Suspended: {done} of {hosts} hosts completed. HA is restored.",
  waiting:
    "Suspended until the maintenance window of {time}: {done} of {hosts} hosts completed.",
  actions: {
    suspend: "Suspend",
    continue: "Continue",
    cancel: "Cancel rolling update",
    abandon: "Abandon rolling update",
  },
  begins: "The first step starts {first}, the last one {last}.",
  windows: {
    only: "Only in a maintenance window",
    hint: "A step that would not end within it starts in the next one.",
    name: "Maintenance window",
    from: "From",
    to: "To",
    timezone: "Time zone",
    days: "Days on which it starts",
    daysHint: "None selected: every day.",
    nameOf: "Maintenance window {n}",
    add: "Add maintenance window",
    remove: "Remove maintenance window {n}",
    removeShort: "Remove",
  },
  stopped:
    "Stopped after {done} of {hosts} hosts: {reason}. Start it again to resume.",
  last: "Last run {ago}: {done} of {hosts} hosts in {length}.",
  never: "No rolling update or reboot yet.",
  differ: "The hosts run different versions.",
  columns: {
    host: "Host",
    version: "Version",
    missing: "Missing updates",
    security: "Security updates",
    after: "Required afterwards",
    advisories: "Advisories",
  },
  after: {
    nothing: "nothing",
    "restart-toolstack": "restart of the toolstack",
    "restart-device-model": "migration or reboot of VMs",
    "reboot-vm": "reboot of VMs",
    "reboot-host": "reboot of the host",
  },
} as const;
