import type { IncomingMessage } from "node:http";

/** Text of the response to a request that names several hosts. */
export const SEVERAL_HOSTS = "several Host headers";

/**
 * Whether a request names several hosts. It must be refused (RFC 9112, 3.2): Node.js reads the first one,
 * and a proxy may have read another.
 */
export function hasSeveralHosts({
  rawHeaders,
}: Pick<IncomingMessage, "rawHeaders">): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1;
}
