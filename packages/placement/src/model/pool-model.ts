/**
 * The state of a pool that plans are computed from. Ids are arbitrary strings;
 * the order of lists has no meaning. `indexPool` throws when a list names an id
 * that does not exist.
 */
export interface PoolModel {
  readonly hosts: readonly HostModel[];
  readonly vms: readonly VmModel[];
  readonly groups?: readonly GroupModel[];
  readonly hostAffinities?: readonly HostAffinityModel[];
}

/**
 * up: accepts VMs. disabled: its VMs continue to run, but it accepts none.
 * down: nothing runs there.
 */
export type HostState = "up" | "disabled" | "down";

export interface HostModel {
  readonly id: string;
  readonly state: HostState;
  /**
   * Bytes available to VMs: physical memory minus that of the hypervisor and
   * the control domain.
   */
  readonly memory: number;
  /** Physical CPUs, as XAPI counts them. */
  readonly cores: number;
  /**
   * Number of `cores` in use as measured, by VMs and everything else. Absent:
   * the sum of the `load` of its VMs.
   */
  readonly load?: number;
  /**
   * Whether there are no current metrics, so that its use of CPU is unknown. Its
   * VMs are not migrated because of CPU, and it receives no VMs for balance.
   */
  readonly isUnmeasured?: boolean;
  /** Ids of networks that a VM on this host can have an interface on. */
  readonly networks: readonly string[];
  /** Ids of SRs that are connected to the host. */
  readonly srs: readonly string[];
  /** Total counts of GPUs, SR-IOV functions and similar devices. */
  readonly devices?: readonly DeviceCount[];
  /**
   * CPU compatibility class, such as the vendor. A running VM can only migrate
   * to a host of the same class.
   */
  readonly cpu?: string;
}

export interface DeviceCount {
  /** For example the id of a GPU group or of an SR-IOV network. */
  readonly kind: string;
  readonly count: number;
}

export interface VmModel {
  readonly id: string;
  /** Bytes that the VM occupies on a host. */
  readonly memory: number;
  readonly vcpus: number;
  /** Number of cores in use, as measured. Absent: 0. */
  readonly load?: number;
  /** Ids of the SRs of its disks. */
  readonly srs: readonly string[];
  /** Ids of the networks of its interfaces. */
  readonly networks: readonly string[];
  readonly devices?: readonly DeviceCount[];
  /** Id of the host that runs the VM. Absent: it is not running. */
  readonly host?: string;
  /** CPU compatibility class that the running VM depends on. Absent: any. */
  readonly cpu?: string;
  /**
   * Why the running VM cannot be migrated: a XAPI error code such as
   * VM_HAS_PCI_ATTACHED. It may still start on another host.
   */
  readonly pinned?: string;
  /** Absent: the VM is not restarted when its host fails. */
  readonly restart?: RestartModel;
}

/** XAPI `VM.ha_restart_priority`, `VM.order` and `VM.start_delay`. */
export interface RestartModel {
  /** restart: must be restarted. best-effort: restarted if capacity is left. */
  readonly priority: "restart" | "best-effort";
  /**
   * VMs of a lower order start first; they have started before the next order
   * begins.
   */
  readonly order: number;
  /** Seconds to wait before the next order may begin. */
  readonly delay: number;
}

export interface GroupModel {
  readonly id: string;
  /** affinity: all on one host. anti-affinity: no two on one host. */
  readonly kind: "affinity" | "anti-affinity";
  /**
   * True: a hard constraint. False: a preference that costs `weight` for each
   * VM that violates it.
   */
  readonly required: boolean;
  readonly vms: readonly string[];
  /** Above 0; absent: 1. */
  readonly weight?: number;
}

export interface HostAffinityModel {
  readonly id: string;
  readonly vms: readonly string[];
  readonly hosts: readonly string[];
  /**
   * Added to the score of these hosts. Infinity: only these hosts are allowed.
   * -Infinity: these hosts are excluded.
   */
  readonly score: number;
}
