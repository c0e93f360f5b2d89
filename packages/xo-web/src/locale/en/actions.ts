import { actionErrors } from "./action-errors.js";
import { actionNames } from "./action-names.js";
import { importing } from "./importing.js";

export const actions = {
  names: actionNames,
  groups: {
    power: "Power",
    work: "Manage",
    change: "Edit",
    danger: "Danger zone",
  },
  /** Why something cannot be done now. */
  reasons: {
    otherType: "Not available for this type",
    forbidden: "You do not have the privilege for this",
    oneOnly: "Only for a single object",
    none: "Not possible for any selected object",
    state: {
      Running: "The VM is running",
      Halted: "The VM is halted",
      Paused: "The VM is paused",
      Suspended: "The VM is suspended",
    },
    noTags: "No tags",
    blocked: "Blocked by an administrator",
    blockedFor: "Blocked: {reason}",
    inProgress: "This operation is in progress",
    noTools: "Guest tools are not running",
    defaultTemplate: "Built-in template",
    hostDown: "The host is down",
    hostUp: "The host is running",
    hostDisabled: "The host is disabled",
    hostEnabled: "The host is enabled",
    noPowerOn: "No power-on mode is configured",
    haOn: "HA is enabled",
    haOff: "HA is disabled",
    isoSr: "The SR contains ISO images only",
    inMaintenance: "The SR is in maintenance mode",
    notInMaintenance: "The SR is not in maintenance mode",
    hasDisks: "The SR contains disks",
    attached: "Already connected",
    detached: "Not connected",
    management: "Used as a management interface",
    taskEnded: "The task has ended",
    notCancellable: "The task cannot be cancelled",
    hasVtpm: "The VM has a vTPM already",
    noVtpm: "The VM has no vTPM",
  },
  /** Consequences of an action, shown in its confirmation. */
  leads: {
    exportSeveral:
      "One file for each VM, one after another. Keep this page open, and allow multiple downloads in the browser.",
    cleanShutdown:
      "The guest is asked to shut down. Its services are unavailable until the VM is started again.",
    cleanReboot:
      "The guest is asked to reboot. Its services are unavailable during that time.",
    suspend:
      "The memory of the VMs is saved to disk. They do not run until they are resumed.",
    pause: "The VMs do not run until they are unpaused.",
    coalesce:
      "Snapshot chains of the disks are merged into one image each where possible, which frees space on the SR. A running VM is suspended meanwhile.",
    hardShutdown:
      "The VM is powered off without a shutdown of the guest. Data that the guest has not written to disk is lost.",
    hardReboot:
      "The VM is reset without a shutdown of the guest. Data that the guest has not written to disk is lost.",
    revert: "All changes since the snapshot are lost.",
    toTemplate:
      "A template cannot be started. VMs can be created from it, and it can be converted back to a VM.",
    toVm: "The VM can be started. VMs can no longer be created from it.",
    hostEnable: "The host accepts VMs again.",
    evacuate:
      "Running VMs are migrated to other hosts of the pool. The host stays enabled and accepts new VMs.",
    hostRestart:
      "VMs are migrated to other hosts first. If a VM cannot be migrated, the host is not rebooted.",
    smartRestart:
      "The VMs of the host are suspended and resumed after the reboot. They do not run during the reboot.",
    hostStop:
      "VMs are migrated to other hosts first. The host stays off until it is powered on.",
    toolstack:
      "XAPI is restarted on the host. VMs continue to run. Operations in progress on the host fail.",
    installUpdates:
      "Missing updates are installed on this host while its VMs run. The host is not rebooted and its toolstack is not restarted: updates that require this take effect afterwards. The rolling update of a pool does both.",
    coordinator:
      "The pool is unavailable for a short time, and operations in progress can fail. VMs continue to run.",
    "host.emergencyShutdown":
      "VMs are suspended where possible, otherwise they are powered off. They are not migrated.",
    "host.detach":
      "The host becomes a separate pool. Its local disks are erased.",
    "host.forget":
      "The host is removed from the pool permanently, together with the disks on its local storage.",
    enableHa:
      "When a host fails, its protected VMs are restarted on other hosts.",
    disableHa: "When a host fails, its VMs are not restarted on other hosts.",
    addHost:
      "A standalone host joins this pool. It must have the same version and no running VMs. Its own SRs and networks are replaced by those of the pool. It can be removed from the pool only by ejecting it, which erases its local disks.",
    poolManagement:
      "All hosts are reached over another network from now on. If an address on it is wrong or not routed, this server cannot reach the pool until it is corrected on the consoles of the hosts.",
    hostManagement:
      "The host is reached over another interface from now on. If its address is wrong or not routed, neither its pool nor this server can reach the host until it is corrected on its console.",
    resetCertificate:
      "The certificate of the host is replaced with a new self-signed one. Connections to the host are closed. Clients, including this server, connect again only when they accept the new certificate.",
    refreshCertificate:
      "The certificate by which the hosts of the pool trust each other is replaced by a new one. The certificate for clients is not changed.",
    certificate:
      "XAPI of the host uses the new certificate immediately. Connections to the host are closed; clients that trust only the old one, including this server, must be set to trust the new one.",
    createVtpm:
      "The guest gets a virtual TPM 2.0 at its next start, as Windows 11 requires. Its secrets are stored with the VM.",
    destroyVtpm:
      "All keys in the vTPM are lost. Disks that the guest has encrypted with them, such as with BitLocker, can be read only with their recovery key. This cannot be undone.",
    "pool.emergencyShutdown":
      "VMs are suspended where possible, otherwise they are powered off. Then all hosts are shut down.",
    disconnect:
      "No host can access the SR afterwards. Rejected while disks of the SR are in use.",
    "sr.forget":
      "The SR and the names of its disks are removed from the pool. The data on the storage is not deleted.",
    "sr.destroy": "All data on the storage is deleted. This cannot be undone.",
    resize:
      "A disk can be enlarged, not shrunk. The partitions of the guest are not changed.",
    deleteDisk: "All data on the disk is lost. This cannot be undone.",
    deleteNetwork:
      "Its VLANs and bonds are deleted too. Rejected while a running VM uses the network.",
    pifDisconnect:
      "Everything that uses this interface of the host loses its network connection.",
    taskDestroy:
      "The task is removed from the pool. The operation itself may continue.",
  },
  fields: {
    host: "Host",
    sr: "SR",
    name: "Name",
    description: "Description",
    tag: "Tag",
    tags: "Tags",
    folder: "Folder",
    folderHint:
      "Such as /Production/Web. Empty: no folder. XenCenter shows the same folders.",
    newFolder: "The folder {folder} is new.",
    tagsHint: "Separated by commas",
    size: "Size (GiB)",
    compression: "Compression",
    format: "Format",
    snapshotBefore: "Take a snapshot of the current state first",
    migrateBack:
      "Migrate back the VMs that were evacuated for maintenance mode",
    forceRestart: "Reboot even if a VM cannot be migrated",
    heartbeatSr: "Heartbeat SR",
    heartbeatSrHint: "Empty: selected by the pool",
    saveMemory: "Include memory (the VM resumes from this state)",
    quiesce: "Quiesce the file systems of the guest",
    snapshotName: "Empty: VM name and time",
    kind: "Type of copy",
    kindFast: "Fast clone, shares data with this VM",
    kindFull: "Full copy on the same SR",
    kindRunningHint: "A fast clone is possible while the VM is halted",
    namePattern: "Names of the copies",
    namePatternHint: "{name} stands for the name of the VM.",
    kindElsewhere: "Full copy to another SR or pool",
    srHint: "For a copy to another SR or pool",
    network: "Network",
    managementNetworkHint:
      "Each host needs an interface with an IP address on it",
    managementPifHint: "Only interfaces with an IP address are listed",
    joiningHostHint: "Only a host that is the only one of its pool can join",
    forceJoin: "Add it even if its CPUs differ from those of the pool",
    certificate: "Certificate",
    certificateHint: "PEM, starts with -----BEGIN CERTIFICATE-----",
    privateKey: "Private key",
    privateKeyHint: "PEM (PKCS #8, RSA), without a passphrase",
    chain: "Intermediate certificates",
    chainHint: "PEM, one after the other",
    pif: "Interface",
    pifHint: "Empty: internal network, only within a host",
    bondPif: "Interface {n}",
    bondMode: "Bond mode",
    bondModeHint: "LACP must be configured on the switch, too.",
    bondModes: {
      "active-backup": "Active-backup",
      "balance-slb": "Load balancing (balance-slb)",
      lacp: "LACP (802.3ad)",
    },
    vlan: "VLAN",
    mtu: "MTU",
    shutdownPinnedVms:
      "Shut down VMs that cannot be migrated and start them afterwards",
  },
  deleteVm: {
    lead: "All data on these disks is lost. This cannot be undone.",
    disks: { one: "{n} disk is deleted", other: "{n} disks are deleted" },
    shared: "kept: used by another VM",
    snapshots: {
      one: "{n} snapshot is deleted too",
      other: "{n} snapshots are deleted too",
    },
    running: {
      one: "The VM is running. It is powered off first.",
      other: "{n} VMs are running. They are powered off first.",
    },
    kept: {
      one: "{n} disk is kept: another VM uses it",
      other: "{n} disks are kept: other VMs use them",
    },
    counting: "Counting disks and snapshots…",
    notCounted: "The disks could not be counted: {reason}",
    keepDisks: "Keep disks",
  },
  maintenance: {
    lead: "VMs are migrated to other hosts of the pool. The host is disabled until it exits maintenance mode.",
    vms: { one: "{n} VM is migrated", other: "{n} VMs are migrated" },
    free: "The other hosts have {size} of free memory.",
    notEnough: "Not enough free memory: the request will be rejected.",
    checking: "Checking whether all VMs can be migrated…",
    unchecked: "Whether all VMs can be migrated could not be checked.",
    blocked: {
      one: "Migration of one VM is blocked:",
      other: "Migration of {n} VMs is blocked:",
    },
    stuck: {
      one: "{n} VM cannot be migrated. Shut it down first, otherwise the request is rejected:",
      other:
        "{n} VMs cannot be migrated. Shut them down first, otherwise the request is rejected:",
    },
    moveBlocked: "Migrate blocked VMs anyway",
  },
  importing,
  vmware: {
    connectLead: "VMs of an ESXi host or a vCenter server.",
    chooseLead:
      "VMs that are powered off and have no snapshots. They are copied; nothing changes at the source.",
    connect: "Connect",
    start: "Import",
    host: "Host",
    hostHint: "Name or address of an ESXi host or a vCenter server",
    user: "User",
    password: "Password",
    fingerprint: "Fingerprint of the certificate (SHA-256)",
    accept: "Accept certificate",
    fingerprintHint:
      "Only if the certificate is not signed by a trusted authority: the error names it. Compare it with that of the host.",
    search: "Search",
    stop: "Shut down running VMs before they are imported",
    stopHint: "They stay off at the source, also if the import fails.",
    networks: "The network of this pool for each network of the source:",
    off: "powered off",
    notOff: "not powered off",
    memory: "{size} memory",
    disks: { one: "{n} disk", other: "{n} disks" },
    importing: {
      one: "Importing {n} VM from {host}",
      other: "Importing {n} VMs from {host}",
    },
    seeTasks: "The progress is shown in the tasks.",
    done: { one: "{n} VM imported", other: "{n} VMs imported" },
    failed: {
      one: "{n} VM was not imported",
      other: "{n} VMs were not imported",
    },
  },
  srMaintenance: {
    lead: "VMs with disks on the SR are shut down, and all hosts are disconnected. The VMs are started when maintenance mode ends.",
    vms: {
      one: "{n} VM is shut down:",
      other: "{n} VMs are shut down:",
    },
  },
  newSr: {
    lead: "Existing data on the storage is kept, unless a local disk is formatted.",
    button: "Create SR",
    kind: "Type",
    host: "Host that probes the storage or has the local disk",
    probe: "Probe",
    probing: "Probing…",
    nothing: "No storage found.",
    pathHints: {
      nfs: "Such as /exports/vms.",
      isoNfs: "Server and path, such as nas.example.org:/exports/iso.",
      isoSmb: "Such as \\\\nas.example.org\\iso.",
      isoLocal: "A directory that exists on the host, such as /var/opt/iso.",
    },
    kinds: {
      nfs: "NFS",
      iscsi: "iSCSI (LVM)",
      hba: "Fibre Channel (LVM)",
      ext: "Local disk (ext)",
      lvm: "Local disk (LVM)",
      isoNfs: "ISO images on NFS",
      isoSmb: "ISO images on SMB",
      isoLocal: "ISO images in a directory of a host",
    },
    fields: {
      server: "Server",
      serverPath: "Path on the server",
      nfsVersion: "NFS version (optional)",
      target: "Target server",
      chapUser: "CHAP user (optional)",
      chapPassword: "CHAP password (optional)",
      targetIqn: "Target IQN",
      scsiId: "SCSI ID of the LUN",
      device: "Device, such as /dev/sdb",
      path: "Path",
      user: "User",
      password: "Password",
    },
  },
  edit: {
    lead: "Empty fields and “unchanged” leave the setting of each VM as it is.",
    unchanged: "unchanged",
    cpus: "vCPUs",
    memory: "Memory (GiB)",
    ha: "High availability",
    haModes: {
      none: "Do not restart",
      bestEffort: "Restart if possible",
      restart: "Restart",
    },
    autoPowerOn: "Start with the host",
    on: "yes",
    off: "no",
  },
  free: "{size} free",
  more: "More",
  moreOf: "More actions for {name}",
  bar: "Actions",
  heading: "{action}: {name}",
  many: { one: "{n} object", other: "{n} objects" },
  some: "{able} of {all}",
  leftOutNames: "Skipped: {names} ({reason})",
  leftOut: {
    one: "{n} selected object is skipped: {reason}",
    other: "{n} selected objects are skipped: {reason}",
  },
  reading: "Reading the selected objects…",
  typeToConfirm: "Type {name} to confirm",
  choose: "Select…",
  searchObject: "Type to search",
  moreObjects: "{n} more: type to narrow the search.",
  noObject: "No matching objects",
  missing: "Required.",
  tooSmall: "At least {least}",
  tooLarge: "At most {most}",
  running: "Running",
  done: "Done",
  doneAfter: "Done in {span}",
  downloading: "The download has started.",
  undone: "Undone",
  undoFailed: "Undo failed",
  open: "Open",
  tasks: "Tasks",
  /** Opens the dialog of a failed action again. */
  reopen: "Retry…",
  progress: "{done} of {total}",
  notFetched:
    "The browser did not start this download: allow multiple downloads for this page.",
  progressFailed: "{done} of {total}, {failed} failed",
  allDone: { one: "{n} done", other: "All {n} done" },
  someFailed: "{succeeded} done, {failed} failed",
  notBegun: "{n} not started",
  details: "Details",
  failures: "Failed objects",
  failuresLeftOut: "and {n} more",
  retryFailed: {
    one: "Retry",
    other: "Retry {n} failed",
  },
  /** What went wrong, and what to do. */
  errors: actionErrors,
};
