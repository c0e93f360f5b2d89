import type { Queries } from "@xo-server/inventory";
import type { Store } from "@xo-server/store";
import type { Logger } from "../../log/logger.js";
import type { PoolObjects } from "../../objects/pool-objects.js";
import { RESTORE_TEST } from "../jobs/vm-selection.js";
import { removeTest } from "./remove-test.js";
import { TEST_NAMES } from "./restore-test.js";

interface SweepTestsParts {
  readonly store: Pick<Store, "tasks">;
  readonly queries: Pick<Queries, "page">;
  readonly objects: PoolObjects;
  readonly logger: Pick<Logger, "info" | "warn">;
}

interface Row {
  readonly name_label: string;
  readonly other?: Readonly<Record<string, string>>;
  readonly other_config?: Readonly<Record<string, string>>;
}

const LIMIT = 500;

/**
 * Deletes VMs and networks of restore tests whose task has ended, for example
 * because their pool was disconnected. Those of other servers are kept.
 */
export async function sweepTests(parts: SweepTestsParts): Promise<void> {
  for (const type of ["VM", "network"]) {
    const { ids, rows } = await parts.queries.page({
      type,
      filter: `name_label:${TEST_NAMES}`,
      fields: ["name_label", "other", "other_config"],
      sort: [],
      limit: LIMIT,
    });
    for (const [index, id] of ids.entries()) {
      const row = JSON.parse(Buffer.from(rows[index]!).toString()) as Row;
      await sweepOne(parts, id, row);
    }
  }
}

async function sweepOne(
  { store, objects, logger }: SweepTestsParts,
  id: string,
  { name_label: token, other, other_config }: Row,
): Promise<void> {
  const taskId = (other ?? other_config)?.[RESTORE_TEST];
  if (taskId === undefined || taskId === "") return;
  const task = await store.tasks.get(taskId);
  if (task === undefined || task.status === "pending") return;
  try {
    await removeTest(objects.get(id, "VM", "network").xapi, { token });
    logger.info(`leftovers of the restore test of task ${taskId} were deleted`);
  } catch (error) {
    logger.warn(`a leftover of a restore test could not be deleted: ${id}`, {
      error,
    });
  }
}
