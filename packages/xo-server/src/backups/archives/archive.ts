import type { BackupDescription, ListedBackup } from "@xo-server/backup";
import type { BackupArchive } from "@xo-server/store";

/** A backup in a repository. Sizes in bytes. */
export interface Archive {
  /** `<repository>/<backup>` */
  readonly id: string;
  readonly repository: string;
  /** Id in the repository. */
  readonly backup: string;
  /** UUID of the VM; absent: the backup is not of a VM. */
  readonly vm?: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /**
   * The greater, the newer: the order of the repository's log, of copies that of
   * their source. In ms since the epoch, like `time`, but right if a clock was set back.
   */
  readonly order: number;
  /** The place in the log of its own repository, also of a copy; absent in copies that an earlier version has listed. */
  readonly logOrder?: number | undefined;
  /** Properties of the manifest, without `UNINDEXED`. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly disks: BackupDescription["disks"];
  readonly sizes: BackupDescription["sizes"];
}

/**
 * The moment whose state a backup has, in ms since the epoch: that of the snapshot. Its own `time` is when it was
 * stored, which is hours later for large disks, and of a copy when it was copied.
 */
export function takenAt({
  properties,
  time,
}: Pick<Archive, "properties" | "time">): number {
  const { time: taken } = properties;
  return typeof taken === "number" ? taken : time;
}

/** Properties of a manifest that are read only for a restore. */
export const UNINDEXED = ["records", "secrets"];

/** The subject of a backup that is not of a VM. */
export type ArchivedItem =
  | { readonly type: "pool"; readonly id: string }
  | { readonly type: "configuration" };

/** The property `type` of the manifests of backups that are not of VMs. */
export const ITEM_TYPES = {
  pool: "pool-metadata",
  configuration: "configuration",
} as const;

/** @returns undefined: the backup is of a VM, or of something that this version does not know */
export function itemOf({ properties }: Archive): ArchivedItem | undefined {
  const { type, pool } = properties;
  if (type === ITEM_TYPES.configuration) return { type: "configuration" };
  const { uuid } = (pool ?? {}) as { readonly uuid?: unknown };
  return type === ITEM_TYPES.pool && typeof uuid === "string"
    ? { type: "pool", id: uuid }
    : undefined;
}

type Body = Pick<Archive, "properties" | "disks" | "sizes"> &
  Partial<Pick<Archive, "time" | "logOrder">>;

/** @param id of a backup in a repository */
export function archiveId(repository: string, backup: string): string {
  return `${repository}/${backup}`;
}

/** @returns undefined: the text is not an id of an archive */
export function parseArchiveId(
  id: string,
): { readonly repository: string; readonly backup: string } | undefined {
  const [repository, backup, ...rest] = id.split("/");
  if (repository === undefined || backup === undefined || rest.length > 0)
    return undefined;
  return { repository, backup };
}

/** A row of the index of archives. `vm` is the UUID of the VM, for backups of VMs only. */
export function toStored(
  repository: string,
  { id, order, ...body }: ListedBackup,
): BackupArchive {
  const { vm: of, mirror } = body.properties as {
    readonly vm?: { readonly uuid?: unknown };
    readonly mirror?: { readonly order?: unknown };
  };
  const vm = of?.uuid;
  return {
    id: archiveId(repository, id),
    repository,
    ...(typeof vm === "string" ? { vm } : {}),
    order: typeof mirror?.order === "number" ? mirror.order : order,
    body: { ...body, logOrder: order },
  };
}

/** An archive from its row. The inverse of `toStored`. */
export function toArchive({ body, ...stored }: BackupArchive): Archive {
  const { backup } = parseArchiveId(stored.id)!;
  const { order } = stored;
  const { mirror } = (body as Body).properties;
  // Rows of earlier versions have no time and no place in the log of their own.
  const older =
    mirror === undefined ? { time: order, logOrder: order } : { time: order };
  return { ...stored, backup, ...older, ...(body as Body) };
}
