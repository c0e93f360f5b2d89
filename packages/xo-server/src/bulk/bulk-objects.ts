import type { Queries } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import { checkRequestedProperties } from "../objects/known-properties.js";

/** Maximum number of objects of a bulk task. */
export const MAX_OBJECTS = 10_000;

interface BulkChoice {
  readonly ids?: readonly string[];
  readonly type?: string;
  readonly filter?: string;
}

/**
 * The ids of the selected objects, each once. A filter only selects objects
 * that the user may read.
 * @throws XoError INVALID_PARAMETERS, FILTER_INVALID
 */
export async function chooseObjects(
  { ids, type = "VM", filter }: BulkChoice,
  user: AuthenticatedUser,
  queries: Pick<Queries, "page">,
): Promise<readonly string[]> {
  if ((ids === undefined) === (filter === undefined))
    throw invalid("either ids or a filter, not both");
  if (ids !== undefined) return [...new Set(ids)];
  await checkRequestedProperties({ type, filter: filter! }, queries);
  const extent = user.isAdmin ? "all" : user.rights.extent("read", type);
  if (extent === "none") return [];
  const page = await queries.page({
    type,
    filter: filter!,
    limit: MAX_OBJECTS,
    fields: ["id"],
    ...(extent === "all" ? {} : { where: extent }),
  });
  if (page.total > MAX_OBJECTS)
    throw invalid(`${page.total} objects match, the maximum is ${MAX_OBJECTS}`);
  return page.ids;
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
