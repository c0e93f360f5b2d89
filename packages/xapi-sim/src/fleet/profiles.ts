import type { UpdateSystem } from "../updates/update-package.js";

/** What a pool is made of. */
export interface FleetProfile {
  readonly hosts: number;
  readonly vms: number;
  /** Logical processors of each host. */
  readonly cpusPerHost: number;
  /** Bytes of memory of each host. */
  readonly hostMemory: number;
  /** What hosts have of that, in turn. Default: all as much. */
  readonly memoryShares?: readonly number[];
  /** Brand and version of the hosts. Default: xcp-ng. */
  readonly system?: UpdateSystem;
  /** HA, groups and an uneven load: for demonstrations. */
  readonly hasDuties?: boolean;
  /** Disks can be read over NBD, with TLS, on the management network. */
  readonly hasNbd?: boolean;
  /** Physical network interfaces of each host; the first two make a bond. */
  readonly nicsPerHost: number;
  /** As a host is after its installation: no bond, no library of images. */
  readonly isBare?: true;
  readonly vlans: number;
  /** Shared SRs for disks (NFS and iSCSI, in turn). */
  readonly sharedSrs: number;
  /** PCI devices of each host. */
  readonly pciPerHost: number;
  /** Share of hosts with a GPU. */
  readonly gpuShare: number;
  /** Share of VMs that run. */
  readonly runningShare: number;
  /** Snapshots per VM, on average. */
  readonly snapshotsPerVm: number;
  /** Messages per VM; XAPI stores 10,000 in all. */
  readonly messagesPerVm: number;
  /** Numbers of disks and of interfaces that VMs have, each as likely. Default: one to four, one to three. */
  readonly disks?: readonly number[];
  readonly interfaces?: readonly number[];
}

const GiB = 2 ** 30;

const small: FleetProfile = {
  hosts: 3,
  vms: 60,
  cpusPerHost: 32,
  hostMemory: 256 * GiB,
  nicsPerHost: 2,
  vlans: 6,
  sharedSrs: 2,
  pciPerHost: 40,
  gpuShare: 0.34,
  runningShare: 0.85,
  snapshotsPerVm: 0.32,
  messagesPerVm: 2,
};

/** As in a pool that has grown over the years. */
const grown = {
  memoryShares: [1, 1.5, 0.75],
  hasDuties: true,
  hasNbd: true,
} as const;

/** The pools that demo, tests and benchmarks speak of. */
export const profiles = {
  C: { ...small, ...grown },
  B: {
    ...small,
    ...grown,
    hosts: 16,
    vms: 600,
    system: "xenserver-8",
    hostMemory: 512 * GiB,
    nicsPerHost: 4,
    vlans: 24,
    sharedSrs: 6,
    pciPerHost: 48,
    gpuShare: 0.13,
  },
  A: {
    ...small,
    ...grown,
    hosts: 64,
    vms: 5000,
    cpusPerHost: 64,
    hostMemory: 1024 * GiB,
    nicsPerHost: 4,
    vlans: 48,
    sharedSrs: 16,
    pciPerHost: 64,
    gpuShare: 0.125,
  },
  /** A host of its own that can join a pool. */
  host: {
    ...small,
    hosts: 1,
    vms: 0,
    nicsPerHost: 4,
    vlans: 0,
    sharedSrs: 0,
    gpuShare: 0,
    isBare: true,
  },
} as const satisfies Readonly<Record<string, FleetProfile>>;

/** One of a fleet of many pools: lean, so that a thousand VMs come to about 12,000 objects. */
export const fleetMember: FleetProfile = {
  ...small,
  hosts: 10,
  vms: 1000,
  hostMemory: 1024 * GiB,
  vlans: 12,
  sharedSrs: 3,
  pciPerHost: 8,
  gpuShare: 0.1,
  snapshotsPerVm: 0.1,
  messagesPerVm: 0.5,
  disks: [1, 1, 2],
  interfaces: [1],
};

export type ProfileName = keyof typeof profiles;

/** A profile for any number of hosts and VMs: the named one nearest in size, with memory enough for them; all hosts alike. */
export function profileFor(hosts: number, vms: number): FleetProfile {
  const base = hosts <= 8 ? profiles.C : hosts <= 32 ? profiles.B : profiles.A;
  const vmsPerHost = vms / Math.max(1, hosts);
  const needed = Math.ceil(vmsPerHost / 32) * 256 * GiB;
  return {
    ...base,
    system: "xcp-ng",
    memoryShares: [1],
    hasDuties: false,
    hosts,
    vms,
    hostMemory: Math.max(base.hostMemory, needed),
  };
}
