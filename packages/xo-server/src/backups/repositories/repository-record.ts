import type { Anchor } from "@xo-server/backup";
import type { BackupRepository } from "@xo-server/store";

/** Why a repository could not be used when it was last tried. */
export interface RepositoryProblem {
  readonly code: string;
  readonly message: string;
  /** Milliseconds since the epoch: the first failure without a success since. */
  readonly since: number;
}

/** What was last seen of a repository. Sizes in bytes, times in milliseconds since the epoch. */
export interface RepositoryState {
  /** The id in its own configuration. */
  readonly repository?: string;
  readonly createdAt?: number;
  readonly anchor?: Anchor;
  /** Absent: it was reached when it was last tried. */
  readonly problem?: RepositoryProblem | undefined;
  readonly inspectedAt?: number;
  readonly parity?: boolean;
  readonly passphrases?: readonly string[];
  readonly backups?: number;
  /** Of all files of the repository. */
  readonly stored?: number;
  /** Of the file system; absent where it is not known. */
  readonly capacity?: number;
  readonly available?: number;
  /** Bytes of data in all backups, as if each was stored alone. */
  readonly data?: number;
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

/** A repository as the server knows it. */
export interface RepositoryRecord extends Omit<BackupRepository, "state"> {
  readonly state: RepositoryState;
}

export function toRecord(stored: BackupRepository): RepositoryRecord {
  return stored;
}
