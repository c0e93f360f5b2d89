/** Verification of a repository. Times in ms since the epoch. */
export interface Verification {
  readonly startedAt: number;
  /** Absent: it runs, or was interrupted. */
  readonly endedAt?: number;
  /** Bytes that the last one has read. */
  readonly checked?: number;
  /** When the last complete round over all data ended. */
  readonly roundEndedAt?: number;
  /** All that backups before this moment consist of was read at least once. */
  readonly verifiedBefore?: number;
  readonly findings?: readonly RepositoryFinding[];
  /** Files that other programs have left in the folders of the repository. */
  readonly unknownFiles?: readonly string[];
  readonly repaired?: number;
}

/** Something damaged that could not be repaired. */
interface RepositoryFinding {
  readonly file: string;
  readonly problem: string;
  /** Ids of the backups that need the file. */
  readonly backups: readonly string[];
  readonly detail?: string;
}

/** The last garbage collection. */
export interface Collection {
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Bytes. */
  readonly freed?: number;
  /** Files that are deleted after the grace period. */
  readonly marked?: number;
  readonly deleted?: number;
}

/** Rates in bytes per second. */
export interface Benchmark {
  readonly timestamp: number;
  readonly readRate: number;
  readonly writeRate: number;
}

interface VerificationSummary {
  readonly state: "damaged" | "verified" | "running" | "never";
  /** When the last one ended. */
  readonly at?: number;
  /** Number of backups that cannot be restored completely. */
  readonly damaged: number;
}

/** State of the last verification; `damaged` is a number of backups. */
export function summaryOf(
  verification: Verification | undefined,
): VerificationSummary {
  if (verification === undefined) return { state: "never", damaged: 0 };
  const { endedAt, findings = [] } = verification;
  const damaged = new Set(findings.flatMap(({ backups }) => backups)).size;
  const at = endedAt === undefined ? {} : { at: endedAt };
  if (findings.length > 0) return { state: "damaged", damaged, ...at };
  if (endedAt === undefined) return { state: "running", damaged };
  return { state: "verified", damaged, ...at };
}
