import type { Repository } from "../repository/repository.js";
import { openStorage } from "../storage/open-storage.js";
import { repairPacks } from "../verify/repair-packs.js";
import { credentialsOf, openRepository } from "./open-repository.js";
import type { OrderContext } from "./order-context.js";
import type { RepairResult } from "./order-results.js";
import type { RepairOperation } from "./work-order.js";

/** @throws RepositoryError */
export async function runRepair(
  repository: Repository,
  { packs, source: access, copies }: RepairOperation,
  { signal }: OrderContext,
): Promise<Omit<RepairResult, "anchor">> {
  const source = await openRepository(
    openStorage(access.storage),
    credentialsOf(access),
    access.anchor,
  );
  const repaired = await repairPacks(repository, {
    packs,
    source,
    copies: new Map(Object.entries(copies)),
    signal,
  });
  return { repaired };
}
