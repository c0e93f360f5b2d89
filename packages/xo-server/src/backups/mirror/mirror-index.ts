import { itemOf, takenAt, type Archive } from "../archives/archive.js";
import type { RunItem } from "../run/run-items.js";

/** A backup in the source repository. */
export interface SourceBackup {
  /** Id in the repository. */
  readonly backup: string;
  /** Time of the snapshot, in ms since the epoch. */
  readonly time: number;
  /** The greater, the newer, see `Archive`. */
  readonly order: number;
  readonly isDamaged: boolean;
}

/** A copy in a target. */
export interface Copy {
  /** Id of the copied backup in the source. */
  readonly of: string;
  /** Id in the target. */
  readonly backup: string;
  readonly time: number;
  /** Of the copied backup. */
  readonly order: number;
  /** Id of the run that has copied it; absent in copies of earlier versions. */
  readonly run?: string | undefined;
  /** What copying it has read and stored, in bytes. */
  readonly read: number;
  readonly stored: number;
}

/** The property `mirror` in the manifest of a copy. */
export interface MirrorProperty {
  /** Id of the job. */
  readonly job: string;
  /** The id of the source in its own configuration. */
  readonly repository: string;
  /** Id of the backup in the source. */
  readonly backup: string;
  /** That of the backup in the source; absent in copies of earlier versions. */
  readonly order?: number;
  /** Id of the run that has made the copy; absent in copies of earlier versions. */
  readonly run?: string;
}

/** A VM or other item of which the source has backups. */
export interface MirroredItem extends RunItem {
  /** Oldest first. */
  readonly backups: SourceBackup[];
}

/**
 * Backups of a source, grouped by item.
 * @param pages newest first
 */
export async function groupSources(
  pages: AsyncIterable<readonly Archive[]>,
  isDamaged: (archive: Archive) => boolean,
): Promise<MirroredItem[]> {
  const items = new Map<string, MirroredItem>();
  for await (const page of pages)
    for (const archive of page) {
      const item = toItem(archive);
      if (item === undefined) continue;
      const key = keyOf(item);
      const known = items.get(key) ?? { ...item, backups: [] };
      items.set(key, known);
      known.backups.unshift({
        backup: archive.backup,
        time: takenAt(archive),
        order: archive.order,
        isDamaged: isDamaged(archive),
      });
    }
  return [...items.values()];
}

/** Copies of a job in a target, grouped by item. */
export async function groupCopies(
  pages: AsyncIterable<readonly Archive[]>,
  { job, repository }: Pick<MirrorProperty, "job" | "repository">,
): Promise<ReadonlyMap<string, readonly Copy[]>> {
  const copies = new Map<string, Copy[]>();
  for await (const page of pages)
    for (const archive of page) {
      const item = toItem(archive);
      const { mirror } = archive.properties as { mirror?: MirrorProperty };
      if (item === undefined || mirror?.job !== job) continue;
      if (mirror.repository !== repository) continue;
      const key = keyOf(item);
      const own = copies.get(key) ?? [];
      copies.set(key, own);
      own.push({
        of: mirror.backup,
        backup: archive.backup,
        time: takenAt(archive),
        order: mirror.order ?? takenAt(archive),
        run: mirror.run,
        read: archive.sizes.read ?? 0,
        stored: archive.sizes.stored ?? 0,
      });
    }
  return copies;
}

/** Key of an item in the result of `groupCopies`. */
export function keyOf({ type, id }: Pick<RunItem, "type" | "id">): string {
  return `${type} ${id}`;
}

/** @returns undefined: this version does not know the type of the item */
function toItem(archive: Archive): RunItem | undefined {
  const { vm: id, properties } = archive;
  const { vm, pool } = properties as {
    readonly vm?: { readonly name_label?: string };
    readonly pool?: { readonly name_label?: string };
  };
  if (id !== undefined) return { type: "VM", id, name: vm?.name_label ?? id };
  const item = itemOf(archive);
  if (item === undefined) return undefined;
  return item.type === "pool"
    ? { ...item, name: pool?.name_label ?? item.id }
    : { ...item, id: item.type, name: "Configuration of the server" };
}
