import type { IncomingHttpHeaders } from "node:http";

/** What a request has after `Authorization: Bearer`; empty: nothing. */
export function bearerOf({ authorization = "" }: IncomingHttpHeaders): string {
  return authorization.replace(/^Bearer +/i, "");
}
