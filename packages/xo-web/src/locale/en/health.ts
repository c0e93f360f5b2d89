export const health = {
  pool: "Pool",
  allPools: "All pools",
  read: "Checked {age}",
  again: "Check again",
  none: "No problems found",
  noneLead: "All checks passed.",
  passed: { one: "{n} check passed", other: "{n} checks passed" },
  unknown: "not checked: {n}",
  showList: "Show in list",
  showAll: "Show {n}",
  showFewer: "Show fewer",
  more: "and {n} more",
  severities: { error: "Error", warning: "Warning", info: "Info" },
  columns: { object: "Object", pool: "Pool", detail: "Details" },
  sizes: "{size}, {usage} used",
  used: "{share} of {size} used",
  hosts: { one: "{n} host", other: "{n} hosts" },
  images: { one: "{n} image", other: "{n} images" },
  others: { one: "also on {n} other VM", other: "also on {n} other VMs" },
  expires: "expires in {time}",
  expired: "expired {age}",
  guidances: {
    restart_vm: "needs a reboot",
    restart_device_model: "needs a new device model",
  },
  ahead: "{time} ahead",
  behind: "{time} behind",
  checks: {
    fullStorage: {
      name: "Storage nearly full",
      advice:
        "More than 90 % of the SR is in use. When an SR is full, its VMs stop with I/O errors, and snapshots cannot be merged. Delete or move disks, or extend the SR.",
    },
    detachedStorage: {
      name: "SRs disconnected from hosts",
      advice:
        "VMs with disks on this SR cannot run on these hosts, and HA cannot restart them there. Check the cabling and the storage server, then connect the SR again on its Hosts tab.",
    },
    missingDisks: {
      name: "Disks missing on their storage",
      advice:
        "XAPI knows the disk, but the storage does not have it. Rescan the SR; if the disk is lost, restore it from a backup.",
    },
    controlDomainDisks: {
      name: "Disks attached to control domains",
      advice:
        "Backups and exports attach disks to the control domain for a short time. A disk that stays there blocks the start and the deletion of its VM. When no export or backup runs, detach it.",
    },
    longChains: {
      name: "Long chains of images",
      advice:
        "Each read may go through all images of a chain, and XAPI refuses snapshots at 30. Delete snapshots that are not needed, then let the SR merge the images (rescan the SR).",
    },
    orphanDisks: {
      name: "Disks without VM",
      advice:
        "No VM, template or snapshot uses these disks. Delete them if their data is not needed.",
    },
    orphanDiskSnapshots: {
      name: "Snapshots of deleted disks",
      advice:
        "The disk of the snapshot no longer exists, and no snapshot of a VM contains it. Delete it if its data is no longer needed.",
    },
    duplicateMacs: {
      name: "Duplicate MAC addresses",
      advice:
        "VMs with the same MAC address on one network lose packets. Give one of them a new VIF. The cause is usually a restore or a copy of VMs with their MAC addresses.",
    },
    noGuestTools: {
      name: "Running VMs without guest tools",
      advice:
        "Without the management agent, IP addresses and memory usage are unknown, and clean shutdown or migration may fail. Install the guest tools.",
    },
    oldSnapshots: {
      name: "Snapshots older than 30 days",
      advice:
        "Snapshots use space that grows with each write to the VM, and make chains longer. They are not backups: delete those that are not needed.",
    },
    orphanVmSnapshots: {
      name: "Snapshots of deleted VMs",
      advice:
        "The VM of the snapshot no longer exists. Create a VM from it or delete it.",
    },
    expiringCertificates: {
      name: "Certificates that expire",
      advice:
        "The TLS certificate of the host expires within 30 days. Afterwards migrations, and connections that verify it, fail. Install or refresh the certificate.",
    },
    clockOffsets: {
      name: "Clocks that differ",
      advice:
        "The clock of the host differs from that of this server by more than two seconds. Logs cannot be compared, and HA and TLS may fail. Set up NTP on the host.",
    },
    hostVersions: {
      name: "Hosts of different versions",
      advice:
        "Hosts of one pool should have the same version, except during an update: VMs cannot migrate to older hosts. Update the others.",
    },
    restartRequired: {
      name: "Hosts that need a reboot",
      advice:
        "Updates are installed but not active before the host is rebooted. Use a rolling reboot of the pool.",
    },
    toolstackRestartRequired: {
      name: "Hosts whose toolstack needs a restart",
      advice:
        "Updates are installed but not active before the toolstack is restarted. VMs continue to run.",
    },
    vmRestartRequired: {
      name: "VMs that need a restart for updates",
      advice:
        "Updates of their host are not active in these VMs. Migrate a VM to another host and back for a new device model; reboot it where a reboot is needed.",
    },
  },
} as const;
