import { byName } from "./cabling.js";
import type { HostRow } from "./rows.js";
import { groupBy } from "./group-by.js";

/** Bytes. `usage` is what is allocated to disks. */
export interface SrRow {
  readonly id: string;
  readonly type: string;
  readonly name_label?: string;
  readonly SR_type: string;
  readonly content_type: string;
  readonly shared: boolean;
  readonly size?: number;
  readonly physical_usage?: number;
  readonly usage?: number;
  readonly $container?: string;
  readonly inMaintenanceMode: boolean;
}

export interface PbdRow {
  readonly id: string;
  readonly host?: string;
  readonly SR?: string;
  readonly attached: boolean;
}

export const srFields = [
  "id",
  "type",
  "name_label",
  "SR_type",
  "content_type",
  "shared",
  "size",
  "physical_usage",
  "usage",
  "$container",
  "inMaintenanceMode",
];
export const pbdFields = ["id", "host", "SR", "attached"];

export interface StorageUsage {
  readonly sr: SrRow;
  /** The host of a local SR. */
  readonly host: string | undefined;
  /** Hosts that should be connected, by name, with their state. */
  readonly hosts: readonly { readonly id: string; readonly isOn: boolean }[];
  /** 0 to 1 of its size; undefined: unknown. */
  readonly used: number | undefined;
  /** Space allocated to disks, as a multiple of the size of the SR. */
  readonly allocated: number | undefined;
  readonly tone: "good" | "warn" | "bad";
}

interface StorageMap {
  readonly shared: readonly StorageUsage[];
  readonly local: readonly StorageUsage[];
  /** SRs without disks: physical drives and ISO libraries. */
  readonly removable: readonly StorageUsage[];
}

const NEARLY_FULL = 0.85;
const FULL = 0.95;

interface StorageInput {
  readonly hosts: readonly HostRow[];
  readonly srs: readonly SrRow[];
  readonly pbds: readonly PbdRow[];
}

/** The SRs of a pool, fullest first, with the hosts that reach them. */
export function toStorageMap({ hosts, srs, pbds }: StorageInput): StorageMap {
  const sorted = [...hosts].sort(byName);
  const bySr = groupBy(pbds, ({ SR }) => SR);
  const rank = new Map(sorted.map(({ id }, index) => [id, index]));
  const items = srs
    .map((sr) => toUsage(sr, sorted, bySr.get(sr.id) ?? []))
    .sort(
      (a, b) =>
        (b.used ?? 0) - (a.used ?? 0) ||
        byName(a.sr, b.sr) ||
        (rank.get(a.host ?? "") ?? 0) - (rank.get(b.host ?? "") ?? 0),
    );
  const isRemovable = ({ sr }: StorageUsage) =>
    sr.SR_type === "udev" || sr.content_type === "iso";
  const lasting = items.filter((item) => !isRemovable(item));
  return {
    shared: lasting.filter(({ sr }) => sr.shared),
    local: lasting.filter(({ sr }) => !sr.shared),
    removable: items.filter(isRemovable),
  };
}

function toUsage(
  sr: SrRow,
  hosts: readonly HostRow[],
  pbds: readonly PbdRow[],
): StorageUsage {
  const on = new Map(pbds.map(({ host, attached }) => [host, attached]));
  const expected = sr.shared ? hosts : hosts.filter(({ id }) => on.has(id));
  const states = expected.map(({ id }) => ({ id, isOn: on.get(id) === true }));
  const { size = 0, physical_usage = 0, usage = 0 } = sr;
  const used = size > 0 ? physical_usage / size : undefined;
  return {
    sr,
    host: sr.shared ? undefined : expected[0]?.id,
    hosts: states,
    used,
    allocated: size > 0 ? usage / size : undefined,
    tone: toneOf(used ?? 0, states, sr),
  };
}

function toneOf(
  used: number,
  hosts: StorageUsage["hosts"],
  sr: SrRow,
): "good" | "warn" | "bad" {
  if (used >= FULL) return "bad";
  const isOff = hosts.some(({ isOn }) => !isOn);
  return used >= NEARLY_FULL || isOff || sr.inMaintenanceMode ? "warn" : "good";
}
