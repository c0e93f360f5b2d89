import type { Formats } from "../locale/formats.js";

/** A backup of a VM as `backupArchive.getAll` returns it. Sizes in bytes, times in ms since the epoch. */
export interface Archive {
  /** `<repository>/<backup>` */
  readonly id: string;
  readonly backupRepository: string;
  readonly timestamp: number;
  readonly mode: string;
  readonly jobId?: string;
  readonly vm?: ArchivedVm;
  readonly pool?: { readonly uuid?: string; readonly name?: string };
  readonly disks: readonly ArchivedDisk[];
  /** Of all disks. */
  readonly size: number;
  readonly read?: number;
  readonly stored?: number;
  readonly skipped?: readonly { readonly name_label?: string }[];
  readonly verification: "verified" | "damaged" | "none";
  /** The last restore test. */
  readonly restoreTest?: RestoreTest;
  /** What the user may do with it; absent: only administrators may. */
  readonly allowed?: readonly string[];
}

export interface RestoreTest {
  readonly time: number;
  readonly success: boolean;
  readonly method?: "tools" | "script";
  /** Until the guest reported. */
  readonly bootMs?: number;
  readonly durationMs?: number;
  readonly hasScreenshot?: boolean;
  readonly error?: string;
}

/** A network interface of the VM of a backup, as `backupArchive.getInterfaces` returns it. */
export interface ArchivedInterface {
  /** Its number. */
  readonly device: string;
  readonly mac: string;
  readonly network: { readonly uuid: string; readonly name: string };
}

interface ArchivedVm {
  readonly id: string;
  readonly name_label?: string;
}

export interface ArchivedDisk {
  /** `<archive>/<disk>` */
  readonly id: string;
  readonly uuid: string;
  readonly name: string;
  readonly size: number;
}

/** The name of a disk in its backup, as operations take it. */
export function diskKey({ id }: Pick<ArchivedDisk, "id">): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** Options of a field that selects a disk of a backup. */
export function diskChoices({ disks }: Archive, formats: Formats) {
  return disks.map((disk) => ({
    value: diskKey(disk),
    label: `${disk.name} (${formats.size(disk.size)})`,
  }));
}

export const verificationTones: Readonly<
  Record<Archive["verification"], string>
> = { verified: "good", damaged: "bad", none: "" };

/** A VM with its backups. */
interface BackedUpVm {
  readonly id: string;
  readonly name: string;
  readonly pool: string;
  readonly count: number;
  readonly newest: number;
  readonly oldest: number;
  /** Of the disks of the newest backup. */
  readonly size: number;
  readonly damaged: number;
  /** Backups that cannot be read now, because their repository cannot. */
  readonly unreadable: number;
  /** Backups all of whose data was read again after they were written. */
  readonly verified: number;
  /** Ids. */
  readonly repositories: readonly string[];
}

/**
 * VMs by name, from all backups; the name is that of the newest backup.
 * @param archives newest first, as the server orders them: it does not rely on clocks
 * @param unreadableRepositories ids of repositories that cannot be read now
 */
export function byVm(
  archives: readonly Archive[],
  unreadableRepositories: ReadonlySet<string> = new Set(),
): readonly BackedUpVm[] {
  const all = new Map<string, Archive[]>();
  for (const archive of archives) {
    const { vm } = archive;
    if (vm === undefined) continue;
    const own = all.get(vm.id);
    if (own === undefined) all.set(vm.id, [archive]);
    else own.push(archive);
  }
  return [...all]
    .map(([id, own]) => {
      const newest = own[0]!;
      return {
        id,
        name: newest.vm?.name_label ?? id,
        pool: newest.pool?.name ?? "",
        count: own.length,
        newest: newest.timestamp,
        oldest: own.at(-1)!.timestamp,
        size: newest.size,
        damaged: own.filter((one) => one.verification === "damaged").length,
        unreadable: own.filter((one) =>
          unreadableRepositories.has(one.backupRepository),
        ).length,
        verified: own.filter(
          (one) =>
            one.verification === "verified" &&
            !unreadableRepositories.has(one.backupRepository),
        ).length,
        repositories: [...new Set(own.map((one) => one.backupRepository))],
      };
    })
    .sort((a, b) => a.name.localeCompare(b.name));
}

/**
 * Backups by the day of their time.
 * @param archives newest first, as the server orders them
 * @param dayOf name of the day of a time
 */
export function byDay(
  archives: readonly Archive[],
  dayOf: (time: number) => string,
): readonly { readonly day: string; readonly archives: readonly Archive[] }[] {
  const days = new Map<string, Archive[]>();
  for (const archive of archives) {
    const day = dayOf(archive.timestamp);
    days.set(day, [...(days.get(day) ?? []), archive]);
  }
  return [...days].map(([day, own]) => ({ day, archives: own }));
}
