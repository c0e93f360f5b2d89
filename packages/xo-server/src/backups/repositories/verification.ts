import type { Finding, VerifyResult } from "@xo-server/backup";

/** What the last verifications of a repository found. Times in milliseconds since the epoch. */
export interface Verification {
  /** When the last one began. */
  readonly startedAt: number;
  /** Absent: it runs, or was interrupted. */
  readonly endedAt?: number | undefined;
  /** Bytes that the last one has read. */
  readonly checked?: number;
  /** Where the next one continues: a pack. */
  readonly next?: string;
  /** When the present round over all packs began. */
  readonly roundStartedAt?: number;
  /** When the last complete round ended. */
  readonly roundEndedAt?: number;
  /** All that backups before this moment consist of was read at least once. */
  readonly verifiedBefore?: number;
  /** Where reading of packs of new backups continues. */
  readonly firstNext?: string;
  /** Of these, backups before this moment. */
  readonly firstBefore?: number;
  /** What is damaged and could not be repaired; at most 100. */
  readonly findings?: readonly Finding[];
  /** Files that were repaired, since the repository was added. */
  readonly repaired?: number;
}

export type VerificationStatus = "verified" | "damaged" | "none";

const MAX_FINDINGS = 100;

/** @param now when it began, in milliseconds since the epoch */
export function beginVerification(
  before: Verification | undefined,
  now: number,
): Verification {
  return {
    ...before,
    // Not stored: JSON leaves out what is undefined.
    endedAt: undefined,
    startedAt: now,
    roundStartedAt: before?.roundStartedAt ?? now,
    firstBefore:
      before?.firstNext === undefined || before.firstNext === ""
        ? now
        : (before.firstBefore ?? now),
  };
}

/** @param now when it ended, in milliseconds since the epoch */
export function endVerification(
  begun: Verification,
  { findings, checked, next, firstNext }: VerifyResult,
  now: number,
): Verification {
  const isRoundComplete = next === "";
  const isFirstComplete = firstNext === "";
  const { startedAt, roundStartedAt = startedAt } = begun;
  const verifiedBefore = Math.max(
    begun.verifiedBefore ?? 0,
    isFirstComplete ? (begun.firstBefore ?? 0) : 0,
    isRoundComplete ? roundStartedAt : 0,
  );
  const open = findings.filter(({ isRepaired }) => !isRepaired);
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
    firstNext,
    ...(begun.firstBefore === undefined
      ? {}
      : { firstBefore: begun.firstBefore }),
    // A file that no entry of the log names is left by an interrupted backup: no backup needs it.
    findings: open
      .filter(({ problem }) => problem !== "not-in-log")
      .slice(0, MAX_FINDINGS),
    repaired: (begun.repaired ?? 0) + findings.length - open.length,
  };
}

/** Verification state of a backup. @param time when it was created, in milliseconds since the epoch */
export function verificationOf(
  {
    verification,
    unreadable = [],
  }: {
    readonly verification?: Verification;
    readonly unreadable?: readonly string[];
  },
  { backup, time }: { readonly backup: string; readonly time: number },
): VerificationStatus {
  if (unreadable.includes(backup)) return "damaged";
  const { findings = [], verifiedBefore = 0 } = verification ?? {};
  if (findings.some(({ backups }) => backups.includes(backup)))
    return "damaged";
  return time < verifiedBefore ? "verified" : "none";
}
