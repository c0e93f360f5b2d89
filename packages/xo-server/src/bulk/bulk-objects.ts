import type { Queries } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { AuthenticatedUser } from "../auth/authenticated-user.js";

/** Objects of one bulk. */
export const MOST_OBJECTS = 10_000;

export interface BulkChoice {
  readonly ids?: readonly string[];
  readonly type?: string;
  readonly filter?: string;
}

/**
 * Ids of what is meant, each once, as they are now. Of a filter, those that
 * the person may see.
 * @throws XoError INVALID_PARAMETERS, FILTER_INVALID
 */
export async function chooseObjects(
  { ids, type = "VM", filter }: BulkChoice,
  person: AuthenticatedUser,
  queries: Pick<Queries, "page">,
): Promise<readonly string[]> {
  if ((ids === undefined) === (filter === undefined))
    throw invalid("either ids or a filter, not both");
  if (ids !== undefined) return [...new Set(ids)];
  const extent = person.isAdmin ? "all" : person.rights.extent("read", type);
  if (extent === "none") return [];
  const page = await queries.page({
    type,
    filter: filter!,
    limit: MOST_OBJECTS,
    fields: ["id"],
    ...(extent === "all" ? {} : { where: extent }),
  });
  if (page.total > MOST_OBJECTS)
    throw invalid(`${page.total} objects match, ${MOST_OBJECTS} at most`);
  return page.ids;
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
