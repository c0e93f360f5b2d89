/**
 * What is known of a pool when it is asked what should run where. Ids are any
 * texts; the order of lists means nothing. What a list names and the pool does
 * not have is an error of whoever made the model (`indexPool` throws).
 */
export interface PoolModel {
  readonly hosts: readonly HostModel[];
  readonly vms: readonly VmModel[];
  readonly groups?: readonly GroupModel[];
  readonly locations?: readonly LocationModel[];
}

/** up: takes VMs. disabled: its VMs go on, none comes. down: nothing runs there. */
export type HostState = "up" | "disabled" | "down";

export interface HostModel {
  readonly id: string;
  readonly state: HostState;
  /** Bytes that VMs can have in all: what is built in, less what the hypervisor and the control domain keep. */
  readonly memory: number;
  /** Physical CPUs, as XAPI counts them. */
  readonly cores: number;
  /** Of `cores`, in use as measured, by VMs and all else. Absent: what its VMs' `load` adds up to. */
  readonly load?: number;
  /** Ids of networks that a VM can have an interface on there. */
  readonly networks: readonly string[];
  /** Ids of SRs that are plugged there. */
  readonly srs: readonly string[];
  /** GPUs, SR-IOV functions and the like, in all. */
  readonly devices?: readonly DeviceCount[];
  /** What a VM that was started there can find: a VM that runs goes only to the same. Such as a CPU vendor. */
  readonly cpu?: string;
}

export interface DeviceCount {
  /** Such as the id of a GPU group or of an SR-IOV network. */
  readonly kind: string;
  readonly count: number;
}

export interface VmModel {
  readonly id: string;
  /** Bytes that it takes of a host. */
  readonly memory: number;
  readonly vcpus: number;
  /** Cores that it keeps busy, as measured. Absent: 0. */
  readonly load?: number;
  /** Ids of SRs with its disks. */
  readonly srs: readonly string[];
  /** Ids of networks with its interfaces. */
  readonly networks: readonly string[];
  readonly devices?: readonly DeviceCount[];
  /** Where it runs. Absent: it does not. */
  readonly host?: string;
  /** The CPU that it found where it runs. Absent: any will do. */
  readonly cpu?: string;
  /** Why it cannot move while it runs: XAPI's code, such as VM_HAS_PCI_ATTACHED. It may still start elsewhere. */
  readonly pinned?: string;
  /** Absent: nobody starts it anew when its host dies. */
  readonly restart?: RestartModel;
}

/** XAPI `VM.ha_restart_priority`, `VM.order` and `VM.start_delay`. */
export interface RestartModel {
  /** "restart": has to; "best-effort": if there is room after those. */
  readonly priority: "restart" | "best-effort";
  /** Lower ones first; those of one order have started before the next begin. */
  readonly order: number;
  /** Seconds after which the next order may begin. */
  readonly delay: number;
}

export interface GroupModel {
  readonly id: string;
  /** together: all on one host. apart: no two on one host. */
  readonly kind: "together" | "apart";
  /** A rule that nothing breaks; or else a wish that costs `weight` for each VM that it is not met for. */
  readonly strict: boolean;
  readonly vms: readonly string[];
  /** Above 0; absent: 1. */
  readonly weight?: number;
}

export interface LocationModel {
  readonly id: string;
  readonly vms: readonly string[];
  readonly hosts: readonly string[];
  /** Added to the score of these hosts. Infinity: only there; -Infinity: never there. */
  readonly score: number;
}
