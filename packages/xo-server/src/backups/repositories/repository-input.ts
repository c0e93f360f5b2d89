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

/** Either opens an existing repository; a new repository gets the passphrase. */
export interface RepositoryCredentials {
  readonly passphrase?: string | undefined;
  readonly recoveryKey?: string | undefined;
}

export interface NewRepository extends RepositoryCredentials {
  readonly name: string;
  readonly url: string;
  readonly options?: string | undefined;
  readonly enabled?: boolean | undefined;
  /** Whether a new repository has parity files. Default: true. */
  readonly parity?: boolean | undefined;
  /** Number of days in which every byte is read once; 0: never. Default: 30. */
  readonly verifyDays?: number | undefined;
}

/** Changes; absent members remain. */
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
  /** Text to print; absent: the repository existed before. */
  readonly recoverySheet?: string;
}
