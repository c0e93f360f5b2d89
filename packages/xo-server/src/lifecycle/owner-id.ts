import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";

/**
 * Identifies this server, also after a restart, among the servers of a database.
 * @param dataDir two servers of one machine have different ones
 */
export function toOwnerId(dataDir: string): string {
  return createHash("sha256")
    .update(`${hostname()}\n${resolve(dataDir)}`)
    .digest("base64url");
}
