import type { HandlerContext } from "../http-handler.js";

/**
 * In the query: the uuid of another host on whose behalf the request is sent.
 */
export const HOST_KEY = "sim:host";

/**
 * Whose statistics are requested: of the receiving host, or of another to which the request is
 * forwarded.
 */
export function requestedHost(
  query: URLSearchParams,
  { db, hostRef }: HandlerContext,
): string {
  const uuid = query.get(HOST_KEY);
  return (uuid === null ? undefined : db.byUuid("host", uuid)) ?? hostRef;
}
