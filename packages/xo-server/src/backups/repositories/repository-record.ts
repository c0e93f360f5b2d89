import type { Anchor, RepositoryInspection } from "@xo-server/backup";
import { XoError } from "@xo-server/model";
import type { BackupRepository } from "@xo-server/store";
import type { Verification } from "./verification.js";

/** Maximum number of size samples, one per day. */
const MAX_GROWTH = 400;
const DAY_MS = 86_400_000;

/** Why a repository could not be used at the last attempt. */
interface RepositoryProblem {
  readonly code: string;
  readonly message: string;
  /** `repository` (name) and `reason`, for clients that have texts of their own. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Time of the first failure since the last success, in milliseconds since the epoch. */
  readonly since: number;
}

/** The last garbage collection. Times in milliseconds since the epoch. */
interface GarbageCollection {
  readonly startedAt: number;
  /** Absent: it is running, or was interrupted. */
  readonly endedAt?: number;
  /** Bytes. */
  readonly freed?: number;
  /** Number of files that will be deleted after the grace period. */
  readonly marked?: number;
  readonly deleted?: number;
}

/** A test of a backup. Times in milliseconds. */
interface RestoreTest {
  /** Id of the backup in the repository. */
  readonly backup: string;
  /** Time of its end, since the epoch. */
  readonly time: number;
  readonly success: boolean;
  /** What has reported: the guest tools, or a script of the guest. */
  readonly method?: string;
  /** Time until the guest reported. */
  readonly bootMs?: number;
  readonly durationMs: number;
  /** Whether a screenshot of the console was taken. */
  readonly hasScreenshot?: boolean;
  readonly error?: string;
}

/**
 * State of a repository at the last access. Sizes in bytes, times in milliseconds
 * since the epoch.
 */
export interface RepositoryState {
  /** Id in the repository's own configuration. */
  readonly repository?: string;
  readonly createdAt?: number;
  readonly anchor?: Anchor;
  /** Absent: the last attempt was successful. */
  readonly problem?: RepositoryProblem | undefined;
  readonly inspectedAt?: number;
  readonly parity?: boolean;
  readonly passphrases?: readonly string[];
  readonly backups?: number;
  /** Size of all files of the repository. */
  readonly stored?: number;
  /** Size of the file system; absent if it is not known. */
  readonly capacity?: number;
  readonly available?: number;
  /** Total size of the disks in all backups. */
  readonly data?: number;
  readonly verification?: Verification;
  readonly collection?: GarbageCollection;
  /** The last test of each backup, at most 200. */
  readonly restoreTests?: readonly RestoreTest[];
  /** Sequence number of the log up to which the index of archives is complete. */
  readonly indexed?: number;
  /** Ids of backups whose manifest cannot be read. */
  readonly unreadable?: readonly string[];
  /** `stored`, once a day. */
  readonly growth?: readonly {
    readonly time: number;
    readonly stored: number;
  }[];
  readonly benchmarks?: readonly {
    readonly time: number;
    /** Bytes per second. */
    readonly readRate: number;
    readonly writeRate: number;
  }[];
}

/** A repository in the database of the server. */
export interface RepositoryRecord extends Omit<BackupRepository, "state"> {
  readonly state: RepositoryState;
}

/** Adds the type of `state`, which only this module's folder writes. */
export function toRecord(stored: BackupRepository): RepositoryRecord {
  return stored;
}

/** Options as they are stored. @param input.verifyDays null: the default; undefined: as before */
export function toOptions(
  before: Readonly<Record<string, unknown>>,
  { verifyDays }: { readonly verifyDays?: number | null | undefined },
): Record<string, unknown> {
  const { verifyDays: old, ...options } = before;
  const days = verifyDays === undefined ? old : verifyDays;
  return typeof days === "number" ? { ...options, verifyDays: days } : options;
}

/** @throws XoError ALREADY_EXISTS */
export function checkNew(
  all: readonly RepositoryRecord[],
  isSame: (one: RepositoryRecord) => boolean,
  url: string,
): void {
  const found = all.find(isSame);
  if (found === undefined) return;
  throw new XoError("ALREADY_EXISTS", {
    type: `backup repository "${found.name}" (${url})`,
  });
}

/** The newest sample of a day replaces earlier ones. */
function withSample(
  growth: NonNullable<RepositoryState["growth"]>,
  sample: { readonly time: number; readonly stored: number },
): NonNullable<RepositoryState["growth"]> {
  const day = (time: number) => Math.floor(time / DAY_MS);
  const earlier = growth.filter(({ time }) => day(time) !== day(sample.time));
  return [...earlier, sample].slice(-MAX_GROWTH);
}

/** The state after sizes were read. @param now ms since the epoch */
export function afterInspection(
  state: RepositoryState,
  seen: RepositoryInspection,
  now: number,
): RepositoryState {
  const { backups, parity, passphrases, used: stored, capacity } = seen;
  return {
    ...state,
    problem: seen.readOnly === undefined ? undefined : state.problem,
    backups,
    parity,
    passphrases,
    stored,
    ...(capacity === undefined
      ? {}
      : { capacity: capacity.total, available: capacity.free }),
    inspectedAt: now,
    growth: withSample(state.growth ?? [], { time: now, stored }),
  };
}

/** Whether backups can be read, but nothing can be stored or deleted. */
export function isReadOnly({ problem }: RepositoryState): boolean {
  return problem?.code === "BACKUP_REPOSITORY_READ_ONLY";
}

/** The part of the result of an order that changes the record. */
export interface OrderOutcome {
  readonly anchor: Anchor;
  /** Bytes of new files, of an order that stored a backup. */
  readonly statistics?: { readonly stored: number; readonly parity: number };
}

/**
 * The state after an order: the newest anchor and no problem; that a repository is
 * read-only stays until it was written to or inspected. The stored bytes are
 * added until sizes are read again.
 */
export function afterOrder(
  state: RepositoryState,
  { anchor, statistics }: OrderOutcome,
): RepositoryState {
  const isNewer = anchor.sequence > (state.anchor?.sequence ?? 0);
  const added = statistics ? statistics.stored + statistics.parity : 0;
  const stays = isReadOnly(state) && !isNewer && added === 0;
  // Removes the member: JSON omits undefined.
  const problem = stays ? state.problem : undefined;
  if (!isNewer && added === 0 && state.problem === problem) return state;
  return {
    ...state,
    problem,
    ...(isNewer && { anchor }),
    ...(state.stored !== undefined && { stored: state.stored + added }),
  };
}
