import type { Catalog, CatalogEntry, Queries } from "@xo-server/inventory";
import { isAlarm } from "./alarms.js";
import { isInExtent } from "./collection-pages.js";
import type { Collection } from "./collections.js";
import {
  hiddenObject,
  missingObject,
  type Loading,
} from "../../../objects/missing-object.js";
import { isUuid } from "../../../objects/uuid.js";
import type { Rights } from "../../../rights/rights.js";

export interface ObjectSources {
  readonly catalog: Pick<Catalog, "get">;
  readonly queries: Pick<Queries, "page">;
  readonly loadedPools: Loading;
}

/**
 * An object of a collection by its id or XAPI reference; a template also by its
 * UUID, if it is unique.
 * @throws XoError NO_SUCH_OBJECT, OBJECTS_LOADING, also for objects that the caller may not read
 */
export async function findObject(
  sources: ObjectSources,
  collection: Collection,
  id: string,
  rights: Rights,
): Promise<CatalogEntry> {
  const { type } = collection;
  const { loadedPools } = sources;
  const extent = rights.extent("read", type);
  const entry =
    extent === "none"
      ? undefined
      : (sources.catalog.get(id) ??
        (await findByUuid(sources, collection, id)));
  const isReadable =
    entry !== undefined && isOf(collection, entry) && isInExtent(extent, entry);
  if (entry === undefined && extent !== "none")
    throw missingObject(loadedPools, type, id);
  if (!isReadable) throw hiddenObject(loadedPools, type, id);
  loadedPools.noteFound(id, entry.pool);
  return entry;
}

function isOf({ name, type }: Collection, entry: CatalogEntry): boolean {
  if (entry.type !== type) return false;
  if (type !== "message") return true;
  return (
    isAlarm(JSON.parse(entry.json.toString()) as Record<string, unknown>) ===
    (name === "alarms")
  );
}

async function findByUuid(
  { catalog, queries }: ObjectSources,
  { type }: Collection,
  uuid: string,
): Promise<CatalogEntry | undefined> {
  if (type !== "VM-template" || !isUuid(uuid)) return undefined;
  const filter = `uuid:"${uuid}"`;
  const { ids } = await queries.page({ type, filter, sort: [], limit: 2 });
  return ids.length === 1 ? catalog.get(ids[0]!) : undefined;
}
