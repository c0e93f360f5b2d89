import type { Draft } from "./draft.js";
import { namesOf } from "./draft.js";

/** Data for the validation of the form; sizes in bytes. */
export interface PoolResources {
  /** Hosts that accept VMs. */
  readonly hosts: readonly {
    readonly id: string;
    readonly memory: { readonly size: number; readonly usage: number };
    readonly cpus: { readonly cores: number };
  }[];
  readonly srs: readonly {
    readonly id: string;
    readonly free: number;
    /** Thin provisioning. */
    readonly isThin: boolean;
  }[];
  /** The pool has been read: without a default SR it has none. */
  readonly isPoolKnown: boolean;
  readonly defaultSr: string | undefined;
  /** Names of existing VMs of the pool. */
  readonly takenNames: ReadonlySet<string>;
  readonly takenMacs: ReadonlySet<string>;
  /** Limits of the chosen resource set. */
  readonly limits: Readonly<Record<string, { readonly available: number }>>;
  readonly needsSet: boolean;
}

type ProblemCode =
  | "template"
  | "name"
  | "nameTaken"
  | "count"
  | "cpus"
  | "topology"
  | "memory"
  | "memoryOfHosts"
  | "iso"
  | "diskSize"
  | "noSr"
  | "srFull"
  | "network"
  | "macFormat"
  | "macTwice"
  | "macTaken"
  | "macOfMany"
  | "cloudConfig"
  | "cloudConfigHead"
  | "needsSet"
  | "quota"
  | "cpusOfHosts";

export interface Problem {
  readonly code: ProblemCode;
  /** A warning; the VMs can be created. */
  readonly isWarning?: boolean;
  /** Bytes, or a count. */
  readonly amount?: number;
}

/** By field: `name`, `disk:<key>`, `vif:<key>`... */
export type Problems = ReadonlyMap<string, Problem>;

/** Storage and memory in bytes and vCPUs, of all VMs. */
export function totalsOf(draft: Draft) {
  const { count, cpus, memory, disks } = draft;
  const disk = disks.reduce((sum, { size }) => sum + size, 0);
  return { cpus: cpus * count, memory: memory * count, disk: disk * count };
}

/** Validates the form: the first problem of each field. */
export function problemsOf(draft: Draft, resources: PoolResources): Problems {
  const problems = new Map<string, Problem>();
  for (const check of [checkBase, checkSize, checkDisks, checkVifs, checkSet])
    for (const [field, problem] of check(draft, resources))
      if (!problems.has(field)) problems.set(field, problem);
  return problems;
}

/** Whether the VMs can be created. */
export function canCreate(problems: Problems): boolean {
  return [...problems.values()].every(({ isWarning }) => isWarning === true);
}

type Found = Iterable<[field: string, problem: Problem]>;

function* checkBase(draft: Draft, { takenNames }: PoolResources): Found {
  if (draft.template === "") yield ["template", { code: "template" }];
  if (draft.name.trim() === "") yield ["name", { code: "name" }];
  else if (namesOf(draft, 250).some((name) => takenNames.has(name)))
    yield ["name", { code: "nameTaken", isWarning: true }];
  const { count } = draft;
  if (!Number.isInteger(count) || count < 1 || count > 250)
    yield ["count", { code: "count" }];
  if (draft.boot === "iso" && draft.iso === "")
    yield ["iso", { code: "iso", isWarning: true }];
  if (draft.networkConfig !== "" && draft.cloudConfig === "")
    yield ["cloudConfig", { code: "cloudConfig" }];
  else if (!hasKnownHead(draft.cloudConfig))
    yield ["cloudConfig", { code: "cloudConfigHead", isWarning: true }];
}

/**
 * Whether cloud-init finds out by the first line what to do with user data:
 * `#cloud-config`, `#!/bin/sh`, `## template: jinja`, MIME... It ignores other
 * data, apart from a line in its log.
 * Source: "User-data formats" of the documentation of cloud-init.
 */
function hasKnownHead(userData: string): boolean {
  return userData === "" || /^(#|Content-Type:|MIME-Version:)/i.test(userData);
}

function* checkSize(draft: Draft, { hosts }: PoolResources): Found {
  const { cpus, coresPerSocket, memory } = draft;
  if (!Number.isInteger(cpus) || cpus < 1 || cpus > 254)
    yield ["cpus", { code: "cpus" }];
  else if (coresPerSocket > 0 && cpus % coresPerSocket !== 0)
    yield ["coresPerSocket", { code: "topology" }];
  const cores = Math.max(0, ...hosts.map((host) => host.cpus.cores));
  if (hosts.length > 0 && cpus > cores)
    yield ["cpus", { code: "cpusOfHosts", isWarning: true, amount: cores }];
  if (!(memory >= 16 * 2 ** 20)) yield ["memory", { code: "memory" }];
  const able = hosts.filter(({ id }) => !draft.host || id === draft.host);
  const free = able.map((host) => host.memory.size - host.memory.usage);
  const most = Math.max(0, ...free);
  const isTight = hosts.length > 0 && memory > most;
  if (isTight)
    yield ["memory", { code: "memoryOfHosts", isWarning: true, amount: most }];
}

function* checkDisks(
  draft: Draft,
  { srs, defaultSr, isPoolKnown }: PoolResources,
): Found {
  const coming = new Map<string, number>();
  for (const { key, size, least, sr } of draft.disks) {
    if (!(size >= least))
      yield [`disk:${key}`, { code: "diskSize", amount: least }];
    const to = sr || defaultSr;
    if (to !== undefined)
      coming.set(to, (coming.get(to) ?? 0) + size * draft.count);
    else if (isPoolKnown) yield [`disk:${key}`, { code: "noSr" }];
  }
  for (const { id, free, isThin } of srs) {
    const requested = coming.get(id) ?? 0;
    if (requested <= free) continue;
    const last = draft.disks.findLast(({ sr }) => (sr || defaultSr) === id);
    const problem = { code: "srFull", amount: requested - free } as const;
    // Thin disks beyond the free space are a warning only.
    const graded = isThin ? { ...problem, isWarning: true } : problem;
    if (last !== undefined) yield [`disk:${last.key}`, graded];
  }
}

const MAC = /^([\da-f]{2}:){5}[\da-f]{2}$/i;

function* checkVifs(
  { vifs, count }: Draft,
  { takenMacs }: PoolResources,
): Found {
  const seen = new Set<string>();
  for (const { key, network, mac } of vifs) {
    const field = `vif:${key}`;
    if (network === "") yield [field, { code: "network" }];
    if (mac === "") continue;
    const same = mac.toLowerCase();
    if (!MAC.test(mac)) yield [field, { code: "macFormat" }];
    else if (count > 1) yield [field, { code: "macOfMany" }];
    else if (seen.has(same)) yield [field, { code: "macTwice" }];
    else if (takenMacs.has(same))
      yield [field, { code: "macTaken", isWarning: true }];
    seen.add(same);
  }
}

function* checkSet(draft: Draft, { limits, needsSet }: PoolResources): Found {
  if (needsSet && draft.resourceSet === "")
    yield ["resourceSet", { code: "needsSet" }];
  const totals = { ...totalsOf(draft), vms: draft.count };
  for (const [name, requested] of Object.entries(totals)) {
    const available = limits[name]?.available ?? Infinity;
    if (draft.resourceSet !== "" && requested > available)
      yield ["resourceSet", { code: "quota", amount: requested - available }];
  }
}
