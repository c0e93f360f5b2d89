import type { Benchmark, Collection, Verification } from "./maintenance.js";

/** A backup repository as `remote.getAll` returns it. Sizes in bytes, times in ms since the epoch. */
export interface Repository {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly enabled: boolean;
  readonly options?: string;
  /** Days in which every byte is verified once; absent: 30. */
  readonly verifyDays?: number;
  readonly error?: RepositoryError;
  readonly benchmarks?: readonly Benchmark[];
  readonly state: RepositoryState;
}

interface RepositoryError {
  readonly code: string;
  readonly message: string;
  readonly data?: unknown;
  readonly since: number;
}

export interface RepositoryState {
  readonly backups?: number;
  /** Of all files. */
  readonly stored?: number;
  /** Sizes of the disks in all backups. */
  readonly data?: number;
  readonly deduplication?: number;
  readonly growth?: readonly GrowthSample[];
  readonly passphrases?: readonly string[];
  readonly parity?: boolean;
  /** Of the file system. */
  readonly capacity?: number;
  readonly available?: number;
  readonly inspectedAt?: number;
  readonly createdAt?: number;
  readonly verification?: Verification;
  readonly collection?: Collection;
}

export interface GrowthSample {
  readonly time: number;
  readonly stored: number;
}

/** `readOnly`: backups can be restored. `replaced`: another repository is in its place. `older`: its newest changes are missing. */
type Reachability =
  | "disabled"
  | "failed"
  | "readOnly"
  | "full"
  | "replaced"
  | "older"
  | "damaged"
  | "reached"
  | "unknown";

const byCode: Readonly<Record<string, Reachability>> = {
  BACKUP_REPOSITORY_READ_ONLY: "readOnly",
  BACKUP_REPOSITORY_FULL: "full",
  BACKUP_REPOSITORY_KEY_WRONG: "replaced",
  BACKUP_REPOSITORY_OLDER: "older",
  BACKUP_REPOSITORY_DAMAGED: "damaged",
};

/** Whether the server has been able to open the repository, as of its last check. */
export function reachabilityOf({
  enabled,
  error,
  state,
}: Repository): Reachability {
  if (!enabled) return "disabled";
  if (error !== undefined) return byCode[error.code] ?? "failed";
  return state.inspectedAt === undefined ? "unknown" : "reached";
}

export const reachabilityTones: Readonly<Record<Reachability, string>> = {
  disabled: "",
  failed: "bad",
  readOnly: "bad",
  full: "bad",
  replaced: "bad",
  older: "bad",
  damaged: "bad",
  reached: "good",
  unknown: "busy",
};

/**
 * Why no backup in it can be read now. A full or read-only one can be read; in a damaged one, each backup has its own state.
 */
export function unreadableStateOf(
  repository: Repository,
): Reachability | undefined {
  const state = reachabilityOf(repository);
  const isUnreadable =
    state === "disabled" ||
    state === "failed" ||
    state === "replaced" ||
    state === "older";
  return isUnreadable ? state : undefined;
}

/**
 * Those of the repositories with these ids that no job can use now; one whose
 * state is not known yet is not among them.
 */
export function unusableOf(
  ids: readonly string[],
  repositories: readonly Repository[],
): readonly Repository[] {
  return repositories.filter((one) => {
    const state = reachabilityOf(one);
    return ids.includes(one.id) && state !== "reached" && state !== "unknown";
  });
}

/**
 * Those of the repositories whose backups a restore test cannot read now.
 * @param ids undefined: all repositories that are enabled
 */
export function unreadableOf(
  ids: readonly string[] | undefined,
  repositories: readonly Repository[],
): readonly Repository[] {
  return repositories.filter(
    (one) =>
      (ids?.includes(one.id) ?? one.enabled) &&
      unreadableStateOf(one) !== undefined,
  );
}

/** The full part of the file system, 0 to 1; undefined: not known. */
export function usedFraction({
  capacity,
  available,
}: RepositoryState): number | undefined {
  if (capacity === undefined || available === undefined || capacity <= 0)
    return undefined;
  return Math.min(1, Math.max(0, (capacity - available) / capacity));
}

const DAY_MS = 86_400_000;

/** Growth in bytes a day over the samples; undefined: less than a day is known. */
export function dailyGrowth(
  samples: readonly GrowthSample[] | undefined,
): number | undefined {
  const [first] = samples ?? [];
  const last = samples?.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const days = (last.time - first.time) / DAY_MS;
  return days < 1 ? undefined : (last.stored - first.stored) / days;
}

/** Days until the file system is full at this rate; undefined: not known, or it does not grow. */
export function daysLeft({
  available,
  growth,
}: RepositoryState): number | undefined {
  const rate = dailyGrowth(growth);
  if (rate === undefined || rate <= 0 || available === undefined)
    return undefined;
  return available / rate;
}

/** Converts the entered location of a repository, a folder or a URL, to a URL. */
export function toUrl(location: string): string {
  const trimmed = location.trim();
  return trimmed.startsWith("/") ? `file://${encodeURI(trimmed)}` : trimmed;
}

/** The folder of a URL, as it is typed. */
export function toLocation(url: string): string {
  if (!url.startsWith("file:///")) return url;
  try {
    return decodeURI(url.slice("file://".length));
  } catch {
    return url;
  }
}
