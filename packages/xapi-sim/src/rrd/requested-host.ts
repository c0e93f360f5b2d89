import type { HandlerContext } from "../http-handler.js";

/** In the query: the uuid of a host in whose name another asks. */
export const HOST_KEY = "sim:host";

/** Whose figures are asked for: those of the host that is asked, or of another that passes the question on. */
export function requestedHost(
  query: URLSearchParams,
  { db, hostRef }: HandlerContext,
): string {
  const uuid = query.get(HOST_KEY);
  return (uuid === null ? undefined : db.byUuid("host", uuid)) ?? hostRef;
}
