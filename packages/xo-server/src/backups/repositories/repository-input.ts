import type { MirrorOperation } from "@xo-server/backup";
import type { Logger, WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Workers } from "./workers.js";

export interface RepositoriesOptions {
  readonly store: Pick<Store, "backupRepositories">;
  readonly workers: Pick<Workers, "run">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
}

/** One of both opens a repository that exists; a new one gets the passphrase. */
export interface RepositoryCredentials {
  readonly passphrase?: string | undefined;
  readonly recoveryKey?: string | undefined;
}

export interface NewRepository extends RepositoryCredentials {
  readonly name: string;
  readonly url: string;
  readonly options?: string | undefined;
  readonly enabled?: boolean | undefined;
  /** Of a new repository: whether parity files are written. Default: true. */
  readonly parity?: boolean | undefined;
  /** Days in which every byte is read once; 0: never. Default: 30. */
  readonly verifyDays?: number | undefined;
}

/** Absent members do not change. */
export interface RepositoryPatch {
  readonly name?: string | undefined;
  readonly url?: string | undefined;
  readonly options?: string | undefined;
  readonly enabled?: boolean | undefined;
  /** Null: the default. */
  readonly verifyDays?: number | null | undefined;
}

/** A copy of a backup of another repository; `source` is its id. */
export type NewCopy = Omit<MirrorOperation, "type" | "source"> & {
  readonly source: string;
};

export interface AddedRepository {
  readonly id: string;
  /** Text to print; absent: the repository existed. */
  readonly recoverySheet?: string;
}
