import type {
  BackupOrderResult,
  BackupToSeveralOperation,
  RepositoryAccess,
  SeveralBackupsResult,
} from "@xo-server/backup";
import { WorkerError } from "@xo-server/backup";
import { toRepositoryError } from "./repository-error.js";
import type { WorkerRunOptions, Workers } from "./workers.js";

/** One of several target repositories of a backup. */
export interface SeveralTarget {
  readonly id: string;
  /** The backup in this repository that changes refer to. */
  readonly base?: string | undefined;
}

interface PlacedTarget {
  readonly name: string;
  readonly base: string | undefined;
  readonly access: RepositoryAccess;
}

/**
 * Executes one order for several repositories, which reads the disks once.
 * @returns in the order of the targets
 * @throws XoError if no repository was reached
 */
export async function backUpToSeveral(
  workers: Pick<Workers, "run">,
  operation: Omit<BackupToSeveralOperation, "targets">,
  {
    targets,
    options,
  }: {
    readonly targets: readonly PlacedTarget[];
    readonly options: WorkerRunOptions;
  },
): Promise<(BackupOrderResult | Error)[]> {
  let result: SeveralBackupsResult;
  try {
    result = (await workers.run(
      {
        operation: {
          ...operation,
          targets: targets.map(({ access, base }) => ({
            repository: access,
            ...(base === undefined ? {} : { base }),
          })),
        },
      },
      options,
    )) as SeveralBackupsResult;
  } catch (error) {
    throw toRepositoryError(error, targets.map(({ name }) => name).join(", "));
  }
  return result.targets.map((one, i) => {
    if (!("error" in one)) return one;
    const { code, message } = one.error;
    return toRepositoryError(new WorkerError(code, message), targets[i]!.name);
  });
}
