import type { Finding, VerifyResult } from "@xo-server/backup";

/** Results of the last verifications of a repository. Times in milliseconds since the epoch. */
export interface Verification {
  /** Start of the last verification. */
  readonly startedAt: number;
  /** Absent: it is running, or was interrupted. */
  readonly endedAt?: number | undefined;
  /** Number of bytes that it has read. */
  readonly checked?: number;
  /** The pack at which the next verification continues. */
  readonly next?: string;
  /** Start of the current round over all packs. */
  readonly roundStartedAt?: number;
  /** End of the last complete round. */
  readonly roundEndedAt?: number;
  /** All data of backups before this moment was read at least once, if all clocks were right. */
  readonly verifiedBefore?: number;
  /** All data of backups up to this order of the repository's log was read at least once. Absent: only `verifiedBefore` is known. */
  readonly verifiedOrder?: number | undefined;
  /** Order up to which backups are part of the current round. */
  readonly roundOrder?: number | undefined;
  /** The pack of new backups at which reading continues. */
  readonly firstNext?: string;
  /** Only packs of backups before this moment are read as new. */
  readonly firstBefore?: number;
  /** Order up to which their backups were known when reading began. */
  readonly firstOrder?: number | undefined;
  /** Damage that could not be repaired, at most 100 entries. */
  readonly findings?: readonly Finding[];
  /** Names of files that are none of a repository's: others left them. At most 100 entries. */
  readonly unknownFiles?: readonly string[];
  /** Number of files that were repaired since the repository was added. */
  readonly repaired?: number;
}

/** The part of an archive that decides whether it was verified. */
interface VerifiedArchive {
  readonly backup: string;
  readonly time: number;
  readonly logOrder?: number | undefined;
}

type VerificationStatus = "verified" | "damaged" | "none";

const MAX_FINDINGS = 100;

/**
 * Whether something is lost or wrong. A file without an entry in the log is left by an interrupted backup, one with
 * another name by another program: no backup needs them.
 */
export function isOpenDamage({ problem, isRepaired }: Finding): boolean {
  return !isRepaired && problem !== "not-in-log" && problem !== "unknown-name";
}

/** Names of files that are none of a repository's, at most 100. */
export function unknownFilesOf(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ problem }) => problem === "unknown-name")
    .slice(0, MAX_FINDINGS)
    .map(({ file }) => file);
}

/** @param now when it began, in milliseconds since the epoch */
export function beginVerification(
  before: Verification | undefined,
  now: number,
): Verification {
  const continuesFirst = (before?.firstNext ?? "") !== "";
  const continuesRound = (before?.next ?? "") !== "";
  return {
    ...before,
    // Removes the member: JSON omits undefined.
    endedAt: undefined,
    startedAt: now,
    roundStartedAt: before?.roundStartedAt ?? now,
    firstBefore: continuesFirst ? (before?.firstBefore ?? now) : now,
    // An earlier version did not record the orders of what it began: that counts for no backup.
    firstOrder: continuesFirst ? (before?.firstOrder ?? 0) : undefined,
    roundOrder: continuesRound ? (before?.roundOrder ?? 0) : undefined,
  };
}

/** @param now when it ended, in milliseconds since the epoch */
export function endVerification(
  begun: Verification,
  { findings, checked, next, firstNext, order }: VerifyResult,
  now: number,
): Verification {
  const isRoundComplete = next === "";
  const isFirstComplete = firstNext === "";
  const { startedAt, roundStartedAt = startedAt } = begun;
  const { firstOrder = order, roundOrder = order } = begun;
  const verifiedOrder =
    isFirstComplete || isRoundComplete || begun.verifiedOrder !== undefined
      ? Math.max(
          begun.verifiedOrder ?? 0,
          isFirstComplete ? firstOrder : 0,
          isRoundComplete ? roundOrder : 0,
        )
      : undefined;
  const verifiedBefore = Math.max(
    begun.verifiedBefore ?? 0,
    isFirstComplete ? (begun.firstBefore ?? 0) : 0,
    isRoundComplete ? roundStartedAt : 0,
  );
  const repaired = findings.filter(({ isRepaired }) => isRepaired).length;
  return {
    startedAt,
    endedAt: now,
    checked,
    next,
    roundStartedAt: isRoundComplete ? now : roundStartedAt,
    ...(isRoundComplete
      ? { roundEndedAt: now }
      : begun.roundEndedAt === undefined
        ? {}
        : { roundEndedAt: begun.roundEndedAt }),
    verifiedBefore,
    verifiedOrder,
    firstNext,
    firstOrder,
    roundOrder: isRoundComplete ? undefined : roundOrder,
    ...(begun.firstBefore === undefined
      ? {}
      : { firstBefore: begun.firstBefore }),
    findings: findings.filter(isOpenDamage).slice(0, MAX_FINDINGS),
    unknownFiles: unknownFilesOf(findings),
    repaired: (begun.repaired ?? 0) + repaired,
  };
}

/**
 * Verification state of a backup.
 * @param archive its order in the log, if it is known; time: when it was created, in milliseconds since the epoch
 */
export function verificationOf(
  {
    verification,
    unreadable = [],
  }: {
    readonly verification?: Verification;
    readonly unreadable?: readonly string[];
  },
  { backup, time, logOrder }: VerifiedArchive,
): VerificationStatus {
  if (unreadable.includes(backup)) return "damaged";
  const { findings = [], verifiedBefore = 0 } = verification ?? {};
  const { verifiedOrder } = verification ?? {};
  if (findings.some(({ backups }) => backups.includes(backup)))
    return "damaged";
  const isVerified =
    logOrder === undefined || verifiedOrder === undefined
      ? time < verifiedBefore
      : logOrder <= verifiedOrder;
  return isVerified ? "verified" : "none";
}
