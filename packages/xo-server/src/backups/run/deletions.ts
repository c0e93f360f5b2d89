import type { KindRun } from "../../jobs/job-kind.js";

/** Its steps are distinguished from those of items, which have ended. */
const STEP = "deleting:";

/** What the retention of a run deletes of an item. It is persisted before: a killed server would not find it any more. */
export class Deletions {
  readonly #run: Pick<KindRun, "work" | "interrupted">;
  readonly #item: string;

  /** @param item its key in the run */
  constructor(run: Pick<KindRun, "work" | "interrupted">, item: string) {
    this.#run = run;
    this.#item = item;
  }

  /**
   * @param ids in the repository
   * @returns ids that this process or an earlier one of the run has deleted
   * @throws XoError of `remove`
   */
  async delete(
    repository: string,
    ids: readonly string[],
    remove: (ids: readonly string[]) => Promise<void>,
  ): Promise<readonly string[]> {
    const key = `${STEP}${this.#item} ${repository}`;
    const { work, interrupted } = this.#run;
    const before = (interrupted?.steps.get(key) ?? { ids: [] }) as {
      readonly ids: readonly string[];
    };
    if (ids.length === 0) return before.ids;
    const all = [...new Set([...before.ids, ...ids])];
    await work.persistStep(key, { ids: all });
    await remove(ids);
    return all;
  }
}
