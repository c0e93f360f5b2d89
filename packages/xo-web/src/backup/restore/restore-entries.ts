import type { Json } from "@xo-server/kit";
import { diskKey, type Archive, type ArchivedInterface } from "../archive.js";

/** Values of the fields of a restore, as typed. */
export interface RestoreEntries {
  kind: "new" | "over" | "disk" | "test";
  name: string;
  pool: string;
  /** SR of disks that have no other. */
  sr: string;
  /** Another SR by the key of the disk; empty: `sr`. */
  srs: Record<string, string>;
  /** Keys of the disks to restore. */
  disks: readonly string[];
  /** Networks by the number of the interface; empty: the interface is left out. */
  networks: Readonly<Record<string, string>>;
  macs: "new" | "same";
  start: boolean;
  differential: boolean;
  /** The name of the VM that is overwritten. */
  typed: string;
  /** Key of the single disk. */
  disk: string;
}

type RestoreInputError = "required" | "sr" | "disks" | "typed";
type RestoreInputErrors = Partial<
  Record<keyof RestoreEntries, RestoreInputError>
>;

/** @param exists whether the VM still exists: its MAC addresses are in use */
export function newEntries(
  { vm, disks }: Archive,
  exists: boolean,
): RestoreEntries {
  const keys = disks.map(diskKey);
  return {
    kind: "new",
    name: vm?.name_label ?? "",
    pool: "",
    sr: "",
    srs: {},
    disks: keys,
    networks: {},
    macs: exists ? "new" : "same",
    start: false,
    differential: false,
    typed: "",
    disk: keys[0] ?? "",
  };
}

/** @param vmName the name that has to be typed before the VM is overwritten */
export function inputErrorsOf(
  entries: RestoreEntries,
  vmName: string | undefined,
): RestoreInputErrors {
  const inputErrors: RestoreInputErrors = {};
  const { kind, sr, disks, name, typed, disk } = entries;
  if (kind !== "over" && sr === "") inputErrors.sr = "sr";
  if (kind === "new" && name.trim() === "") inputErrors.name = "required";
  if (kind === "disk" && disk === "") inputErrors.disk = "required";
  if (kind === "over" && disks.length === 0) inputErrors.disks = "disks";
  if (kind === "over" && typed.trim() !== vmName) inputErrors.typed = "typed";
  return inputErrors;
}

export interface RestoreCall {
  readonly method: string;
  readonly params: Readonly<Record<string, Json>>;
}

/** The operation that restores as the form says. */
export function toCall(entries: RestoreEntries, archive: Archive): RestoreCall {
  const { id, disks: all, vm } = archive;
  const { kind, sr, disks, name } = entries;
  const some = disks.length < all.length ? { disks: [...disks] } : {};
  if (kind === "over")
    return {
      method: "backup.restoreOver",
      params: { id, vm: vm?.id ?? "", ...some },
    };
  if (kind === "test")
    return { method: "backupNg.checkBackup", params: { id, sr } };
  if (kind === "disk")
    return {
      method: "backup.restoreDisk",
      params: {
        id,
        disk: entries.disk,
        sr,
        ...(name.trim() === "" ? {} : { name: name.trim() }),
      },
    };
  const others = Object.entries(entries.srs).filter(
    ([disk, other]) => disks.includes(disk) && other !== "" && other !== sr,
  );
  return {
    method: "backup.restore",
    params: {
      id,
      sr,
      ...some,
      name: name.trim(),
      ...(others.length === 0 ? {} : { srs: Object.fromEntries(others) }),
      ...toNetworks(entries.networks),
      newMacs: entries.macs === "new",
      start: entries.start,
      ...(entries.differential ? { differential: true } : {}),
    },
  };
}

function toNetworks(
  networks: RestoreEntries["networks"],
): Readonly<Record<string, Json>> {
  const all = Object.entries(networks).map(
    ([device, id]) => [device, id === "" ? null : id] as const,
  );
  return all.length === 0 ? {} : { networks: Object.fromEntries(all) };
}

/**
 * The networks that a restore chooses by itself: the same one, or the only one of the same name.
 * @param networks of the pool
 * @returns by the number of the interface; empty: none
 */
export function defaultNetworks(
  interfaces: readonly ArchivedInterface[],
  networks: readonly { readonly id: string; readonly name_label?: string }[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    interfaces.map(({ device, network: { uuid, name } }) => {
      const same = networks.find(({ id }) => id === uuid);
      const named = networks.filter(({ name_label }) => name_label === name);
      const [only] = named.length === 1 && name !== "" ? named : [];
      return [device, (same ?? only)?.id ?? ""];
    }),
  );
}

/** Missing bytes by SR, if the disks are written in full. */
export function missingSpace(
  { sr, srs, disks, kind, disk }: RestoreEntries,
  archive: Archive,
  freeOf: (sr: string) => number | undefined,
): ReadonlyMap<string, number> {
  const coming = new Map<string, number>();
  if (kind !== "over")
    for (const one of archive.disks) {
      const key = diskKey(one);
      const isLeftOut =
        kind === "disk" ? key !== disk : kind === "new" && !disks.includes(key);
      if (isLeftOut) continue;
      const to = (kind === "new" && srs[key]) || sr;
      coming.set(to, (coming.get(to) ?? 0) + one.size);
    }
  const missing = new Map<string, number>();
  for (const [to, size] of coming) {
    const free = freeOf(to);
    if (free !== undefined && size > free) missing.set(to, size - free);
  }
  return missing;
}
