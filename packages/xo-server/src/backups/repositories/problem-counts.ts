import type { Store } from "@xo-server/store";
import { toRecord } from "./repository-record.js";

/** Repositories with problems, for alarms. */
export interface RepositoryProblems {
  /** Number of repositories with damaged files that could not be repaired. */
  damagedRepositories(): number;
  /** Number of repositories that could not be used at the last attempt. */
  failedRepositories(): number;
}

/** Numbers of enabled repositories with problems, as metrics of alarm rules. */
export function countProblems({
  backupRepositories,
}: Pick<Store, "backupRepositories">): RepositoryProblems {
  const enabled = () =>
    Array.from(backupRepositories.list(), toRecord).filter(
      (one) => one.enabled,
    );
  return {
    damagedRepositories: () =>
      enabled().filter(
        ({ state: { verification, unreadable = [] } }) =>
          unreadable.length > 0 || (verification?.findings ?? []).length > 0,
      ).length,
    failedRepositories: () =>
      enabled().filter(({ state }) => state.problem !== undefined).length,
  };
}
