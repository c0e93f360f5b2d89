import type { Repository } from "../repository/repository.js";
import { openStorage } from "../storage/open-storage.js";
import { mendPacks } from "../verify/mend-packs.js";
import { credentialsOf, openRepository } from "./open-repository.js";
import type { OrderContext } from "./order-context.js";
import type { MendResult } from "./order-results.js";
import type { MendOperation } from "./work-order.js";

/** @throws RepositoryError */
export async function runMend(
  repository: Repository,
  { packs, source: place, copies }: MendOperation,
  { signal }: OrderContext,
): Promise<Omit<MendResult, "anchor">> {
  const source = await openRepository(
    openStorage(place.storage),
    credentialsOf(place),
    place.anchor,
  );
  const mended = await mendPacks(repository, {
    packs,
    source,
    copies: new Map(Object.entries(copies)),
    signal,
  });
  return { mended };
}
