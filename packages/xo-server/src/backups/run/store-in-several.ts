import type { BaseChoice } from "./base-choice.js";
import { chooseBase } from "./base-choice.js";
import {
  keyOf,
  planSources,
  sourceProblem,
  toContent,
  toResult,
  type StoreParts,
  type StoreRequest,
  type StoreResult,
} from "./store-backup.js";
import { ownedSignal } from "../../tasks/owned-signal.js";

export type SeveralRequest = Omit<StoreRequest, "repository">;

/** A repository, and the backup that an incremental backup in it is based on. */
export interface BasedRepository {
  readonly repository: string;
  readonly base: BaseChoice;
}

/**
 * Groups repositories whose last backups are of the same snapshots, and which
 * therefore need the same data.
 * @throws XapiError
 */
export async function groupByBase(
  { xapi, archives }: Pick<StoreParts, "xapi" | "archives">,
  request: SeveralRequest,
  repositories: readonly string[],
): Promise<BasedRepository[][]> {
  const { job, run, vm, settings, contents } = request;
  const groups = new Map<string, BasedRepository[]>();
  for (const repository of repositories) {
    const base = await chooseBase(xapi, archives, {
      job,
      run,
      vm,
      repository,
      disks: contents.disks,
      isFull: settings.mode === "full",
      fullInterval: settings.fullInterval,
    });
    const snapshots = [...base.disks].map(([disk, { uuid }]) => [disk, uuid]);
    const key = JSON.stringify(snapshots.toSorted());
    groups.set(key, [...(groups.get(key) ?? []), { repository, base }]);
  }
  return [...groups.values()];
}

/**
 * Reads the snapshot of a VM once for several repositories.
 * @param group of `groupByBase`
 * @returns results by repository: the stored backup, or the error. Repositories are
 * missing that can try another source
 * @throws XapiError, XoError
 */
export async function storeInSeveral(
  { xapi, repositories, work }: StoreParts,
  { properties, ...request }: SeveralRequest,
  group: readonly BasedRepository[],
): Promise<Map<string, StoreResult | Error>> {
  const results = new Map<string, StoreResult | Error>();
  const planned = await planSources(xapi, request, group[0]!.base);
  const { isIncremental, ...content } = toContent(request.settings, planned);
  const mode = isIncremental ? "incremental" : "full";
  const targets = group.map(({ repository: id, base: { backup } }) => ({
    id,
    ...(isIncremental && backup !== undefined ? { base: backup } : {}),
  }));
  const written = await repositories.backUpToSeveral(
    targets,
    { properties: { ...properties, mode }, key: keyOf(request), ...content },
    {
      signal: ownedSignal(work),
      onProgress({ done = 0, total = 0 }) {
        if (total > 0) work.progress(Math.min(1, done / total));
      },
    },
  );
  for (const [i, one] of written.entries()) {
    const { repository, base } = group[i]!;
    if (one instanceof Error) {
      const problem = sourceProblem(one);
      if (problem === undefined) results.set(repository, one);
      else work.warn(`disks are read again for one repository: ${problem}`);
      continue;
    }
    const incrementals = isIncremental ? base.incrementals + 1 : 0;
    results.set(repository, toResult(one, { mode, planned, incrementals }));
  }
  return results;
}
