import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";

/**
 * Identifies an installation, also after a restart: two servers that were given the
 * same name by mistake have different origins.
 * @param dataDir two servers of one machine have different ones
 */
export function toOrigin(dataDir: string): string {
  return createHash("sha256")
    .update(`${hostname()}\n${resolve(dataDir)}`)
    .digest("base64url");
}
