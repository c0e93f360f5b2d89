import type { Catalog } from "@xo-server/inventory";
import type { AuthenticatedUser } from "../../auth/users/authenticated-user.js";
import type { RestoreTestBody } from "../../jobs/job-body.js";
import type { Archive } from "../archives/archive.js";
import type { Archives } from "../archives/archives.js";
import { selectVms } from "../jobs/vm-selection.js";
import type { Repositories } from "../repositories/repositories.js";

/** A VM whose backup is to be tested. */
export interface ChosenTest {
  readonly vm: string;
  readonly name: string;
  readonly archive: Archive;
  readonly repositoryName: string;
  /** Time of the last test of any of its backups, in ms since the epoch. */
  readonly lastTest?: number | undefined;
}

interface NotTested {
  readonly vm: string;
  readonly name: string;
  readonly reason: string;
}

interface TestChoice {
  readonly tests: readonly ChosenTest[];
  readonly skipped: readonly NotTested[];
}

export interface ChooseParts {
  readonly catalog: Catalog;
  readonly archives: Pick<Archives, "ofVm">;
  readonly repositories: Pick<Repositories, "all">;
}

/**
 * The newest backup of each VM of a job. With `maxVms`, only of the VMs whose last
 * test is the longest ago.
 * @throws XoError FILTER_INVALID, INVALID_PARAMETERS: too many objects
 */
export async function chooseTests(
  { catalog, archives, repositories }: ChooseParts,
  user: AuthenticatedUser,
  body: RestoreTestBody,
): Promise<TestChoice> {
  const { vms, excluded } = await selectVms(catalog, user, body);
  const usable = new Map(
    repositories
      .all()
      .filter(
        ({ id, enabled }) =>
          enabled && (body.repositories?.includes(id) ?? true),
      )
      .map((one) => [one.id, one] as const),
  );
  const tests: ChosenTest[] = [];
  const skipped: NotTested[] = excluded.map(({ id, name, reason }) => ({
    vm: id,
    name,
    reason,
  }));
  for (const { id: vm, name } of vms) {
    const all = await archives.ofVm(vm);
    const archive = all.find(({ repository }) => usable.has(repository));
    if (archive === undefined)
      skipped.push({ vm, name, reason: "it has no backup that can be tested" });
    else {
      const own = new Set(all.map(({ backup }) => backup));
      const times = [...usable.values()].flatMap(({ state }) =>
        (state.restoreTests ?? [])
          .filter(({ backup }) => own.has(backup))
          .map(({ time }) => time),
      );
      const lastTest = times.length === 0 ? undefined : Math.max(...times);
      const repositoryName = usable.get(archive.repository)!.name;
      tests.push({ vm, name, archive, repositoryName, lastTest });
    }
  }
  const oldestFirst = tests.toSorted(
    (a, b) => (a.lastTest ?? 0) - (b.lastTest ?? 0),
  );
  return { tests: oldestFirst.slice(0, body.maxVms), skipped };
}
